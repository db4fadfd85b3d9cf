"""Places of lacec and ranges of the protocol: lines from 0, columns in the units of the client."""

from collections.abc import Callable

from lsprotocol import types
from pygls import uris

from lacec.core.diagnostics import Place
from lacec.lsp.workspace import Desk, real_path

Units = Callable[[str], int]


class Positions:
    """Turns places around for one client, which counts in UTF-16 unless it said otherwise."""

    def __init__(self, desk: Desk, units: Units) -> None:
        self._desk = desk
        self._units = units

    def column(self, line: str, offset: int) -> int:
        return offset if line.isascii() else self._units(line[:offset])

    def offset(self, line: str, column: int) -> int:
        if line.isascii():
            return min(column, len(line))
        passed = 0
        for at, character in enumerate(line):
            passed += self._units(character)
            if passed > column:
                return at
        return len(line)

    def cursor(self, path: str, position: types.Position) -> tuple[str, int]:
        """The line that a position is in, and the offset there."""
        lines = self._desk.lines(path)
        line = lines[position.line] if position.line < len(lines) else ""
        return line, self.offset(line, position.character)

    def span(self, number: int, line: str, span: tuple[int, int]) -> types.Range:
        """The range of a span of a line, counted from 0."""
        start, end = (self.column(line, offset) for offset in span)
        return types.Range(types.Position(number, start), types.Position(number, end))

    def range(self, place: Place) -> types.Range:
        lines = self._desk.lines(place.file)
        return self.range_within(place, lines)

    def range_within(self, place: Place, lines: tuple[str, ...]) -> types.Range:
        def position(line: int, column: int) -> types.Position:
            if line > len(lines):  # the place ends where a next line would begin
                last = lines[-1] if lines else ""
                return types.Position(max(len(lines) - 1, 0), self.column(last, len(last)))
            text = lines[line - 1]
            return types.Position(line - 1, self.column(text, min(column - 1, len(text))))

        return types.Range(
            position(place.line, place.column), position(place.end_line, place.end_column)
        )

    def location(self, place: Place) -> types.Location:
        return types.Location(uri_of(place.file), self.range(place))


def uri_of(name: str) -> str:
    return uris.from_fs_path(real_path(name)) or name


def path_of(uri: str) -> str:
    """The path of a file; whatever else the editor has open keeps its address as a name."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return path or uri
