"""Views: which records a viewer may query, as a mark for each id (020).

In: the ids of the records. Out: relations of record facts as the viewer sees them. No
fact is copied before something reads it: a part with constants is looked up among all
facts, where its index is, and masked then. What a view left of a part is kept with it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from lacec.vm.relation import Ids, Mask, Relation


class View:
    def __init__(self, records: Ids, universe: int) -> None:
        self.records = records
        self._marks: Mask = np.zeros(universe, bool)
        self._marks[records] = True
        # By the identity of a relation, which is kept so that no other can get its id.
        self._seen: dict[int, tuple[Relation, Relation]] = {}

    def of(self, relation: Relation) -> Relation:
        """The rows whose record, in column 0, the view marks."""
        found = self._seen.get(id(relation))
        if found is None:
            found = relation, relation.where(self._marks[relation.columns[0]])
            self._seen[id(relation)] = found
        return found[1]

    def hidden(self, relation: Relation) -> Relation:
        """The other rows."""
        return relation.where(~self._marks[relation.columns[0]])

    def count(self, relation: Relation) -> int:
        """How many rows that is."""
        return int(np.count_nonzero(self._marks[relation.columns[0]]))


class Viewed(Relation):
    """A relation of record facts through a view; its rows are picked when they are asked for."""

    __slots__ = ("_all", "_view")

    def __init__(self, relation: Relation, view: View) -> None:
        self._all, self._view = relation, view

    def part(
        self, constants: Sequence[tuple[int, int]], equals: Sequence[tuple[int, int]]
    ) -> Relation:
        return self._view.of(self._all.part(constants, equals))

    def __getattr__(self, name: str) -> Any:
        """Columns, size and indexes are those of the rows that the view leaves."""
        return getattr(self._view.of(self._all), name)


class LiveView:
    """A view that changes: which records it shows, and which it showed before."""

    def __init__(self, universe: Callable[[], int]) -> None:
        """It shows nothing yet. `universe` says below which number all ids are."""
        self._universe = universe
        self._marks: Mask = np.zeros(universe(), bool)
        self.entered: frozenset[int] = frozenset()
        self.left: frozenset[int] = frozenset()

    def sees(self, record: int, before: bool = False) -> bool:
        if before:
            if record in self.entered:
                return False
            if record in self.left:
                return True
        return record < len(self._marks) and self._marks.item(record)

    def change(self, entered: Iterable[int] = (), left: Iterable[int] = ()) -> None:
        """Show some records more and some less; the others are as before."""
        self.entered, self.left = frozenset(entered), frozenset(left)
        universe = self._universe()
        if universe > len(self._marks):
            grown = np.zeros(universe, bool)
            grown[: len(self._marks)] = self._marks
            self._marks = grown
        for record in self.entered:
            self._marks[record] = True
        for record in self.left:
            self._marks[record] = False

    def show(self, records: Ids) -> None:
        """Show many records more; they count as shown before."""
        self.change()
        self._marks[records] = True

    def view(self) -> View:
        """The records as they are now."""
        return View(np.flatnonzero(self._marks).astype(np.int32), self._universe())
