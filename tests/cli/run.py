"""Call a command: inside this process where that shows all there is, or in one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from typer.testing import CliRunner, Result

from lacec.cli import COMMANDS, build

DIAGNOSTIC_KEYS = [
    "name",
    "severity",
    "message",
    "file",
    "line",
    "column",
    "end_line",
    "end_column",
    "help",
    "related",
]
RELATED_KEYS = ["message", "file", "line", "column", "end_line", "end_column"]

# Messages about the command line are not wrapped, and nothing outside decides about colour.
_ENVIRONMENT = {"COLUMNS": "400", "TERM": "xterm", "NO_COLOR": None, "FORCE_COLOR": None}


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def lacec(
    *arguments: str, source: str | bytes = b"", env: Mapping[str, str] | None = None
) -> Outcome:
    """A command called in this process; an exception that it lets out is raised here."""
    result = _call(arguments, source, env or {})
    return Outcome(result.exit_code, result.stdout_bytes.decode(), result.stderr_bytes.decode())


def printed(*arguments: str, env: Mapping[str, str]) -> str:
    """What a command that is called in this process prints, to both streams and in order."""
    return _call(arguments, b"", env).output_bytes.decode()


def _call(arguments: Sequence[str], source: str | bytes, env: Mapping[str, str]) -> Result:
    result = CliRunner().invoke(
        build(COMMANDS), arguments, input=source, env={**_ENVIRONMENT, **env}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def process_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    given = {**os.environ, **_ENVIRONMENT, **(env or {})}
    return {name: value for name, value in given.items() if value is not None}


def python(
    arguments: Sequence[str], source: bytes = b"", env: Mapping[str, str] | None = None
) -> Outcome:
    """Python in a process of its own, as in `python -m lacec`."""
    result = subprocess.run(
        [sys.executable, *arguments],
        input=source,
        capture_output=True,
        env=process_environment(env),
        check=False,
    )
    return Outcome(result.returncode, result.stdout.decode(), result.stderr.decode())
