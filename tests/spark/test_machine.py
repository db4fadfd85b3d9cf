"""The machine on Spark: every answer is that of the NumPy machine."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.engine import evaluation
from lacec.engine.side import evaluate_side
from lacec.pipeline import compile_module
from lacec.plan.expose import LocalPolicy
from lacec.spark.evaluate import Evaluator, collect
from lacec.spark.evaluate import Facts as SparkFacts
from lacec.spark.machine import Settings
from lacec.spark.scratch import Work
from lacec.spark.tables import records_frame
from lacec.vm.database import Database
from lacec.vm.sources import TupleSource, load
from tests.bench.corpus import make_corpus
from tests.bench.spark import write_corpus
from tests.bench.workloads import LATEST_OF_ALL, MEMBERSHIP, SELECTION, SUPPORT
from tests.helpers import examples
from tests.plan.pairs import exposing, plan_of
from tests.spark.corpora import over_rows, rows_of
from tests.spark.quick import SETTINGS, SPARK_ONLY, Quick, compiled, hashes
from tests.vm.strategies import Facts, Sample, lift_samples, rank_samples, samples

some_settings = st.sampled_from(SETTINGS)


@given(samples(), some_settings)
@examples(4)
def test_random_programs(quick: Quick, sample: Sample, settings: Settings) -> None:
    quick.check(sample.text, sample.facts, settings)


@given(samples(), some_settings)
@examples(6)
def test_random_programs_over_rows_of_records(
    quick: Quick, sample: Sample, settings: Settings
) -> None:
    quick.check(over_rows(sample.text), sample.facts, settings, rows_of(sample.facts))


@given(lift_samples(), some_settings)
@examples(3)
def test_shared_sub_joins_over_rows_of_records(
    quick: Quick, sample: Sample, settings: Settings
) -> None:
    quick.check(over_rows(sample.text), sample.facts, settings, rows_of(sample.facts))


@given(rank_samples(), some_settings)
@examples(3)
def test_counts_of_comparisons(quick: Quick, sample: Sample, settings: Settings) -> None:
    quick.check(sample.text, sample.facts, settings)


@pytest.mark.soak
@given(samples(), lift_samples(), rank_samples(), some_settings)
@examples(400)
def test_many_random_programs(
    quick: Quick, one: Sample, two: Sample, three: Sample, settings: Settings
) -> None:
    quick.check(one.text, one.facts, settings)
    for sample in (one, two):
        quick.check(over_rows(sample.text), sample.facts, settings, rows_of(sample.facts))
    quick.check(three.text, three.facts, settings)


CHAIN = "Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Edge(Y,Z)."
EDGE = Predicate("Edge", 2)


@pytest.mark.parametrize("settings", SETTINGS)
def test_030_iterations_are_limited_as_on_the_numpy_machine(
    quick: Quick, settings: Settings
) -> None:
    edges: Facts = {EDGE: [(str(n), str(n + 1)) for n in range(3)]}
    told, _ = quick.facts(edges, None)
    module = compile_module([("chain", CHAIN)])
    enough, few = Limits(iterations=4), Limits(iterations=3)
    evaluation.evaluate(module, load(TupleSource(edges)), limits=enough)
    quick.evaluator(told, settings, enough).evaluate(module)
    with pytest.raises(LimitError) as expected:
        evaluation.evaluate(module, load(TupleSource(edges)), limits=few)
    with pytest.raises(LimitError) as found:
        quick.evaluator(told, settings, few).evaluate(module)
    assert str(found.value) == str(expected.value)


def test_d12_facts_are_not_counted(quick: Quick) -> None:
    edges: Facts = {EDGE: [(str(n), str(n + 1)) for n in range(3)]}
    told, _ = quick.facts(edges, None)
    module = compile_module([("chain", CHAIN)])
    limits = Limits(base_facts=1, derived_facts=1, intermediate_rows=1)
    found = collect(quick.evaluator(told, SPARK_ONLY, limits).evaluate(module))
    assert len(found[Predicate("Path", 2)]) == 6


NUMBERS = ("0", "-0", "00", "7", "007", "-7", "10", "9" * 38, "1" + "0" * 38, "-1" + "0" * 38)
NO_NUMBERS = ("", "-", "+1", " 1", "1 ", "1\n", "1.0", "٣", "1e3", "--1")


def test_d9_integers_of_any_length_compare_as_on_the_numpy_machine(quick: Quick) -> None:
    values = [*NUMBERS, *NO_NUMBERS, "9" * 1000, "-" + "9" * 1000]
    facts: Facts = {Predicate("Value", 1): [(value,) for value in values]}
    signs = {"Less": "<", "Same": "<=", "More": ">", "Most": ">="}
    text = "\n".join(
        f"{name}(X,Y) :- Value(X), Value(Y), IntCompare(X,'{sign}',Y)."
        for name, sign in signs.items()
    )
    quick.check(text, facts, SPARK_ONLY)


def test_what_a_record_alone_decides_needs_no_shuffle(
    quick: Quick, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A selection over rows of records is one scan with conditions, through its helpers too."""
    text = (
        "Link(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Name',_,K), "
        "TextShape(K,'links/','','').\n"
        "Tagged(P) :- Have(P), Field(P,'Tag',_,'x').\n"
        "Tagged(P) :- Have(P), RecordLink(P,_,_,_,'S.1').\n"
        "Selected(P) :- Link(P), not Tagged(P), Cardinality(Field(P,'Tag',_,_),'<','3')."
    )
    folder = tmp_path / "rows"
    records_frame(quick.session, []).write.parquet(str(folder))
    told = SparkFacts(quick.session.read.parquet(str(folder)))
    frames = quick.evaluator(told, Settings()).evaluate(compile_module([("links", text)]))
    frames[Predicate("Selected", 1)].explain("formatted")
    plan = capsys.readouterr().out
    assert "Filter" in plan
    assert "Exchange" not in plan
    assert "Join" not in plan


SELECTOR = (
    "SelectHave(P) :- Have(P), Field(P,'Name',_,K), TextShape(K,'links/','','').\n"
    "SelectAdvertised(P,S) :- Advertised(P,S)."
)
ALLOW = "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'u')."


def test_a_corpus_of_a_hundred_thousand_records(spark: SparkSession, tmp_path: Path) -> None:
    """Selected, evidenced, linked and latest ones, and one side of a plan; on compiled code."""
    write_corpus(tmp_path, 100_000)
    database = make_corpus(100_000, seed=0).database()
    records = Database(database.symbols, {p: database.relation(p) for p in RECORD_FACTS})
    with compiled(spark):
        facts = SparkFacts(spark.read.parquet(str(tmp_path / "records")))
        evaluator = Evaluator(spark, facts, Work(spark, str(tmp_path / "work")))
        for workload in (SELECTION, MEMBERSHIP, SUPPORT, LATEST_OF_ALL):
            module = compile_module([(workload.name, workload.source)])
            found = evaluator.evaluate(module, [workload.output])
            expected = evaluation.evaluate(module, database, [workload.output]).facts(
                workload.output
            )
            assert len(expected) >= 100
            assert collect(found) == {workload.output: expected}
        program = plan_of(SELECTOR, SELECTOR).side(0, LocalPolicy((exposing(ALLOW),)))
        here, side = evaluate_side(program, records), evaluator.side(program)
        sent = hashes(send=side.may_send, query=side.can_query)
        assert (sent["send"], sent["query"]) == (here.may_send, here.can_query)
        assert 0 < len(here.may_send) < len(here.can_query) < 100_000
