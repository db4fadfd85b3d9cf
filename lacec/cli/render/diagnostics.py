"""A diagnostic as people read it: the line, carets under the place, what to do.

In: diagnostics and the sources they speak of. Out: styled segments. Text from a
source is made visible first, so that it cannot steer the terminal, and long
lines are cut to a window around the place.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lacec.cli.render.output import Segment
from lacec.core.diagnostics import Diagnostic, Place, visible

WINDOW = 100
STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold blue"}


def render(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str | bytes]
) -> Iterator[Segment]:
    lines = {name: _lines(content) for name, content in sources.items()}
    for diagnostic in diagnostics:
        yield from _render(diagnostic, lines)
        yield "\n", ""


def summary(diagnostics: Sequence[Diagnostic], files: int) -> str:
    often: Counter[str] = Counter(diagnostic.severity for diagnostic in diagnostics)
    words = {"error": "error", "warning": "warning", "info": "remark"}
    found = [counted(often[each], word) for each, word in words.items() if often[each]]
    said = " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)
    return f"{said or 'no problems'} in {counted(files, 'file')}"


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _lines(content: str | bytes) -> list[str]:
    text = content if isinstance(content, str) else content.decode("utf-8", "surrogateescape")
    return text.split("\n")


def _render(diagnostic: Diagnostic, lines: Mapping[str, list[str]]) -> Iterator[Segment]:
    style = STYLES[diagnostic.severity]
    here = diagnostic.place
    # A related message about the very place is the label of its carets.
    label = next((r.message for r in diagnostic.related if r.place == here), "")
    others = [related for related in diagnostic.related if related.place != here]
    margin = max(len(str(place.line)) for place in (here, *(r.place for r in others)))
    yield f"{diagnostic.severity}[{diagnostic.name}]", style
    yield f": {visible(diagnostic.message)}\n", "bold"
    yield from _excerpt(here, label, "-->", style, margin, lines)
    for related in others:
        yield from _excerpt(related.place, related.message, ":::", "bold blue", margin, lines)
    if diagnostic.help:
        yield " " * (margin + 1) + "= ", "bold blue"
        yield f"help: {visible(diagnostic.help)}\n", ""


def _excerpt(
    place: Place,
    message: str,
    arrow: str,
    style: str,
    margin: int,
    lines: Mapping[str, list[str]],
) -> Iterator[Segment]:
    yield " " * margin + arrow, "bold blue"
    yield f" {visible(place.file)}:{place.line}:{place.column}\n", ""
    source = lines.get(place.file, [])
    shown = _window(source[place.line - 1] if place.line <= len(source) else "", place)
    gutter = " " * (margin + 1)
    yield f"{gutter}|\n{place.line:>{margin}} | ", "bold blue"
    yield f"{shown.text}\n", ""
    yield f"{gutter}| ", "bold blue"
    yield " " * shown.indent + "^" * shown.width, style
    yield f" {message}\n" if message else "\n", style


class Window(NamedTuple):
    text: str
    indent: int
    width: int


def _window(line: str, place: Place) -> Window:
    """The part of a line around a place, with where and how wide its carets are."""
    start = place.column - 1
    end = min(place.end_column - 1, len(line)) if place.end_line == place.line else len(line)
    end = max(end, start + 1)
    left = max(0, start - WINDOW // 2) if len(line) > WINDOW else 0
    right = left + WINDOW
    before = ("…" if left else "") + _show(line[left:start])
    marked = _show(line[start : min(end, right)])
    after = _show(line[min(end, right) : right]) + ("…" if right < len(line) else "")
    return Window(before + marked + after, _width(before), max(1, _width(marked)))


def _show(text: str) -> str:
    return visible(text.replace("\t", "    "))


def _width(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
