"""Base facts that change, and what a change of them was.

In: facts added and removed, as text. Out: the net change, as tuples of ids; the facts are
then the new ones. One base may serve many programs: it changes once, and each program
is told.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from lacec.core.errors import FactError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.vm.database import Database
from lacec.vm.kernels import distinct_from
from lacec.vm.live.overlay import EVERYTHING, Few, Kept, Tuple, tuples_of
from lacec.vm.relation import Relation
from lacec.vm.sources import check_arity, check_values
from lacec.vm.symbols import Symbols

Row = tuple[str, ...]
Rows = Mapping[Predicate, Iterable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Change:
    """What changed of one predicate: tuples that were not there before, and that are no more."""

    added: Few = field(default_factory=Few)
    removed: Few = field(default_factory=Few)

    def __bool__(self) -> bool:
        return bool(self.added) or bool(self.removed)

    def add(self, row: Tuple) -> None:
        if not self.removed.discard(row):
            self.added.add(row)

    def remove(self, row: Tuple) -> None:
        if not self.added.discard(row):
            self.removed.add(row)


Changes = Mapping[Predicate, Change]
NO_CHANGE = Change()


def difference(old: Relation, new: Relation) -> Change:
    """What makes one relation of another."""
    added = new.where(distinct_from(new, old))
    removed = old.where(distinct_from(old, new))
    return Change(Few(tuples_of(added)), Few(tuples_of(removed)))


def in_sequence(changes: Sequence[Changes]) -> Changes:
    """Several changes, one after the other, as one."""
    if len(changes) == 1:
        return changes[0]
    whole: dict[Predicate, Change] = {}
    for one in changes:
        for predicate, change in one.items():
            into = whole.setdefault(predicate, Change())
            for row in change.removed:
                into.remove(row)
            for row in change.added:
                into.add(row)
    return whole


class Base:
    def __init__(self, database: Database, only: Container[Predicate] | None = None) -> None:
        """The base owns the database from here on: nobody else may add facts to it.

        `only` are the predicates that it holds, where others are held by another base.
        """
        self._database = database
        self._only = only
        self._kept: dict[Predicate, Kept] = {}
        for predicate in database.predicates():
            self.relation(predicate)

    @property
    def symbols(self) -> Symbols:
        return self._database.symbols

    def holds(self, predicate: Predicate) -> bool:
        """Whether the facts of a predicate are here."""
        return self._only is None or predicate in self._only

    def predicates(self) -> Iterable[Predicate]:
        """The predicates that have facts."""
        return [predicate for predicate, kept in self._kept.items() if kept.size]

    def relation(self, predicate: Predicate) -> Kept:
        found = self._kept.get(predicate)
        if found is None:
            relation = self._database.relation(predicate)
            found = self._kept[predicate] = Kept(relation, predicate.arity, self.symbols.universe)
        return found

    def facts_of(self, value: str, predicates: Iterable[Predicate]) -> dict[Predicate, list[Row]]:
        """The facts of some predicates that begin with a value."""
        id, symbols = self.symbols.find(value), self.symbols
        if id < 0:
            return {}
        return {
            predicate: texts_of(symbols, self.relation(predicate).find(EVERYTHING, [(0, id)]))
            for predicate in predicates
        }

    def apply(
        self,
        added: Rows | None = None,
        removed: Rows | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Changes:
        """Remove facts and add facts, in that order; the change that this makes.

        FactError, and no change, for a fact that may not be one.
        """
        gone, come = self._checked(removed, limits), self._checked(added, limits)
        # One look-up for the values of all predicates.
        old = _encoded(gone, self.symbols.find_all(_values(gone)))
        first = len(self.symbols)  # of the ids that no fact has yet
        new = _encoded(come, self.symbols.intern_all(_values(come)).tolist())
        changes: dict[Predicate, Change] = {}
        for predicate, rows in old.items():
            kept, change = self.relation(predicate), changes.setdefault(predicate, Change())
            for row in rows:
                # A value that was never seen is in no fact.
                if -1 not in row and kept.discard(row):
                    change.remove(row)
        for predicate, rows in new.items():
            kept, change = self.relation(predicate), changes.setdefault(predicate, Change())
            for row in rows:
                if kept.add(row, is_fresh=max(row, default=-1) >= first):
                    change.add(row)
        for predicate in changes:
            self._kept[predicate].settle()
        return {predicate: change for predicate, change in changes.items() if change}

    def _checked(self, rows: Rows | None, limits: Limits) -> dict[Predicate, list[Sequence[str]]]:
        found = {predicate: list(some) for predicate, some in (rows or {}).items()}
        for predicate, some in found.items():
            check_arity(predicate, limits)
            if not self.holds(predicate):
                raise FactError(f"the facts of {predicate} are held elsewhere")
            for row in some:
                if len(row) != predicate.arity:
                    raise FactError(f"{predicate} has a fact with {len(row)} values")
        check_values(_values(found), limits)
        return found


def _values(rows: Mapping[Predicate, list[Sequence[str]]]) -> list[str]:
    return [value for some in rows.values() for row in some for value in row]


def _encoded(
    rows: Mapping[Predicate, list[Sequence[str]]], ids: Iterable[int]
) -> dict[Predicate, list[Tuple]]:
    """The rows as the ids of their values, which are those of all rows in order."""
    left = iter(ids)
    return {
        predicate: [tuple(islice(left, predicate.arity)) for _ in some]
        for predicate, some in rows.items()
    }


def database_of(bases: Sequence[Base], symbols: Symbols | None = None) -> Database:
    """The facts of several bases at this moment: of each predicate, those of the first that
    holds it. It is read before the next change or not at all.
    """
    relations: dict[Predicate, Relation] = {}
    for base in bases:
        for predicate in base.predicates():
            if base.holds(predicate) and predicate not in relations:
                relations[predicate] = base.relation(predicate).snapshot()
    return Database(bases[-1].symbols if bases else symbols, relations)


def texts_of(symbols: Symbols, rows: Iterable[Tuple]) -> list[Row]:
    """A few tuples as text, sorted."""
    return sorted(tuple([symbols.text(id) for id in row]) for row in rows)
