"""Where the keys of a TOML text stand: the reader of the standard library does not say.

In: a text that is TOML. Out: the line of each table and key, by its path. What stands in an
inline table or a list has the line of the key before it.
"""

import re
from collections.abc import Sequence

from lacec.core.toml import bare

Path = tuple[str | int, ...]

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_KEYS = r"[A-Za-z0-9_-]+(?:[ \t]*\.[ \t]*[A-Za-z0-9_-]+)*"
# As strings are crossed out.
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_KEYS})\s*\]")
_KEY = re.compile(rf"\s*({_KEYS})\s*=")
# A text that begins on the next line.
_OPENS = re.compile(r"""=\s*(?:"{3}\\?|'{3})\s*$""")


class Places:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._known: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}
        self._read(bare(text))

    def line(self, path: Sequence[str | int]) -> int:
        """The line of a key; of the nearest around it that stands on a line of its own."""
        for size in range(len(path), 0, -1):
            if tuple(path[:size]) in self._known:
                return self._known[tuple(path[:size])]
        return 1

    def text_line(self, path: Sequence[str | int]) -> int:
        """The line on which the text of a key begins: after three quotes, the next one."""
        line = self.line(path)
        return line + 1 if _OPENS.search(self._lines[line - 1]) else line

    def _read(self, crossed_out: str) -> None:
        table: Path = ()
        depth = 0  # of the lists and inline tables around a line
        for number, line in enumerate(crossed_out.split("\n"), 1):
            written = self._lines[number - 1]
            if depth == 0 and (header := _HEADER.match(line)):
                table = self._table(written[slice(*header.span(2))], header[1] == "[[")
                self._known.setdefault(table, number)
                continue
            if depth == 0 and (key := _KEY.match(line)):
                path = (*table, *_parts(written[slice(*key.span(1))]))
                for size in range(len(table) + 1, len(path) + 1):
                    self._known.setdefault(path[:size], number)
            depth += sum((sign in "[{") - (sign in "]}") for sign in line)

    def _table(self, text: str, is_list: bool) -> Path:
        """The path of a header: below a list it is of the last table of the list."""
        path: Path = ()
        *above, last = _parts(text)
        for part in above:
            path = (*path, part)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        path = (*path, last)
        if is_list:
            self._counts[path] = self._counts.get(path, 0) + 1
            path = (*path, self._counts[path] - 1)
        return path


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, text)]
