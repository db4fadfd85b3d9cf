"""Relations that are made when they are read: a store holds more than a program needs.

Their rows are known to be distinct. The machine sees relations like any other.
"""

from collections.abc import Callable, Sequence
from typing import Any

from lacec.vm.relation import Ids, Relation


class LazyRelation(Relation):
    """A relation whose size is known, and whose columns are made when first read."""

    __slots__ = ("_make",)

    def __init__(self, size: int, make: Callable[[], Sequence[Ids]]) -> None:
        super().__init__((), size)
        self._make = make
        del self.columns  # so that whoever reads them asks __getattr__ the first time

    def __getattr__(self, name: str) -> Any:
        if name != "columns":
            raise AttributeError(name)
        self.columns = tuple(self._make())
        return self.columns


class SplitRelation(LazyRelation):
    """A relation that is kept in parts by the values of one column.

    What a program selects by a constant in that column, as rules select the fields of
    a name, is made from its part alone.
    """

    __slots__ = ("_column", "_pick")

    def __init__(
        self,
        size: int,
        make: Callable[[], Sequence[Ids]],
        column: int,
        pick: Callable[[int], Relation],
    ) -> None:
        super().__init__(size, make)
        self._column = column
        self._pick = pick

    @property
    def split(self) -> int | None:
        return self._column

    def part(
        self, constants: Sequence[tuple[int, int]], equals: Sequence[tuple[int, int]]
    ) -> Relation:
        chosen = [value for column, value in constants if column == self._column]
        if not chosen:
            return super().part(constants, equals)
        key = (self._column, chosen[0])
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = self._pick(chosen[0])
        return found.part([each for each in constants if each != key], equals)
