"""Why and why not: every proof and every failure is checked by tests/proofs.py."""

import os
from collections.abc import Iterator

from hypothesis import HealthCheck, given, reject, settings

from lacec.explainer import Why, explain_module
from lacec.pipeline import compile_module
from lacec.predicates import Predicate
from lacec.proof import Fact
from lacec.vm.sources import TupleSource, load
from tests import slow
from tests.proofs import World, check_proof, check_why_not
from tests.vm.strategies import Sample, lift_samples, rank_samples, samples

SCALE = int(os.environ.get("LACEC_EXAMPLES", "1"))
MOST_STEPS = 50_000
MOST_FACTS = 30


def examples(count: int) -> settings:
    quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(
        max_examples=count * SCALE,
        deadline=None,
        suppress_health_check=quiet,
    )


def explained(sample: Sample) -> tuple[Why, World]:
    try:
        result = slow.evaluate(sample.rules, sample.facts, MOST_STEPS)
    except slow.TooMuchWorkError:
        reject()
    module = compile_module([("sample", sample.text)])
    database = load(TupleSource(sample.facts))
    base: slow.Facts = {predicate: set(rows) for predicate, rows in sample.facts.items()}
    return explain_module(module, database), World.of(sample.rules, base, result)


def some_facts(world: World, predicate: Predicate) -> Iterator[Fact]:
    for row in sorted(world.facts[predicate])[:MOST_FACTS]:
        yield Fact(predicate.name, row)


def check_sample(sample: Sample) -> None:
    found, world = explained(sample)
    for predicate in sample.derived:
        for fact in some_facts(world, predicate):
            proof = found.why(fact)
            assert proof is not None
            assert found.why_not(fact) is None
            check_proof(proof, world)


@given(samples())
@examples(150)
def test_every_proof_holds_step_by_step_with_the_fewest_rounds(sample: Sample) -> None:
    check_sample(sample)


@given(rank_samples())
@examples(60)
def test_proofs_count_what_was_counted_by_rank(sample: Sample) -> None:
    check_sample(sample)


@given(lift_samples())
@examples(60)
def test_proofs_know_nothing_of_shared_sub_joins(sample: Sample) -> None:
    check_sample(sample)


@given(samples())
@examples(100)
def test_all_proofs_at_once_hold_too(sample: Sample) -> None:
    found, world = explained(sample)
    for predicate in sample.derived:
        proofs = found.all(predicate)
        assert {fact.values for fact in proofs.facts} == world.facts[predicate]
        for number, proof in enumerate(proofs):
            if number < MOST_FACTS:
                check_proof(proof, world)


def absent_facts(sample: Sample, world: World) -> Iterator[Fact]:
    """Tuples of values that occur, and one that does not."""
    values = sorted({value for rows in world.facts.values() for row in rows for value in row})[:3]
    for predicate in sample.derived:
        rows: list[tuple[str, ...]] = [()]
        for _ in range(predicate.arity):
            rows = [(*row, value) for row in rows for value in (*values, "nowhere")][:20]
        for row in rows:
            fact = Fact(predicate.name, row)
            if not world.has(fact):
                yield fact


def check_absent(sample: Sample) -> None:
    found, world = explained(sample)
    for fact in absent_facts(sample, world):
        assert found.why(fact) is None
        failed = found.why_not(fact)
        assert failed is not None
        check_why_not(failed, world)


@given(samples())
@examples(150)
def test_every_failure_moves_on_when_what_it_says_is_mended(sample: Sample) -> None:
    check_absent(sample)


@given(rank_samples())
@examples(60)
def test_failures_count_what_was_counted_by_rank(sample: Sample) -> None:
    check_absent(sample)
