"""One head at a time: a rule that makes it and the facts it uses, found row by row.

In: goals, and a tuple that there is. Out: for each tuple that its proof rests on a witness:
the rule, the values of its variables, a row of each atom. Rows are Python numbers here, because
an operation on an array costs as much as one on a hundred of them, and a proof goes through
its rounds one after the other. A proof of many tuples is work for columns instead.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lacec.bytecode.goal import Ask, Goal, Part
from lacec.core.predicates import Predicate
from lacec.vm.provenance.batch_solver import Answers, Keys, State, split_terms
from lacec.vm.relation import Relation, Rows

# A proof that takes more than so many rows is found in columns.
MANY_ROWS = 20_000
# So is one with a longer rule: each part of it asks the one before, on Python's stack.
MANY_PARTS = 256
_ROWS_BETWEEN_LOOKS = 256

Tuple = tuple[int, ...]
Binding = tuple[dict[int, int], dict[int, int]]
"""The values of variables, and the row of each atom so far."""


class TooMuch(Exception):  # noqa: N818
    """A proof for which columns are cheaper."""


class Head(NamedTuple):
    """A tuple that is to be proved and, of a recursive predicate, its round."""

    predicate: Predicate
    row: Tuple
    round: int | None


class Witness(NamedTuple):
    """A head, and how a rule makes it."""

    head: Head
    values: dict[int, int]
    rows: dict[int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """An atom: its tuples, the columns that have values by then, and those that give some."""

    part: Part
    predicate: Predicate
    relation: Relation
    rounds: Rows | None
    keys: Keys
    new: Keys
    only: bool  # whether later parts can tell none of its tuples apart


class Witnesses:
    """The witnesses of one question."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._rows = 0
        self._readings: dict[int, dict[int, Reading]] = {}  # by rule, by literal

    def _of(self, goal: Goal) -> dict[int, Reading]:
        """How the atoms of a rule are read."""
        found = self._readings.get(goal.rule)
        if found is not None:
            return found
        found = self._readings[goal.rule] = {}
        known = {term for term in goal.head if isinstance(term, int)}
        for part in goal.parts:
            if part.ask == Ask.FACT and part.pattern is not None:
                tuples = self._answers.tuples(part.pattern)
                keys, new = split_terms(part.pattern.terms, known)
                only = not any(slot in part.needed for slot, _ in new)
                named = part.pattern.predicate
                found[part.literal] = Reading(
                    part, named, tuples.relation, tuples.rounds, keys, new, only
                )
                known.update(slot for slot, _ in new)
        return found

    def find(self, goal: Goal, head: Head) -> Witness | None:
        """How a rule makes a head; None where it does not. TooMuch when that takes long."""
        if head.round is not None and (head.round == 1) == any(p.inner for p in goal.parts):
            return None  # the first round has nothing of its group yet, the others need some
        if len(goal.parts) > MANY_PARTS:
            raise TooMuch
        values: dict[int, int] = {}
        for term, value in zip(goal.head, head.row, strict=True):
            if isinstance(term, str):
                if self._answers.symbols.find(term) != value:
                    return None
            elif term is not None and values.setdefault(term, value) != value:
                return None
        readings = self._of(goal)
        bindings: Iterable[Binding] = [(values, {})]
        for part in goal.parts:
            self._answers.machine.check_time()
            if part.ask == Ask.FACT:
                bindings = self._facts(readings[part.literal], bindings, head.round)
            else:
                bindings = self._passing(part, bindings)
        found = next(iter(bindings), None)
        return None if found is None else Witness(head, *found)

    def needs(self, goal: Goal, witness: Witness) -> Iterator[Head]:
        """The facts that a witness uses."""
        for literal, atom in self._of(goal).items():
            row = witness.rows[literal]
            values = tuple([column.item(row) for column in atom.relation.columns])
            yield Head(
                atom.predicate, values, None if atom.rounds is None else atom.rounds.item(row)
            )

    def state(self, goal: Goal, witnesses: Sequence[Witness]) -> State:
        """The witnesses of one rule as columns."""
        values = {
            slot: np.array([each.values[slot] for each in witnesses], np.int32)
            for slot in witnesses[0].values
        }
        facts = {
            literal: (
                atom.relation,
                np.array([each.rows[literal] for each in witnesses], np.intp),
            )
            for literal, atom in self._of(goal).items()
        }
        return State(np.arange(len(witnesses)), values, facts)

    def _spend(self) -> None:
        self._rows += 1
        if self._rows > MANY_ROWS:
            raise TooMuch
        if self._rows % _ROWS_BETWEEN_LOOKS == 0:
            self._answers.machine.check_time()

    def _facts(
        self, atom: Reading, bindings: Iterable[Binding], before: int | None
    ) -> Iterator[Binding]:
        """Each binding with each fact that agrees with it, and that later parts can tell apart."""
        relation, literal, finder = atom.relation, atom.part.literal, self._answers.finder
        rounds = atom.rounds if atom.part.inner else None
        seen: set[Tuple] = set()
        for values, rows in bindings:
            found = finder.rows(relation, [(column, values[slot]) for slot, column in atom.keys])
            for row in found if isinstance(found, range) else found.tolist():
                self._spend()
                if rounds is not None and before is not None and rounds.item(row) >= before:
                    break  # rows stand in the order of rounds
                more = dict(values)
                for slot, column in atom.new:
                    more[slot] = relation.columns[column].item(row)
                needed = tuple([more[slot] for slot in more if slot in atom.part.needed])
                if needed not in seen:
                    seen.add(needed)
                    yield more, rows | {literal: row}
                if atom.only:
                    break

    def _passing(self, part: Part, bindings: Iterable[Binding]) -> Iterator[Binding]:
        """The bindings that pass a part that binds nothing."""
        for values, rows in bindings:
            self._spend()
            columns = {slot: np.array([value], np.int32) for slot, value in values.items()}
            if self._answers.holds(part, State(np.zeros(1, np.intp), columns, {}))[0]:
                yield values, rows
