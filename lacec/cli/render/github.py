"""Diagnostics as workflow commands, which GitHub shows beside the lines of a change."""

from collections.abc import Iterable, Iterator

from lacec.cli.render.output import Segment
from lacec.core.diagnostics import Diagnostic, visible

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def workflow_commands(diagnostics: Iterable[Diagnostic]) -> Iterator[Segment]:
    for each in diagnostics:
        place = each.place
        message = each.message + (f"\n{each.help}" if each.help else "")
        properties = {
            "file": _property(place.file),
            "line": place.line,
            "endLine": place.end_line,
            "col": place.column,
            "endColumn": place.end_column,
            "title": each.name,
        }
        listed = ",".join(f"{key}={value}" for key, value in properties.items())
        yield f"::{COMMANDS[each.severity]} {listed}::{_data(message)}\n", ""


def _data(text: str) -> str:
    lines = (visible(line).replace("%", "%25") for line in text.split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
