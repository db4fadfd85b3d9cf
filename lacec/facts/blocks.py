"""Plain fact lines by the block: found with array operations, and no line a Python object.

In: whole lines of a file. Out: for the plain ones, names, arities and values as slices of
the file; the others are left to be read one at a time. A line is plain when it is
`Predicate('constant',...)` with no escape and no white space. Blocks know nothing of one
another, so that several can be read at once.
"""

import unicodedata
from typing import NamedTuple

import numpy as np

from lacec.core.limits import Limits
from lacec.facts.line import is_predicate_name
from lacec.vm.text import Bytes, Mask, Offsets, Rows, Words, hash_and_match

# The names of a block that are looked for in all its lines at once.
_FEW_NAMES = 8
_LF, _QUOTE, _BACKSLASH, _OPEN, _CLOSE, _COMMA = b"\n'\\(),"


class Plain(NamedTuple):
    """The plain lines of a block: the number of each one's name and how many values it has.

    The values are slices of the file: all of them in order, or only those that differ,
    with their hashes, and for each value which of them it is.
    """

    names: list[bytes]
    named: Rows
    arities: Rows
    starts: Offsets
    ends: Offsets
    hashes: Words | None = None
    which: Rows | None = None


class File:
    """The bytes of a file, and how its lines are to be read."""

    def __init__(self, data: bytes, limits: Limits, match: bool) -> None:
        self.data = data
        self.buffer: Bytes = np.frombuffer(data, np.uint8)
        self._limits = limits
        self._match = match

    def read_block(self, at: int, end: int) -> tuple[int, Plain | None, list[tuple[int, int, int]]]:
        """How many lines there are, the plain ones, and the others: number, start, end."""
        text, block = self.data[at:end], self.buffer[at:end]
        mask = block == _QUOTE
        mask |= block == _LF
        marks = np.flatnonzero(mask)
        is_end = block[marks] == _LF
        marks += at
        nth = np.flatnonzero(is_end)
        ends = marks[nth]
        starts = np.concatenate(([at], ends[:-1] + 1))
        found, plain = None, np.zeros(len(ends), bool)
        if _is_sound(text):
            counts = np.diff(nth, prepend=-1) - 1
            plain = (counts & 1 == 0) & (counts > 0) & (counts <= 2 * self._limits.arity)
            if b"\\" in text:
                plain[np.searchsorted(ends, np.flatnonzero(block == _BACKSLASH) + at)] = False
            found = self._read_plain(starts, ends, marks[~is_end], counts, plain)
        others = np.flatnonzero(~plain)
        spans = zip(others.tolist(), starts[others].tolist(), ends[others].tolist(), strict=True)
        return len(ends), found, list(spans)

    def _read_plain(
        self, starts: Offsets, ends: Offsets, quotes: Offsets, counts: Rows, plain: Mask
    ) -> Plain | None:
        """Take those of the lines called plain that are; of the others, take the mark away."""
        rows = np.flatnonzero(plain)
        if not len(rows):
            return None
        if len(rows) < len(plain):
            quotes = quotes[np.repeat(plain, counts)]
        opens, closes, arities = quotes[0::2], quotes[1::2], counts[rows] >> 1
        lasts = np.cumsum(arities) - 1
        firsts = lasts - arities + 1
        next_opens = np.empty(len(opens), np.intp)
        next_opens[:-1] = opens[1:]
        next_opens[lasts] = ends[rows]
        separators = np.full(len(opens), _COMMA, np.uint8)
        separators[lasts] = _CLOSE
        good = (next_opens - closes == 2) & (self.buffer[closes + 1] == separators)
        good &= closes - opens <= self._limits.value_bytes + 1
        names, named = self._names(starts[rows], opens[firsts] - 1)
        fits = named >= 0
        if not good.all():
            fits &= np.logical_and.reduceat(good, firsts)
        if not fits.all():
            plain[rows[~fits]] = False
            of_value = np.repeat(fits, arities)
            opens, closes = opens[of_value], closes[of_value]
            named, arities = named[fits], arities[fits]
        if not self._match or not len(named):
            return Plain(names, named, arities, opens + 1, closes)
        return self._differing(names, named, arities, opens + 1, closes)

    def _differing(
        self, names: list[bytes], named: Rows, arities: Rows, starts: Offsets, ends: Offsets
    ) -> Plain:
        """Keep the values of a block that differ, while its bytes are in the cache."""
        hashes, same_as = hash_and_match(self.buffer, starts, ends)
        kept = np.flatnonzero(same_as == np.arange(len(same_as)))
        number = np.empty(len(same_as), np.intp)
        number[kept] = np.arange(len(kept))
        which = number[same_as]
        return Plain(names, named, arities, starts[kept], ends[kept], hashes[kept], which)

    def _names(self, starts: Offsets, ends: Offsets) -> tuple[list[bytes], Rows]:
        """The names that lines begin with, and which each has; -1 for none before a `(`."""
        names: dict[bytes, int] = {}
        numbers = np.full(len(starts), -1)
        lengths = ends - starts
        left = np.flatnonzero((self.buffer[ends] == _OPEN) & (lengths > 0))
        # A block has few names: all the lines that have the first, then the next.
        for _ in range(_FEW_NAMES):
            if not len(left):
                break
            start, length = int(starts[left[0]]), int(lengths[left[0]])
            name = self.data[start : start + length]
            view = np.ndarray((len(self.data) - length,), f"S{length}", self.data, strides=(1,))
            same = lengths[left] == length
            same[same] = view[starts[left[same]]] == name
            numbers[left[same]] = _number_of(name, names)
            left = left[~same]
        for row in left.tolist():
            numbers[row] = _number_of(self.data[starts[row] : ends[row]], names)
        return list(names), numbers


def _number_of(name: bytes, names: dict[bytes, int]) -> int:
    if name in names or is_predicate_name(name.decode("utf-8")):
        return names.setdefault(name, len(names))
    return -1


def _is_sound(block: bytes) -> bool:
    """Whether whole lines are text that facts may hold; every part of NFC text is NFC."""
    if b"\r" in block:
        return False
    if block.isascii():
        return True
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return unicodedata.is_normalized("NFC", text)
