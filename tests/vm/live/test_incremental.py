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

from lacec.canonical.module import Module
from lacec.core.errors import CancelledError, LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.engine import evaluation
from lacec.engine.live import live_program
from lacec.pipeline import compile_module
from lacec.vm import machine
from lacec.vm.live import incremental, live_rank, overlay, sorted_rows
from lacec.vm.live.incremental import Incremental
from lacec.vm.live.live_facts import Base, Changes
from lacec.vm.sources import TupleSource, load
from tests import slow
from tests.helpers import examples
from tests.vm.live.changes import Mirror, Pool, as_sets
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
    settle: int = overlay.MANY
    short: int = overlay.SHORT

    @contextmanager
    def applied(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(incremental, "MANY_ROWS", self.many_rows)
            patch.setattr(incremental, "MANY_REMOVED", self.many_removed)
            patch.setattr(overlay, "MANY", self.settle)
            patch.setattr(overlay, "SHORT", self.short)
            yield


SETTINGS = st.builds(
    Setting,
    st.sampled_from([incremental.MANY_ROWS, 10**9, 5]),
    st.sampled_from([incremental.MANY_REMOVED, 10**9, 0]),
    st.sampled_from([overlay.MANY, 0, 3]),
    st.sampled_from([overlay.SHORT, 0, 1]),
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


# Counts by rank, of keys that have one row, mostly.


@dataclass(frozen=True)
class Latest:
    """So many that are before or after all others: by a column, then by the key or not."""

    test: str
    operator: str
    then: str  # how keys compare where the column is equal; none if empty
    within: bool  # of each group, or of all
    counted: str  # Item, or another predicate that is counted
    keep: str
    bound: int
    also: str  # what else is asked of those that are kept
    seed: int

    @property
    def text(self) -> str:
        own, other = ("G", "G") if self.within else ("_", "_")
        low, high = f"Item(P,{own},T)", f"{self.counted}(Q,{other},U)"
        rules = [f"Newer(P,Q) :- {low}, {high}, {self.test}(U,'{self.operator}',T)."]
        if self.then:
            high = f"{self.counted}(Q,{other},T)"
            rules.append(f"Newer(P,Q) :- {low}, {high}, LexCompare(Q,'{self.then}',P).")
        count = f"Cardinality(Newer(P,_),'{self.keep}','{self.bound}')"
        return "\n".join([*rules, f"Latest(P,T) :- Item(P,_,T), {count}{self.also}."])


OPERATORS = st.sampled_from(["<", ">", "<=", ">="])
ALSO = (
    "",
    ", Wanted(P)",
    ", not Wanted(P)",
    ", Wanted(P), Cardinality(Newer(P,_),'>','0')",
    ".\nLatest(P,'again') :- Wanted(P), Cardinality(Newer(P,_),'<=','1')",
)
LATESTS = st.builds(
    Latest,
    st.sampled_from(["LexCompare", "IntCompare"]),
    OPERATORS,
    OPERATORS | st.just(""),
    st.booleans(),
    st.sampled_from(["Item", "Item", "Other"]),
    OPERATORS,
    st.integers(-1, 4),
    st.sampled_from(ALSO),
    SEEDS,
)
LATEST = Predicate("Latest", 2)
TIMES = ("0", "1", "2", "3", "10", "11", "-4")


def some_item(random: Random, facts: set[Row]) -> tuple[set[Row], set[Row]]:
    """What is added and removed: one row for each key but seldom, and seldom an odd number."""
    key = f"k{random.randrange(20)}"
    old = {row for row in facts if row[0] == key}
    time = random.choice(TIMES) if random.random() < 0.98 else random.choice(("03", "x", "-0"))
    new: set[Row] = {(key, random.choice("ab"), time)} if random.random() < 0.6 else set()
    return new, set() if random.random() < 0.03 else old


@given(LATESTS, st.sampled_from([512, 2]))
@examples(80)
def test_latest_of_keys(latest: Latest, block: int) -> None:
    """After every step the same as the slow evaluator finds, whatever was kept in order."""
    random = Random(latest.seed)
    module = compile_module([("latest", latest.text)])
    rules = [rule.node for rule in module.rules]
    items = [Predicate(name, 3) for name in ("Item", "Other")]
    wanted = Predicate("Wanted", 1)
    facts: dict[Predicate, set[Row]] = {item: set() for item in items}
    facts[wanted] = set()
    base = Base(load(TupleSource(facts)))
    program = live_program(module, [base], [LATEST])
    mirror = Mirror(base.symbols)
    mirror.hear(program.apply())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_rows, "BLOCK", block)
        for _ in range(30):
            item = random.choice((*items, wanted))
            added, removed = some_item(random, facts[item])
            if item == wanted:
                added, removed = {row[:1] for row in added}, {row[:1] for row in removed}
            if random.random() < 0.05:
                program.drop()
            facts[item] = facts[item] - removed | added
            mirror.hear(program.apply(base.apply({item: added}, {item: removed})))
            expected = slow.evaluate(rules, facts, MOST_STEPS).facts
            assert mirror.facts.get(LATEST, set()) == expected[LATEST]


@pytest.mark.parametrize("odd", ["x", "03"])
def test_a_change_of_what_is_not_counted_before_and_after_one_that_is(odd: str) -> None:
    """The order is made when a count is first asked for; odd numbers have no place in it."""
    latest = Latest("IntCompare", ">", ">", False, "Item", "<", 1, ", Wanted(P)", 0)
    item, wanted = Predicate("Item", 3), Predicate("Wanted", 1)
    base, program = program_of(latest.text, {item: [("a", "g", "3")]}, outputs=[LATEST])
    mirror = Mirror(base.symbols)
    mirror.hear(program.apply(base.apply({wanted: [("a",)]})))
    assert mirror.facts[LATEST] == {("a", "3")}
    program.apply(base.apply({item: [("b", "g", odd)]}))
    mirror.hear(program.apply(base.apply({wanted: [("b",)]})))
    expected = {("a", "3"), ("b", odd)}  # no number is above x, and 03 is not above itself
    assert mirror.facts[LATEST] == expected


def test_many_rows_that_are_only_counted_are_work_for_the_machine() -> None:
    """They go into no order one by one, where no limit would be looked at meanwhile."""
    latest = Latest("IntCompare", ">", "", False, "Other", "<", 2, "", 0)
    item, other = Predicate("Item", 3), Predicate("Other", 3)
    base, program = program_of(latest.text, {item: [("a", "g", "3")]}, outputs=[LATEST])
    program.apply(base.apply({other: [("b", "g", "2")]}))
    change = base.apply({other: [(f"{n}", "g", "9") for n in range(live_rank.MANY + 1)]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_rank.Side, "move", None)
        program.apply(change)
    assert program.relation(LATEST).size == 0


# Limits.


def chain(length: int) -> list[Row]:
    return [(f"{n}", f"{n + 1}") for n in range(length)]


EDGE = Predicate("Edge", 2)
REACH = "Reach('0') :- true.\nReach(Y) :- Reach(X), Edge(X,Y)."


def program_of(
    text: str,
    facts: Facts,
    limits: Limits = DEFAULT_LIMITS,
    outputs: Iterable[Predicate] | None = None,
) -> tuple[Base, Incremental]:
    base = Base(load(TupleSource(facts)))
    program = live_program(compile_module([("test", text)]), [base], outputs, limits)
    program.apply()
    return base, program


def test_rounds_are_those_of_full_evaluation() -> None:
    """D12: a chain that grows by one edge at a time meets the limit where evaluation does."""
    limits = Limits(iterations=12)
    base, program = program_of(REACH, {EDGE: chain(3)}, limits)
    for length in range(4, 11):
        program.apply(base.apply({EDGE: chain(length)}))
        evaluation.evaluate(
            program_module(), load(TupleSource({EDGE: chain(length)})), limits=limits
        )
    with pytest.raises(LimitError, match="iterations") as met:
        program.apply(base.apply({EDGE: chain(11)}))
    with pytest.raises(LimitError) as expected:
        evaluation.evaluate(program_module(), load(TupleSource({EDGE: chain(11)})), limits=limits)
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

        def change_group(number: int, by_tuples: bool = True) -> None:
            assert by_tuples
            real(number, by_tuples)
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


@pytest.mark.parametrize("records", [100, 5_000])
def test_one_more_of_the_latest_is_told_without_looking_at_the_others(records: int) -> None:
    text = """\
Newer(P,Q) :- Item(P,T), Item(Q,T), LexCompare(Q,'>',P).
Newer(P,Q) :- Item(P,T), Item(Q,U), LexCompare(U,'>',T).
Latest(P) :- Item(P,_), Cardinality(Newer(P,_),'<','10').
"""
    item, latest = Predicate("Item", 2), Predicate("Latest", 1)
    base = Base(load(TupleSource({item: [(f"{n}", f"{n:05}") for n in range(records)]})))
    program = live_program(compile_module([("test", text)]), [base], [latest])
    program.apply()
    program.apply(base.apply({item: [("first", "1")]}))  # puts all in order
    assert rows_looked_at(program, base.apply({item: [("second", "2")]})) < 30
    assert rows_looked_at(program, base.apply({item: [("old", "")]})) < 30
    assert rows_looked_at(program, base.apply({}, {item: [("first", "1")]})) < 30
    assert program.relation(latest).size == 10


def test_much_that_changes_is_evaluated_anew() -> None:
    facts: Facts = {HAVE: [(f"{n}",) for n in range(20_000)], Predicate("On", 0): [()]}
    base, program = program_of("A(P) :- Have(P), On().", facts)
    off = program.apply(base.apply({}, {Predicate("On", 0): [()]}))
    assert len(off[Predicate("A", 1)].removed) == 20_000
    on = program.apply(base.apply({Predicate("On", 0): [()]}))
    assert len(on[Predicate("A", 1)].added) == 20_000
