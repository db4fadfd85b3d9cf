"""Incremental evaluation: after every change the same as full evaluation, on random programs.

A sample is a program, facts to begin with, and steps; each step removes and adds some facts.
Set LACEC_EXAMPLES to a number to run that many times as many programs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from lacec.canonical.module import Module
from lacec.live import live_program
from lacec.pipeline import compile_module
from lacec.predicates import Predicate
from lacec.vm import incremental, kept
from lacec.vm.base import Base, Changes, texts_of
from lacec.vm.relation import Relation
from lacec.vm.sources import TupleSource, load
from lacec.vm.symbols import Symbols
from tests import slow
from tests.helpers import examples
from tests.vm.strategies import (
    Row,
    Sample,
    lift_samples,
    rank_samples,
    samples,
    wide_samples,
)

Facts = dict[Predicate, set[Row]]
MOST_STEPS = 100_000


@dataclass(frozen=True)
class Setting:
    """What may change how the machine works, but never what it finds."""

    many_rows: int = incremental.MANY_ROWS
    many_removed: int = incremental.MANY_REMOVED
    settle: int = kept.MANY
    short: int = kept.SHORT

    @contextmanager
    def applied(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(incremental, "MANY_ROWS", self.many_rows)
            patch.setattr(incremental, "MANY_REMOVED", self.many_removed)
            patch.setattr(kept, "MANY", self.settle)
            patch.setattr(kept, "SHORT", self.short)
            yield


SETTINGS = st.builds(
    Setting,
    st.sampled_from([incremental.MANY_ROWS, 10**9, 5]),
    st.sampled_from([incremental.MANY_REMOVED, 10**9, 0]),
    st.sampled_from([kept.MANY, 0, 3]),
    st.sampled_from([kept.SHORT, 0, 1]),
)


class Pool:
    """Facts that a sample has and may have: those it names, and others of the same values."""

    def __init__(self, sample: Sample, seed: int) -> None:
        self.random = Random(seed)
        self.columns = {
            predicate: [sorted({row[c] for row in rows}) for c in range(predicate.arity)]
            for predicate, rows in sample.facts.items()
            if rows
        }
        self.facts: Facts = {p: set(rows) for p, rows in sample.facts.items()}
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


def compiled(sample: Sample) -> Module:
    return compile_module([("sample", sample.text)])


def as_sets(relations: Mapping[Predicate, Relation], symbols: Symbols) -> dict[str, set[Row]]:
    return {
        str(predicate): set(texts_of(symbols, kept.tuples_of(relation)))
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


def outputs_of(sample: Sample, seed: int) -> list[Predicate] | None:
    """All that is derived, or some of it."""
    random = Random(seed)
    derived = sample.derived
    return (
        None if random.random() < 0.5 else random.sample(derived, random.randint(1, len(derived)))
    )


def check_steps(sample: Sample, seed: int, steps: int, most: int) -> None:
    """After every step the outputs and the state are those of a full evaluation."""
    module, wanted, pool = compiled(sample), outputs_of(sample, seed), Pool(sample, seed)
    base = Base(load(TupleSource(sample.facts)))
    program = live_program(module, [base], wanted)
    mirror = Mirror(base.symbols)
    mirror.hear(program.apply())
    for _ in range(steps):
        added, removed = pool.step(most)
        change = base.apply(added, removed)
        mirror.hear(program.apply(change))
        fresh_base = Base(load(TupleSource(pool.facts)))
        fresh = live_program(module, [fresh_base], wanted)
        fresh.apply()
        assert as_sets(program.state(), base.symbols) == as_sets(fresh.state(), fresh_base.symbols)
        try:
            expected = slow.evaluate(sample.rules, pool.facts, MOST_STEPS).facts
        except slow.TooMuchWorkError:
            reject()
        for predicate in program.outputs:
            assert mirror.facts.get(predicate, set()) == expected[predicate]


SEEDS = st.integers(0, 2**32)


@given(samples(), SEEDS, SETTINGS)
@examples(150)
def test_random_programs(sample: Sample, seed: int, setting: Setting) -> None:
    with setting.applied():
        check_steps(sample, seed, 8, 4)


@given(rank_samples(), SEEDS, SETTINGS)
@examples(60)
def test_counts_by_rank(sample: Sample, seed: int, setting: Setting) -> None:
    with setting.applied():
        check_steps(sample, seed, 8, 3)


@given(lift_samples(), SEEDS, SETTINGS)
@examples(60)
def test_shared_sub_joins(sample: Sample, seed: int, setting: Setting) -> None:
    with setting.applied():
        check_steps(sample, seed, 8, 4)


@given(wide_samples(), SEEDS, SETTINGS)
@examples(30)
def test_many_facts(sample: Sample, seed: int, setting: Setting) -> None:
    with setting.applied():
        check_steps(sample, seed, 8, 10)
