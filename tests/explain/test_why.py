"""Why and why not: every proof and every failure is checked by tests/explain/proofs.py."""

import os
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from hypothesis import HealthCheck, given, reject, settings

import lacec
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.explain.proof_tree import Check, Fact
from lacec.explain.provenance import Why, explain_module
from lacec.pipeline import compile_module
from lacec.vm.sources import TupleSource, load
from tests import slow
from tests.explain.proofs import World, check_proof, check_why_not
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
@examples(40)
def test_a_proof_that_takes_many_rows_is_found_in_columns_with_indexes(sample: Sample) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lacec.vm.provenance.row_solver.MANY_ROWS", 3)
        patch.setattr("lacec.vm.provenance.row_lookup.MANY_COMPARED", 3)
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


# Single cases.


def test_a_proof_as_deep_as_the_rounds_allow() -> None:
    module = lacec.compile("Reach(X) :- Root(X).\nReach(Y) :- Reach(X), Edge(X,Y).")
    edges = [(str(n), str(n + 1)) for n in range(998)]
    proof = lacec.why(module, {"Root": [("0",)], "Edge": edges}, "Reach('998')")
    assert proof is not None
    assert [step.round for step in proof.steps.values()] == list(range(999, 0, -1))


def test_a_proof_by_a_rule_as_long_as_the_limits_allow() -> None:
    length, limits = 1_200, Limits(literals=2_000)
    tests = "".join(f", X != '{n}'" for n in range(length))
    module = compile_module([("long", f"Other(X) :- E(X){tests}.")], limits=limits)
    facts = {Predicate("E", 1): [("a",)]}
    proof = explain_module(module, load(TupleSource(facts)), limits).why("Other('a')")
    assert proof is not None
    assert len(proof.steps[Fact("Other", ("a",))].because) == 1 + length


def test_what_is_used_many_times_is_proved_once() -> None:
    """As a tree this proof would have more facts than there are atoms in the world."""
    rules = ["P0() :- true."]
    rules += [f"P{n}() :- P{n - 1}(), P{n - 1}()." for n in range(1, 300)]
    proof = lacec.why(lacec.compile("\n".join(rules)), {}, "P299()")
    assert proof is not None
    assert len(proof.steps) == 300


def test_the_shortest_way_is_taken() -> None:
    module = lacec.compile("Reach(X,Y) :- Edge(X,Y).\nReach(X,Z) :- Reach(X,Y), Reach(Y,Z).")
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    proof = lacec.why(module, {"Edge": edges}, "Reach('a','d')")
    assert proof is not None
    assert [str(met) for step in proof.steps.values() for met in step.because] == ["Edge('a','d')"]


def test_facts_that_block_are_counted_and_a_hundred_shown() -> None:
    module = lacec.compile("A(X) :- Node(X), not Edge(X,_).")
    edges = [("a", str(n)) for n in range(1000)]
    failed = lacec.why_not(module, {"Node": [("a",)], "Edge": edges}, "A('a')")
    assert failed is not None
    ((fails,),) = failed.goals.values()
    assert (fails.kind, fails.count, len(fails.facts)) == ("present", 1000, 100)


def test_the_closest_count_is_shown() -> None:
    module = lacec.compile("A(X) :- In(X,Y), Cardinality(Edge(Y,_),'>=','5').")
    edges = [("few", "1"), *(("more", str(n)) for n in range(4))]
    facts = {"In": [("a", "few"), ("a", "more")], "Edge": edges}
    failed = lacec.why_not(module, facts, "A('a')")
    assert failed is not None
    ((fails,),) = failed.goals.values()
    assert (fails.count, fails.binding) == (4, {"X": "a", "Y": "more"})


def test_d9_a_bound_that_is_no_decimal_is_not_the_closest() -> None:
    module = lacec.compile("A(X) :- In(X), Thr(N), Cardinality(Edge(X,_),'>=',N).")
    edges = [["a", "1"], ["a", "2"]]
    for bounds, closest in (("x", "9", "5"), "5"), (("x", ""), None):
        facts = {"In": [["a"]], "Edge": edges, "Thr": [[bound] for bound in bounds]}
        failed = lacec.why_not(module, facts, "A('a')")
        assert failed is not None
        ((fails,),) = failed.goals.values()
        assert fails.count == 2
        if closest is None:
            assert fails.no_decimal in bounds
        else:
            assert (fails.binding["N"], fails.no_decimal) == (closest, None)


@pytest.mark.parametrize("ask", ["why", "why_not", "all"])
def test_d12_an_explanation_stops_at_the_limit_on_time(
    ask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock starts with the question, and is looked at before each part of a rule."""
    module = lacec.compile("A(X) :- Have(X), Edge(X,Y), not Bad(Y).")
    facts = {"Have": [["a"], ["b"]], "Edge": [["a", "1"], ["b", "2"]], "Bad": [["2"]]}
    why = lacec.explanations(module, facts, limits=Limits(seconds=5))
    assert why.facts(Predicate("A", 1)) == [("a",)]
    now = count(0, 3)
    monkeypatch.setattr("lacec.vm.machine.monotonic", lambda: next(now))
    asked: dict[str, Callable[[], object]] = {
        "why": lambda: why.why("A('a')"),
        "why_not": lambda: why.why_not("A('b')"),
        "all": lambda: why.all(Predicate("A", 1)),
    }
    with pytest.raises(lacec.LimitError, match="seconds"):
        asked[ask]()


def test_given_facts_have_proofs_without_steps() -> None:
    why = lacec.explanations(lacec.compile("A(X) :- B(X)."), {"B": [("b",), ("a",)]})
    found = [(str(proof.fact), len(proof.steps)) for proof in why.all(Predicate("B", 1))]
    assert found == [("B('a')", 0), ("B('b')", 0)]


def test_the_first_proofs_alone() -> None:
    why = lacec.explanations(
        lacec.compile("A(X) :- B(X).\nZ() :- B(_)."), {"B": [(str(n),) for n in range(5)]}
    )
    proofs = why.all(Predicate("A", 1), 2)
    assert [str(proof.fact) for proof in proofs] == ["A('0')", "A('1')"]
    assert len(proofs.steps) == 2
    assert (why.count(Predicate("A", 1)), len(why.all(Predicate("Z", 0), 2))) == (5, 1)


def test_an_explanation_stops_at_the_limit_on_rows() -> None:
    module = lacec.compile("A(X) :- Have(X), Edge(Y,Z), Edge(V,W), Y != V, Z != W, Y != X.")
    edges = [(str(n), str(n)) for n in range(300)]
    limits = Limits(intermediate_rows=10_000)
    with pytest.raises(lacec.LimitError, match="rows of one join of an explanation"):
        lacec.why(module, {"Have": [("a",)], "Edge": edges}, "A('a')", limits=limits)


def test_a_fact_that_is_none_is_refused() -> None:
    with pytest.raises(lacec.FactError, match="is no fact"):
        lacec.why(lacec.compile("A(X) :- B(X)."), {}, "A(X)")


def test_what_is_counted_by_rank_is_explained_without_being_made() -> None:
    """Newer has half a million tuples here, and more than are allowed."""
    module = lacec.compile(
        "Newer(P,Q) :- Item(P,T), Item(Q,U), LexCompare(U,'>',T).\n"
        "Latest(P) :- Item(P,_), Cardinality(Newer(P,_),'<','2')."
    )
    items = [(f"i{n}", f"{n:04}") for n in range(1000)]
    why = lacec.explanations(module, {"Item": items}, limits=Limits(derived_facts=2000))
    proof = why.why("Latest('i998')")
    assert proof is not None
    assert [met.number for met in proof.steps[proof.fact].because if isinstance(met, Check)] == [1]
    failed = why.why_not("Latest('i3')")
    assert failed is not None
    assert [each.count for (each,) in failed.goals.values()] == [996]
    assert why.why("Newer('i3','i4')") is not None
    assert why.why_not("Newer('i4','i3')") is not None
