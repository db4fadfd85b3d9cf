"""One table: from a keystroke to the diagnostics, in `lacec lsp` over standard input and output.

A constant in the middle is typed on, again and again. The clock runs at the editor's end
of the pipe; the processor time of the server is beside it, for machines that do more than this.
"""

import json
import resource
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
        message = _message("textDocument/didChange", body)
        start = time.perf_counter()
        self._write(message)
        self._until(lambda message: message.get("params", {}).get("version") == version)
        return time.perf_counter() - start

    def _send(self, method: str, params: Any, id: int | None = None) -> None:
        self._write(_message(method, params, id))

    def _write(self, message: bytes) -> None:
        self._in.write(message)
        self._in.flush()

    def _until(self, wanted: Any) -> None:
        while True:
            length = 0
            while (line := self._out.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
            if wanted(json.loads(self._out.read(length))):
                return


def _message(method: str, params: Any, id: int | None = None) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    body = json.dumps(message if id is None else message | {"id": id}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def keystrokes(rules: int, count: int) -> tuple[list[float], float]:
    """The seconds of each, and the processor time of the server from its start to its end."""
    used = _processor()
    lines = policy(rules).split("\n")
    middle = next(n for n in range(rules // 2, rules) if "'keys'" in lines[n])
    before, after = lines[middle].split("'keys'")
    with Session() as session:
        session.open("\n".join(lines))
        times = []
        for n in range(count):
            lines[middle] = f"{before}'keys{n}'{after}"
            times.append(session.type("\n".join(lines), n + 1))
    return times, _processor() - used


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(console: Console) -> None:
    table = Table(title="lacec lsp: from a keystroke to published diagnostics")
    for name in ("rules", "median", "fastest", "processor", "allowed"):
        table.add_column(name, justify="right")
    for rules, allowed in SIZES.items():
        _, little = keystrokes(rules, 1)
        times, much = keystrokes(rules, 1 + KEYSTROKES)
        found = (statistics.median(times), min(times), (much - little) / KEYSTROKES)
        table.add_row(f"{rules:,}", *(f"{x * 1e3:.1f} ms" for x in found), f"{allowed} ms")
    console.print(table)


if __name__ == "__main__":
    main(Console())
