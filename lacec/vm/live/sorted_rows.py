"""Rows that are kept in an order: where a row would stand is found, and rows come and go.

The rows are in blocks, so that one that comes or goes moves only those of its block. They
are ids; a column is ordered by its ids, or by what these stand for.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Tuple = tuple[int, ...]
Table = npt.NDArray[np.int32]
"""Rows and columns."""

# As many rows as this make a block of their own; twice as many are two.
BLOCK = 512


class By(NamedTuple):
    """A column, what its ids stand for, and whether the largest comes first."""

    column: int
    value: Callable[[int], Any]
    falling: bool


class Ordered:
    def __init__(self, by: Sequence[By], table: Table) -> None:
        """`by` tells any two rows apart; the rows of the table stand in this order."""
        self._by = by
        self._blocks = [table[n : n + BLOCK] for n in range(0, len(table), BLOCK)]

    def key(self, row: Tuple, columns: int) -> list[Any]:
        """What a row is ordered by, as far as the first columns of the order say."""
        return [by.value(row[by.column]) for by in self._by[:columns]]

    def place(self, key: Sequence[Any], after: bool) -> int:
        """How many rows stand before a key, which may be the beginning of one; or up to it."""
        block, offset = self._find(key, after)
        return sum(map(len, self._blocks[:block])) + offset

    def rows(self, begin: int, end: int) -> Iterator[Tuple]:
        """The rows from one place up to another."""
        for block in self._blocks:
            if end <= 0:
                return
            if begin < len(block):
                yield from map(tuple, block[max(begin, 0) : end].tolist())
            begin -= len(block)
            end -= len(block)

    def __contains__(self, row: Tuple) -> bool:
        block, offset = self._find(self.key(row, len(self._by)), after=False)
        return self._is_at(block, offset, row)

    def add(self, row: Tuple) -> bool:
        """Whether the row is new."""
        number, offset = self._find(self.key(row, len(self._by)), after=False)
        if self._is_at(number, offset, row):
            return False
        if not self._blocks:
            self._blocks.append(np.empty((0, len(row)), np.int32))
        block = np.insert(self._blocks[number], offset, row, axis=0)
        halves = [block] if len(block) < 2 * BLOCK else [block[:BLOCK], block[BLOCK:]]
        self._blocks[number : number + 1] = halves
        return True

    def discard(self, row: Tuple) -> bool:
        """Whether the row was there."""
        number, offset = self._find(self.key(row, len(self._by)), after=False)
        if not self._is_at(number, offset, row):
            return False
        if offset == len(self._blocks[number]):
            number, offset = number + 1, 0
        block = np.delete(self._blocks[number], offset, axis=0)
        self._blocks[number : number + 1] = [block] if len(block) else []
        return True

    def _is_at(self, number: int, offset: int, row: Tuple) -> bool:
        if number < len(self._blocks) and offset == len(self._blocks[number]):
            number, offset = number + 1, 0
        return number < len(self._blocks) and self._row(number, offset) == row

    def _row(self, number: int, offset: int) -> Tuple:
        return tuple(self._blocks[number][offset].tolist())

    def _find(self, key: Sequence[Any], after: bool) -> tuple[int, int]:
        """The block, and the place in it, before which all rows stand before a key."""
        low, high = 0, len(self._blocks)
        while low < high:
            middle = (low + high) // 2
            if self._is_before(self._row(middle, 0), key, after):
                low = middle + 1
            else:
                high = middle
        if not low:
            return 0, 0
        number = low - 1
        low, high = 1, len(self._blocks[number])
        while low < high:
            middle = (low + high) // 2
            if self._is_before(self._row(number, middle), key, after):
                low = middle + 1
            else:
                high = middle
        return number, low

    def _is_before(self, row: Tuple, key: Sequence[Any], after: bool) -> bool:
        for by, wanted in zip(self._by, key, strict=False):
            value = by.value(row[by.column])
            if value != wanted:
                return bool(value > wanted) == by.falling
        return after
