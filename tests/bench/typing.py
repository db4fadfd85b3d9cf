"""One table: from a keystroke to the diagnostics, in `lacec lsp` over standard input and output.

A digit is typed into a rule in the middle, again and again. The server's own time is from the
last byte of the change to the first of the answer, as the editor's end of the pipe sees it.
"""

import json
import statistics
import subprocess
import sys
import time
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from tests.bench.language import policy

SIZES = {256: 20, 4096: 100}  # rules, and the milliseconds that are allowed
KEYSTROKES = 41
URI = "file:///policies/typed.lace"


class Session:
    """The little of the protocol that it takes to type."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "lacec", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._in: IO[bytes] = self._server.stdin
        self._out: IO[bytes] = self._server.stdout

    def __enter__(self) -> "Session":
        self._send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
        self._until(lambda message: message.get("id") == 1)
        self._send("initialized", {})
        return self

    def __exit__(self, *_: object) -> None:
        self._send("shutdown", None, 2)
        self._until(lambda message: message.get("id") == 2)
        self._send("exit", None)
        self._server.wait()
        self._in.close()
        self._out.close()

    def open(self, text: str) -> None:
        document = {"uri": URI, "languageId": "lace", "version": 0, "text": text}
        self._send("textDocument/didOpen", {"textDocument": document})
        self._until(lambda message: message.get("params", {}).get("version") == 0)

    def type(self, text: str, version: int) -> float:
        """The seconds from a change to the diagnostics of that version."""
        document = {"uri": URI, "version": version}
        body = {"textDocument": document, "contentChanges": [{"text": text}]}
        start = time.perf_counter()
        self._send("textDocument/didChange", body)
        self._until(lambda message: message.get("params", {}).get("version") == version)
        return time.perf_counter() - start

    def _send(self, method: str, params: Any, id: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if id is None else message | {"id": id}).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._in.flush()

    def _until(self, wanted: Any) -> None:
        while True:
            length = 0
            while (line := self._out.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
            if wanted(json.loads(self._out.read(length))):
                return


def keystrokes(rules: int) -> list[float]:
    lines = policy(rules).split("\n")
    middle = next(n for n in range(rules // 2, rules) if "'keys'" in lines[n])
    before, after = lines[middle].split("'keys'")
    with Session() as session:
        session.open("\n".join(lines))
        times = []
        for n in range(KEYSTROKES):
            lines[middle] = f"{before}'keys{n}'{after}"
            times.append(session.type("\n".join(lines), n + 1))
    return times


def main(console: Console) -> None:
    table = Table(title="lacec lsp: from a keystroke to published diagnostics")
    for name in ("rules", "median", "slowest", "allowed"):
        table.add_column(name, justify="right")
    for rules, allowed in SIZES.items():
        times = keystrokes(rules)
        median, most = (f"{x * 1e3:.1f} ms" for x in (statistics.median(times), max(times)))
        table.add_row(f"{rules:,}", median, most, f"{allowed} ms")
    console.print(table)


if __name__ == "__main__":
    main(Console())
