"""What happens on connections, said on standard error: for people, or a JSON object a line.

connected  peer=tcp:127.0.0.1:50112
{"time":"2026-01-31T12:00:00.000Z","level":"info","event":"connected","peer":"tcp:…"}
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from lacec.cli.link_options import LogFormat
from lacec.cli.progress import Display, make_display
from lacec.cli.render.output import write
from lacec.core.diagnostics import visible

Value = str | int | None
_STYLES = {"warning": "yellow", "error": "bold red"}


class Log:
    """`before` is called before each line: a display that changes makes room."""

    def __init__(self, format: LogFormat | None, before: Callable[[], None]) -> None:
        self._json, self._before = format is LogFormat.JSON, before

    def say(self, event: str, level: str = "info", **values: Value) -> None:
        """Say that something happened. What is None is left out."""
        known = {name: value for name, value in values.items() if value is not None}
        self._before()
        if self._json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = {"time": now, "level": level, "event": event, **known}
            write([(json.dumps(line, separators=(",", ":")) + "\n", "")], sys.stderr)
            return
        text = "".join(f"  {name}={_shown(value)}" for name, value in known.items())
        write([(event, _STYLES.get(level, "bold")), (f"{text}\n", "")], sys.stderr)


def _shown(value: Value) -> str:
    text = visible(str(value))
    return f'"{text}"' if " " in text or not text else text


def make_log(format: LogFormat | None) -> tuple[Log, Display]:
    """A log, and a display that makes room for it; with JSON, a line is an event and no other."""
    display = make_display(silent=format is LogFormat.JSON)
    return Log(format, display.hide), display


class _LogHandler(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        what = None if error is None else f"{type(error).__name__}: {error}"
        self._log.say("failed", record.levelname.lower(), message=record.getMessage(), error=what)


@contextmanager
def libraries_heard(log: Log) -> Iterator[None]:
    """What libraries say by logging, that something failed which nobody foresaw, is said in the
    log, in one line and without a traceback."""
    handler, root = _LogHandler(log), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
