"""Facts that change at random, and somebody who hears of the outputs only what changed."""

from collections.abc import Mapping, Sequence
from random import Random

from lacec.core.predicates import Predicate
from lacec.vm.live.live_facts import Changes, texts_of
from lacec.vm.live.overlay import tuples_of
from lacec.vm.relation import Relation
from lacec.vm.symbols import Symbols
from tests.vm.strategies import Row

Facts = dict[Predicate, set[Row]]


class Pool:
    """Facts that are there or may be: those of a sample, and others of the same values."""

    def __init__(self, facts: Mapping[Predicate, Sequence[Row]], seed: int) -> None:
        self.random = Random(seed)
        self.columns = {
            predicate: [sorted({row[c] for row in rows}) for c in range(predicate.arity)]
            for predicate, rows in facts.items()
            if rows
        }
        self.facts: Facts = {p: set(rows) for p, rows in facts.items()}
        self.known = {p: sorted(rows) for p, rows in self.facts.items() if rows}

    def step(self, most: int) -> tuple[Facts, Facts]:
        """Facts to add and to remove, some of which change nothing."""
        added: Facts = {}
        removed: Facts = {}
        for _ in range(self.random.randint(1, most)):
            if not self.known:
                break
            predicate = self.random.choice(sorted(self.known))
            here = sorted(self.facts[predicate])
            if here and self.random.random() < 0.5:
                removed.setdefault(predicate, set()).add(self.random.choice(here))
            elif self.random.random() < 0.6:
                added.setdefault(predicate, set()).add(self.random.choice(self.known[predicate]))
            else:
                columns = self.columns[predicate]
                row = tuple(self.random.choice(column) for column in columns)
                added.setdefault(predicate, set()).add(row)
        for predicate, rows in removed.items():
            self.facts[predicate] -= rows
        for predicate, rows in added.items():
            self.facts[predicate] |= rows
        return added, removed


def as_sets(relations: Mapping[Predicate, Relation], symbols: Symbols) -> dict[str, set[Row]]:
    return {
        str(predicate): set(texts_of(symbols, tuples_of(relation)))
        for predicate, relation in relations.items()
    }


class Mirror:
    """The outputs as somebody knows them who only hears of changes."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.facts: dict[Predicate, set[Row]] = {}

    def hear(self, changes: Changes) -> None:
        for predicate, change in changes.items():
            assert change
            known = self.facts.setdefault(predicate, set())
            added = set(texts_of(self.symbols, change.added))
            removed = set(texts_of(self.symbols, change.removed))
            assert removed <= known
            assert not added & known
            known -= removed
            known |= added
