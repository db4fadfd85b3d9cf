"""The engine against the slow evaluator of tests/slow.py, on random programs and facts.

Set LACEC_EXAMPLES to a number to run that many times as many programs.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Code
from lacec.canonical.module import Module
from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.engine import evaluation
from lacec.pipeline import compile_module
from lacec.vm import fixpoint, kernels, machine, relation
from lacec.vm.database import Database
from lacec.vm.layers import Layer
from lacec.vm.relation import Ids
from lacec.vm.sources import TupleSource, load
from lacec.vm.symbols import Symbols
from lacec.vm.text import PADDING
from tests import slow
from tests.vm.strategies import (
    Row,
    Sample,
    lift_samples,
    rank_samples,
    samples,
    wide_samples,
)

SCALE = int(os.environ.get("LACEC_EXAMPLES", "1"))
MOST_STEPS = 100_000


def examples(count: int) -> settings:
    quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=count * SCALE, deadline=None, suppress_health_check=quiet)


def compiled(sample: Sample) -> Module:
    return compile_module([("sample", sample.text)])


def expected(sample: Sample) -> slow.Result:
    try:
        return slow.evaluate(sample.rules, sample.facts, MOST_STEPS)
    except slow.TooMuchWorkError:
        reject()


@dataclass(frozen=True)
class Setting:
    """What may change how the engine works, but never what it answers."""

    extra: int = 0  # symbols that no fact has
    bulk: bool = False  # symbols added as slices of bytes
    dense: int = relation.DENSE
    largest: int = fixpoint.Pairs.LARGEST
    by_size: bool = False  # joins ordered by the sizes of facts
    many_rows: int = machine.MANY_ROWS
    layered: bool = False  # symbols in a layer for each piece of facts

    @contextmanager
    def applied(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(relation, "DENSE", self.dense)
            patch.setattr(kernels, "DENSE", self.dense)
            patch.setattr(fixpoint.Pairs, "LARGEST", self.largest)
            patch.setattr(machine, "MANY_ROWS", self.many_rows)
            if self.by_size:
                patch.setattr(evaluation, "MANY_FACTS", 0)
            yield


PLAIN = Setting()
SPARSE = Setting(extra=1500, dense=0, largest=1)
LARGE = Setting(extra=1500, bulk=True)
settings_of_all_kinds = st.builds(
    Setting,
    extra=st.sampled_from((0, 0, 0, 1500)),
    bulk=st.booleans(),
    dense=st.sampled_from((0, 1, 16, 10**6)),
    largest=st.sampled_from((0, 1, 2, 13)),
    by_size=st.booleans(),
    many_rows=st.sampled_from((0, 1, 3, 2**20)),
    layered=st.booleans(),
)


def intern_rows(database: Database, rows: Sequence[Row], bulk: bool) -> Ids:
    values = [value for row in rows for value in row]
    if not bulk:
        return database.symbols.intern_all(values)
    encoded = [value.encode("utf-8") for value in values]
    data = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)
    lengths = np.array([len(value) for value in encoded], np.int64)
    ends = np.cumsum(lengths)
    return database.symbols.intern_slices(data, ends - lengths, ends)


def add_rows(database: Database, predicate: Predicate, rows: Sequence[Row], bulk: bool) -> None:
    if predicate.arity == 0:
        database.add(predicate, (), len(rows))
    elif rows:
        ids = intern_rows(database, rows, bulk).reshape(-1, predicate.arity)
        database.add(predicate, list(np.ascontiguousarray(ids.T)))


def database_of(sample: Sample, setting: Setting = PLAIN) -> Database:
    """The facts in two pieces that share one, among symbols that nobody uses."""
    database, layers = Database(), list[Layer]()
    database.symbols.intern_all([f"extra {n}" for n in range(setting.extra)])
    for predicate, rows in sample.facts.items():
        for piece in (rows[:3], rows[2:]):
            add_rows(database, predicate, piece, setting.bulk)
            if setting.layered:
                layers.append(database.symbols.frozen())
                database.symbols = Symbols(layers)
    return database


def check(sample: Sample, *settings: Setting, outputs: Sequence[Predicate] | None = None) -> None:
    """Every output is what the slow evaluator says, each tuple once, in each setting."""
    facts, module = expected(sample).facts, compiled(sample)
    for setting in settings or (PLAIN,):
        with setting.applied():
            found = evaluation.evaluate(module, database_of(sample, setting), outputs)
            assert sorted(found.relations) == sorted(sample.derived if outputs is None else outputs)
            for predicate in found.relations:
                assert found.facts(predicate) == sorted(facts[predicate])
                assert found.count(predicate) == len(facts[predicate])


def chosen(sample: Sample, choice: int) -> list[Predicate]:
    """Some of the derived predicates, by the bits of a number."""
    return [p for place, p in enumerate(sample.derived) if choice >> place & 1]


choices_of_outputs = st.integers(0, 2**9)


@given(samples())
@examples(1200)
def test_all_outputs(sample: Sample) -> None:
    check(sample)


@given(samples(), choices_of_outputs)
@examples(400)
def test_some_outputs(sample: Sample, choice: int) -> None:
    check(sample, outputs=chosen(sample, choice))


@given(samples())
@examples(300)
def test_joins_ordered_by_sizes_many_symbols_and_sparse_paths(sample: Sample) -> None:
    check(sample, Setting(by_size=True), LARGE, SPARSE)


@given(samples(), settings_of_all_kinds, choices_of_outputs)
@examples(700)
def test_all_settings_mixed(sample: Sample, setting: Setting, choice: int) -> None:
    check(sample, setting, outputs=chosen(sample, choice))


@given(wide_samples(), settings_of_all_kinds)
@examples(70)
def test_many_facts(sample: Sample, setting: Setting) -> None:
    check(sample, setting)


@given(rank_samples(), settings_of_all_kinds)
@examples(900)
def test_counts_of_comparisons(sample: Sample, setting: Setting) -> None:
    outputs = [predicate for predicate in sample.derived if predicate.name != "Newer"]
    check(sample, setting, outputs=outputs)


@given(rank_samples())
@examples(100)
def test_counts_of_comparisons_that_are_outputs_too(sample: Sample) -> None:
    check(sample)


@given(lift_samples(), settings_of_all_kinds)
@examples(600)
def test_shared_sub_joins(sample: Sample, setting: Setting) -> None:
    check(sample, setting)


@given(samples())
@examples(300)
def test_iterations_are_rounds(sample: Sample) -> None:
    """Every group may have as many rounds as it needs, and not one fewer."""
    rounds = max(expected(sample).rounds.values(), default=0)
    module, database = compiled(sample), database_of(sample)
    evaluation.evaluate(module, database, limits=Limits(iterations=rounds))
    if rounds:
        with pytest.raises(LimitError) as caught:
            evaluation.evaluate(module, database, limits=Limits(iterations=rounds - 1))
        error = caught.value
        assert (error.name, error.limit, error.count) == ("iterations", rounds - 1, rounds)


@given(st.one_of(samples(), lift_samples()))
@examples(300)
def test_derived_facts_are_counted_by_predicate(sample: Sample) -> None:
    """Only facts of predicates that the source names count, each once."""
    most = max(len(rows) for rows in expected(sample).facts.values())
    module, database = compiled(sample), database_of(sample)
    evaluation.evaluate(module, database, limits=Limits(derived_facts=most))
    if most:
        with pytest.raises(LimitError) as caught:
            evaluation.evaluate(module, database, limits=Limits(derived_facts=most - 1))
        assert (caught.value.name, caught.value.limit) == ("derived_facts", most - 1)
        assert caught.value.count >= most


@given(samples(), samples(), settings_of_all_kinds)
@examples(200)
def test_one_database_serves_many_programs(sample: Sample, other: Sample, setting: Setting) -> None:
    """What a relation keeps for the next time stays right when symbols are added."""
    with setting.applied():
        database = database_of(sample, setting)
        for program in (sample, other, sample):
            facts = expected(Sample(program.rules, sample.facts)).facts
            found = evaluation.evaluate(compiled(program), database)
            for predicate in program.derived:
                assert found.facts(predicate) == sorted(facts[predicate])


@given(samples(), samples(), st.booleans())
@examples(150)
def test_facts_added_between_evaluations(sample: Sample, other: Sample, bulk: bool) -> None:
    database = database_of(sample)
    module = compiled(sample)
    evaluation.evaluate(module, database)
    for predicate, rows in other.facts.items():
        add_rows(database, predicate, rows, bulk)
    both = {p: [*sample.facts[p], *other.facts[p]] for p in sample.facts}
    facts = expected(Sample(sample.rules, both)).facts
    found = evaluation.evaluate(module, database)
    for predicate in sample.derived:
        assert found.facts(predicate) == sorted(facts[predicate])


CLOSURE = """\
Path(X,Y) :- Edge(X,Y).
Path(X,Z) :- Path(X,Y), Edge(Y,Z).
"""


@pytest.mark.parametrize("largest", [13, 8, 7, 6, 0])
@pytest.mark.parametrize("nodes", [20, 63, 65, 150, 300])
def test_closures_that_outgrow_a_table(
    nodes: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of pairs grows, and gives way to sorted runs where there are too many values."""
    monkeypatch.setattr(fixpoint.Pairs, "LARGEST", largest)
    random = Random(nodes)
    edges = {(random.randrange(nodes), random.randrange(nodes)) for _ in range(nodes)}
    edges |= {(n, n + 1) for n in range(0, nodes - 1, 2)}
    facts = {Predicate("Edge", 2): [(f"n{a}", f"n{b}") for a, b in sorted(edges)]}
    found = evaluation.evaluate(compile_module([("closure", CLOSURE)]), load(TupleSource(facts)))
    paths = [(f"n{a}", f"n{b}") for a in range(nodes) for b in reached(a, edges)]
    assert found.facts(Predicate("Path", 2)) == sorted(paths)


def reached(start: int, edges: set[tuple[int, int]]) -> set[int]:
    """The ends of all paths from a node."""
    ends: dict[int, list[int]] = {}
    for a, b in edges:
        ends.setdefault(a, []).append(b)
    found: set[int] = set()
    queue = [start]
    while queue:
        new = [end for end in ends.get(queue.pop(), []) if end not in found]
        found.update(new)
        queue.extend(new)
    return found


# The strategies above are only worth their time if they reach the special paths.

NEWER = """\
Newer(P,Q) :- Item(P,T), Item(Q,T), LexCompare(Q,'>',P).
Newer(P,Q) :- Item(P,T), Item(Q,U), LexCompare(U,'>',T).
Latest(P) :- Item(P,_), Cardinality(Newer(P,_),'<','2').
"""
SHARED = """\
A(P) :- Have(P), Field(P,'Group',I,'u'), Edge(P,Q), not Have(Q).
B(P) :- Field(P,'Group',J,'u'), Have(P), not Edge(P,P).
"""


def opcodes_of(code: Code) -> set[int]:
    return {instruction[0] for block in code.blocks for instruction in block.instructions}


def test_the_example_of_030_is_counted_by_rank() -> None:
    rows = [(f"r{n}", "same" if n < 3 else f"t{n}") for n in range(6)]
    database = load(TupleSource({Predicate("Item", 2): rows}))
    latest = Predicate("Latest", 1)
    module = compile_module([("newer", NEWER)])
    found = evaluation.evaluate(module, database, [latest], Limits(derived_facts=2))
    assert op.RANK in opcodes_of(found.code)
    assert found.facts(latest) == [("r4",), ("r5",)]


def test_a_key_with_two_values_is_counted_the_general_way() -> None:
    rows = [("r0", "t0"), ("r1", "t1"), ("r1", "t3"), ("r2", "t2")]
    database = load(TupleSource({Predicate("Item", 2): rows}))
    latest = Predicate("Latest", 1)
    found = evaluation.evaluate(compile_module([("newer", NEWER)]), database, [latest])
    assert op.RANK in opcodes_of(found.code)
    # Newer(r0,r1), (r0,r2), (r1,r2), (r2,r1), (r1,r1): r1 and t1 against t3.
    assert found.facts(latest) == [("r2",)]


def test_a_shared_sub_join_becomes_a_predicate() -> None:
    found = evaluation.evaluate(compile_module([("shared", SHARED)]), Database())
    assert [p.name for p in found.code.predicates if p.name.startswith("+")] == ["+1"]


def test_variables_of_a_shared_sub_join_stay_apart() -> None:
    """I and J are free of each other, also in the predicate that both rules share."""
    text = """\
A(P) :- Field(P,'Group',I,'u'), Field(P,'Name',J,'n'), not Edge(P,P).
B(P) :- Field(P,'Group',I,'u'), Field(P,'Name',J,'n'), not Edge(P,'x').
"""
    facts = {Predicate("Field", 4): [("r", "Group", "0", "u"), ("r", "Name", "1", "n")]}
    found = evaluation.evaluate(compile_module([("apart", text)]), load(TupleSource(facts)))
    assert found.facts(Predicate("A", 1)) == found.facts(Predicate("B", 1)) == [("r",)]


def test_a_count_is_compared_with_a_bound_of_any_size() -> None:
    text = f"A(P) :- Have(P), Cardinality(Field(P,_,_,_),'<','{'9' * 30}')."
    rows = [("r", "Name", str(n), "v") for n in range(2)]
    facts: dict[Predicate, list[Row]] = {
        Predicate("Have", 1): [("r",), ("s",)],
        Predicate("Field", 4): [*rows],
    }
    found = evaluation.evaluate(compile_module([("bound", text)]), load(TupleSource(facts)))
    assert found.facts(Predicate("A", 1)) == [("r",), ("s",)]
