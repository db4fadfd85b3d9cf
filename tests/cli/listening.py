"""A listener in a process of its own: where it listens, what it says, how it ends."""

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.run import Outcome, process_environment
from tests.cli.test_open import PATIENCE, wait_until


class Listening:
    """What it says on standard error is read as it comes, line by line."""

    def __init__(
        self, *arguments: str, cwd: Path | None = None, program: Sequence[str] = ("-m", "lacec")
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *program, "run-interlace", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=process_environment(),
            cwd=cwd,
        )
        self.lines: list[str] = []
        self._outcome: Outcome | None = None
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stderr:
            for line in stderr:
                self.lines.append(line.decode())

    def wait_for(self, event: str, times: int = 1) -> list[str]:
        """The lines of an event, when there are so many."""
        wait_until(lambda: len(self.said(event)) >= times or self.process.poll() is not None)
        assert len(self.said(event)) >= times, self.lines
        return self.said(event)

    def said(self, event: str) -> list[str]:
        return [x for x in list(self.lines) if x.startswith(event) or f'"event":"{event}"' in x]

    @property
    def address(self) -> str:
        (line, *_) = self.wait_for("listening")
        found = re.search(r'address"?[=:]"?([^"\s]+)', line)
        assert found is not None
        return found[1]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    def stop(self, number: int = signal.SIGTERM) -> Outcome:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.end()

    def end(self) -> Outcome:
        """What it came to, when it has ended by itself."""
        if self._outcome is None:
            assert self.process.stdout is not None
            with self.process.stdout as stdout:
                out = stdout.read()
            code = self.process.wait(PATIENCE)
            self._reading.join(PATIENCE)
            self._outcome = Outcome(code, out.decode(), "".join(self.lines))
        return self._outcome


@contextmanager
def listening(
    *arguments: str, cwd: Path | None = None, program: Sequence[str] = ("-m", "lacec")
) -> Iterator[Listening]:
    listener = Listening(*arguments, cwd=cwd, program=program)
    try:
        yield listener
    finally:
        listener.process.kill()
        listener.end()
