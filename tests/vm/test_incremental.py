"""Incremental evaluation: after every change the same as full evaluation, on random programs.

A sample is a program, facts to begin with, and steps; each step removes and adds some facts.
Set LACEC_EXAMPLES to a number to run that many times as many programs.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from lacec import engine
from lacec.canonical.module import Module
from lacec.changing import live_program
from lacec.errors import CancelledError, LimitError
from lacec.limits import DEFAULT_LIMITS, Limits
from lacec.pipeline import compile_module
from lacec.predicates import Predicate
from lacec.vm import incremental, kept, machine
from lacec.vm.base import Base, Changes
from lacec.vm.incremental import Incremental
from lacec.vm.sources import TupleSource, load
from tests import slow
from tests.helpers import examples
from tests.vm.changes import Mirror, Pool, as_sets
from tests.vm.strategies import (
    Row,
    Sample,
    lift_samples,
    rank_samples,
    samples,
    wide_samples,
)

MOST_STEPS = 100_000
Facts = Mapping[Predicate, Iterable[Row]]


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


def compiled(sample: Sample) -> Module:
    return compile_module([("sample", sample.text)])


def outputs_of(sample: Sample, seed: int) -> list[Predicate] | None:
    """All that is derived, or some of it."""
    random = Random(seed)
    derived = sample.derived
    return (
        None if random.random() < 0.5 else random.sample(derived, random.randint(1, len(derived)))
    )


def check_steps(sample: Sample, seed: int, steps: int, most: int) -> None:
    """After every step the outputs and the state are those of a full evaluation."""
    module, wanted, pool = compiled(sample), outputs_of(sample, seed), Pool(sample.facts, seed)
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


# Limits.


def chain(length: int) -> list[Row]:
    return [(f"{n}", f"{n + 1}") for n in range(length)]


EDGE = Predicate("Edge", 2)
REACH = "Reach('0') :- true.\nReach(Y) :- Reach(X), Edge(X,Y)."


def program_of(
    text: str, facts: Facts, limits: Limits = DEFAULT_LIMITS
) -> tuple[Base, Incremental]:
    base = Base(load(TupleSource(facts)))
    program = live_program(compile_module([("test", text)]), [base], limits=limits)
    program.apply()
    return base, program


def test_rounds_are_those_of_full_evaluation() -> None:
    """D12: a chain that grows by one edge at a time meets the limit where evaluation does."""
    limits = Limits(iterations=12)
    base, program = program_of(REACH, {EDGE: chain(3)}, limits)
    for length in range(4, 11):
        program.apply(base.apply({EDGE: chain(length)}))
        engine.evaluate(program_module(), load(TupleSource({EDGE: chain(length)})), limits=limits)
    with pytest.raises(LimitError, match="iterations") as met:
        program.apply(base.apply({EDGE: chain(11)}))
    with pytest.raises(LimitError) as expected:
        engine.evaluate(program_module(), load(TupleSource({EDGE: chain(11)})), limits=limits)
    assert str(met.value) == str(expected.value)


def program_module() -> Module:
    return compile_module([("test", REACH)])


def test_the_rounds_that_are_known_are_those_that_a_chain_grew_by() -> None:
    """Growing and shrinking for long evaluates the group anew now and then, and goes on."""
    base, program = program_of(REACH, {EDGE: chain(3)}, Limits(iterations=8))
    for _ in range(20):
        program.apply(base.apply({EDGE: chain(5)}))
        program.apply(base.apply({}, {EDGE: chain(5)[3:]}))
    assert program.relation(Predicate("Reach", 1)).size == 4


def test_an_evaluation_that_is_cancelled_leaves_a_machine_that_works() -> None:
    wish = False
    base = Base(load(TupleSource({EDGE: chain(3)})))
    module = program_module()
    program = live_program(module, [base], cancelled=lambda: wish)
    program.apply()
    wish = True
    with pytest.raises(CancelledError):
        program.apply(base.apply({EDGE: chain(5)}))
    wish = False
    mirror = Mirror(base.symbols)
    mirror.facts[Predicate("Reach", 1)] = {(f"{n}",) for n in range(4)}
    mirror.hear(program.apply(base.apply({EDGE: chain(6)})))
    assert mirror.facts[Predicate("Reach", 1)] == {(f"{n}",) for n in range(7)}


def test_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    base, program = program_of(REACH, {EDGE: chain(3)}, Limits(seconds=1))
    moments = iter(range(0, 10**6, 2))
    monkeypatch.setattr(incremental, "monotonic", lambda: next(moments))
    monkeypatch.setattr(machine, "monotonic", lambda: next(moments))
    with pytest.raises(LimitError, match="seconds"):
        program.apply(base.apply({EDGE: chain(5)}))


# What a change costs.


RULES = "\n".join(f"R{n}(P) :- Have(P), Field(P,'Name',_,'n{n}'), not Bad(P)." for n in range(50))
HAVE, FIELD = Predicate("Have", 1), Predicate("Field", 4)


def rows_looked_at(program: Incremental, change: Changes) -> int:
    """In the groups that a change reaches."""
    looked = []
    with pytest.MonkeyPatch.context() as patch:
        real = program._change_group

        def change_group(number: int) -> None:
            real(number)
            looked.append(program._rows)

        patch.setattr(program, "_change_group", change_group)
        program.apply(change)
    return sum(looked)


@pytest.mark.parametrize("records", [10, 1_000])
def test_a_record_wakes_the_rules_that_name_its_constants(records: int) -> None:
    facts: Facts = {
        HAVE: [(f"{n}",) for n in range(records)],
        FIELD: [(f"{n}", "Name", "0", f"n{n % 50}") for n in range(records)],
    }
    base, program = program_of(RULES, facts)
    change = base.apply({FIELD: [("0", "Name", "1", "n7")]})
    assert rows_looked_at(program, change) == 2  # Have and Bad, of one rule
    change = base.apply({}, {FIELD: [("0", "Name", "1", "n7")]})
    assert 2 <= rows_looked_at(program, change) <= 6


def test_one_witness_is_enough() -> None:
    """A signer of a thousand records loses one, and is checked by looking at one other."""
    facts: Facts = {
        HAVE: [(f"{n}",) for n in range(1_000)],
        FIELD: [(f"{n}", "Signed-By", "0", "V") for n in range(1_000)],
    }
    base, program = program_of("Signer(V) :- Have(P), Field(P,'Signed-By',_,V).", facts)
    change = base.apply({}, {HAVE: [("500",)]})
    assert rows_looked_at(program, change) < 10


def test_much_that_changes_is_evaluated_anew() -> None:
    facts: Facts = {HAVE: [(f"{n}",) for n in range(20_000)], Predicate("On", 0): [()]}
    base, program = program_of("A(P) :- Have(P), On().", facts)
    off = program.apply(base.apply({}, {Predicate("On", 0): [()]}))
    assert len(off[Predicate("A", 1)].removed) == 20_000
    on = program.apply(base.apply({Predicate("On", 0): [()]}))
    assert len(on[Predicate("A", 1)].added) == 20_000
