"""Rows by values for one question: no index is made for the few values that it asks about.

A column of a hundred thousand rows is compared with a value in less time than a hundredth
of what it takes to sort it. Where there is an index it is used, and one question that would
go through very much makes one after all.
"""

from collections.abc import Callable, Sequence

import numpy as np

from lacec.vm.relation import Relation, Rows

# After so many values compared in one question an index is made for what is asked next.
MANY_COMPARED = 2**23
# Rows that are this many times fewer than all are gone through rather than a whole column.
MUCH_FEWER = 16


class Finder:
    def __init__(self, universe: Callable[[], int]) -> None:
        """`universe` says below which number all ids are."""
        self._universe = universe
        self._found: dict[tuple[int, int, int], Rows] = {}
        self._asked: dict[int, Relation] = {}  # so that no other relation can get its id
        self._compared = 0

    def forget(self) -> None:
        """Another question begins."""
        self._found.clear()
        self._asked.clear()
        self._compared = 0

    def rows(self, relation: Relation, fixed: Sequence[tuple[int, int]]) -> Rows | range:
        """The rows that have these values in these columns, in order."""
        best: Rows | None = None
        by = -1
        for column, value in fixed:
            known = relation.known_lookup(column)
            if best is None or known is not None or len(best) * MUCH_FEWER > relation.size:
                found = self._with(relation, column, value)
                if best is None or len(found) < len(best):
                    best, by = found, column
        if best is None:
            return range(relation.size)
        for column, value in fixed:
            if column != by:
                best = best[relation.columns[column][best] == value]
        return best

    def _with(self, relation: Relation, column: int, value: int) -> Rows:
        known = relation.known_lookup(column)
        if known is None and self._compared > MANY_COMPARED:
            known = relation.lookup(column, self._universe())
        if known is not None:
            return known.rows(*known.span(value))
        key = (id(relation), column, value)
        found = self._found.get(key)
        if found is None:
            self._asked[id(relation)] = relation
            self._compared += relation.size
            found = self._found[key] = np.flatnonzero(relation.columns[column] == value)
        return found
