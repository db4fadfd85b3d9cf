"""Differences of policies on Spark: the same facts come and go, by the same rules."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.cli.commands.diff import GENERATED
from lacec.core.predicates import Predicate
from lacec.explain.policy_diff import MOST_EXPLAINED, Difference
from lacec.explain.policy_diff import difference as difference_here
from lacec.explain.provenance import explain_module, explain_plan
from lacec.pipeline import compile_module
from lacec.plan.expose import LocalPolicy
from lacec.spark.difference import difference, run_module, run_plan
from lacec.spark.machine import Settings
from lacec.spark.rows import Row
from lacec.vm.sources import TupleSource, load
from tests.cli.run import lacec
from tests.helpers import examples
from tests.plan.pairs import EVERYTHING, exposing, plan_of
from tests.plan.strategies import Setup, setups
from tests.spark.corpora import over_rows, rows_of
from tests.spark.quick import SETTINGS, SPARK_ONLY, Quick
from tests.vm.strategies import Facts, Sample, samples

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
some_settings = st.sampled_from(SETTINGS)


def same(found: Difference, expected: Difference, most: int = MOST_EXPLAINED) -> None:
    """All but why not, which is not said of a corpus."""
    told = tuple(replace(change, why_not=None) for change in expected.changes[:most])
    assert found == replace(expected, changes=told)


def check_modules(
    quick: Quick,
    texts: tuple[str, str],
    facts: Facts,
    settings: Settings,
    rows: list[Row] | None = None,
    most: int = MOST_EXPLAINED,
) -> Difference:
    old, new = (compile_module([(name, text)]) for name, text in zip("ab", texts, strict=True))
    told, everything = quick.facts(facts, rows)
    derived = {each for module in (old, new) for group in module.groups for each in group}
    # What the last rules make, which rests on all others.
    asked = sorted(derived)[-2:]
    deciders = {predicate: (predicate,) for predicate in asked}
    whys = [explain_module(module, load(TupleSource(everything))) for module in (old, new)]
    evaluator = quick.evaluator(told, settings)
    policies = [run_module(evaluator, module, deciders) for module in (old, new)]
    found, table = difference(evaluator, policies[0], policies[1], deciders, most)
    same(found, difference_here(whys[0], whys[1], deciders), most)
    assert table.count() == found.came + found.went
    return found


def without_a_rule(text: str, number: int) -> str:
    """The program with a rule less, but for the last one of a predicate."""
    lines = text.splitlines()
    heads = [line.partition("(")[0] for line in lines]
    at = number % len(lines)
    return text if heads.count(heads[at]) < 2 else "\n".join(lines[:at] + lines[at + 1 :])


@given(samples(), st.integers(0, 7), some_settings)
@examples(3)
def test_random_programs_of_which_one_has_a_rule_less(
    quick: Quick, sample: Sample, number: int, settings: Settings
) -> None:
    text = over_rows(sample.text)
    texts = (without_a_rule(text, number), text)
    check_modules(quick, texts, sample.facts, settings, rows_of(sample.facts))


@pytest.mark.soak
@given(samples(), st.integers(0, 7), some_settings, st.booleans())
@examples(200)
def test_many_random_programs(
    quick: Quick, sample: Sample, number: int, settings: Settings, told: bool
) -> None:
    text = over_rows(sample.text) if told else sample.text
    texts = (text, without_a_rule(text, number))
    check_modules(quick, texts, sample.facts, settings, rows_of(sample.facts) if told else None)


EDGE = Predicate("Edge", 2)
PATH = "Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Edge(Y,Z).\n"
LOOP = "Loops() :- Path(X,X).\n"


def test_recursive_rules_decide_all_that_they_make(quick: Quick) -> None:
    """A rule decides what it makes of everything there is, whatever the round."""
    edges: Facts = {EDGE: [("1", "2"), ("1", "3"), ("2", "1")]}
    old = PATH.replace("Edge(Y,Z)", "Edge(Y,Z), X != '1'") + LOOP.replace("X,X", "'9','9'")
    found = check_modules(quick, (old, PATH + LOOP), edges, SPARK_ONLY, most=1)
    assert (found.came, found.went, len(found.changes)) == (2, 0, 1)


def check_plans(
    quick: Quick, setup: Setup, other: str, settings: Settings, *, told: bool = True
) -> Difference:
    """One side as it was and with another operand of its own."""
    policy = LocalPolicy(
        tuple(exposing(over_rows(text)) for text in setup.exposures),
        narrow=tuple(exposing(over_rows(text)) for text in setup.narrow),
    )
    operands = [over_rows(text) for text in setup.operands]
    changed = list(operands)
    changed[setup.side] = over_rows(other)
    programs = [plan_of(*some).side(setup.side, policy) for some in (operands, changed)]
    rows = rows_of(setup.facts)
    facts, everything = quick.facts(setup.facts, rows if told else None, rows[1:] if told else None)
    whys = [explain_plan(program, load(TupleSource(everything))) for program in programs]
    evaluator = quick.evaluator(facts, settings)
    policies = [run_plan(evaluator, program, GENERATED) for program in programs]
    found, _ = difference(evaluator, policies[0], policies[1], GENERATED)
    same(found, difference_here(whys[0], whys[1], GENERATED))
    return found


@given(setups(), some_settings)
@examples(2)
def test_random_plans_against_one_that_selects_everything(
    quick: Quick, setup: Setup, settings: Settings
) -> None:
    check_plans(quick, setup, EVERYTHING, settings)


@pytest.mark.soak
@given(setups(), setups(), some_settings)
@examples(100)
def test_many_random_plans(quick: Quick, setup: Setup, other: Setup, settings: Settings) -> None:
    check_plans(quick, setup, other.operands[setup.side], settings)


def test_the_command_says_what_diff_says(
    quick: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("links.lace", "links-moved.lace", "links.facts"):
        shutil.copy(EXAMPLES / name, name)
    given = ("links.lace", "links-moved.lace", "--facts", "links.facts")
    here = lacec("diff", *given, "--json").document
    outcome = lacec("spark", "diff", *given, "--out", "found", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    for change in here["changes"]:
        change["why_not"] = None
    assert outcome.document == here
    table = (
        quick.session.read.parquet(str(tmp_path / "found/changes.parquet"))
        .orderBy("change")
        .collect()
    )
    assert [(row.change, row.predicate, row.fact) for row in table] == [
        ("came", "Selected/1", ["S.3"]),
        ("went", "Selected/1", ["S.1"]),
    ]
    assert [row.rules for row in table] == [[r["id"] for r in c["rules"]] for c in here["changes"]]


def test_mistakes_are_told_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.lace").write_text("Selected(P) :- Have(Q).\n", encoding="utf-8")
    Path("good.lace").write_text("Selected(P) :- Have(P).\n", encoding="utf-8")
    told = lacec("spark", "diff", "bad.lace", "good.lace", "--json")
    assert told.code == 1
    assert "unbound-variable" in {each["name"] for each in told.document["diagnostics"]}
    assert lacec("spark", "diff", "good.lace", "good.lace", "--side", "1").code == 2
    assert lacec("spark", "diff", "good.lace", "good.lace", "--query", "Other/1").code == 2
