"""One side of a plan: equal to the slow evaluator on 020's rewriting; facts, limits, time."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, reject

from lacec.core.errors import CancelledError, FactError, LimitError
from lacec.core.limits import Limits
from lacec.core.origins import Origin
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.engine.side import SideEvaluation, evaluate_side
from lacec.plan.expose import LocalPolicy, expose_all
from lacec.plan.lower import CAN_QUERY, MAY_REQUEST, MAY_SEND
from lacec.store.store import Store
from lacec.vm.database import Database
from lacec.vm.sources import TupleSource, load, source_of
from tests import slow
from tests.helpers import examples
from tests.plan.interference import peer_predicates
from tests.plan.pairs import ADVERTISED, EVERYTHING, HAVE, exposing, plan_of
from tests.plan.rewriting import slowly
from tests.plan.strategies import Setup, setups
from tests.store.samples import facts_of, samples

MOST_STEPS = 100_000
ALL = LocalPolicy((expose_all(),))


@given(setups())
@examples(300)
def test_a_side_is_what_the_slow_evaluator_makes_of_the_rewritten_rules(setup: Setup) -> None:
    policy = LocalPolicy(
        tuple(map(exposing, setup.exposures)), narrow=tuple(map(exposing, setup.narrow))
    )
    program = plan_of(*setup.operands).side(setup.side, policy)
    try:
        expected = slowly(program, setup.facts, MOST_STEPS)
    except slow.TooMuchWorkError:
        reject()
    asked = peer_predicates(program, everything=True)
    found = evaluate_side(program, load(TupleSource(setup.facts)), outputs=asked)
    for predicate in (MAY_SEND, MAY_REQUEST, *asked):
        assert set(found.main.facts(predicate)) == expected[predicate]
    records = {row[0] for p in RECORD_FACTS for row in setup.facts.get(p, ())}
    gate = expected.get(CAN_QUERY, set())
    allowed = {p for viewer, p in gate if viewer == program.viewer and p in records}
    assert found.can_query == sorted(allowed)


RECORDS: Mapping[str, list[tuple[str, ...]]] = {
    "Have": [("1",), ("2",), ("3",)],
    "Field": [("1", "Group", "0", "X"), ("2", "Group", "0", "Y"), ("3", "Group", "0", "X")],
    "Advertised": [("8", "S"), ("9", "S")],
}


def database() -> Database:
    return load(source_of(RECORDS))


def evaluated(
    own: str = EVERYTHING,
    peer: str = EVERYTHING,
    policy: LocalPolicy = ALL,
    limits: Limits | None = None,
) -> SideEvaluation:
    return evaluate_side(plan_of(own, peer).side(0, policy), database(), limits or Limits())


def test_what_is_no_record_cannot_be_queried() -> None:
    words = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(_,'Group',_,P).")
    assert evaluated(policy=LocalPolicy((words,))).can_query == []


def test_one_database_serves_many_evaluations() -> None:
    """What a program asks for and nobody gave stays no fact of the database."""
    helper = f"SelectHave(P) :- Have(P), not Helper(P).\n{ADVERTISED}"
    program, facts = plan_of(EVERYTHING, helper).side(0, ALL), database()
    first = evaluate_side(program, facts)
    assert evaluate_side(program, facts).may_send == first.may_send == ["1", "2", "3"]
    many = load(source_of({"Have": [(str(n),) for n in range(25_000)]}))
    assert evaluate_side(program, many).may_send == evaluate_side(program, many).may_send


def test_what_is_found_is_sorted_text() -> None:
    found = evaluated()
    assert (found.may_send, found.may_request) == (["1", "2", "3"], ["8", "9"])
    assert found.can_query == ["1", "2", "3"]


def test_a_trusted_peer_may_query_everything() -> None:
    """D16b: explicit, and off by default."""
    assert evaluated(policy=LocalPolicy()).may_send == []
    trusting = evaluated(policy=LocalPolicy(trust_peer=True))
    assert trusting.may_send == trusting.can_query == ["1", "2", "3"]


def test_a_narrowed_operand_selects_among_what_it_sees() -> None:
    """D16b."""
    narrow = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'Y').")
    assert evaluated(policy=LocalPolicy((expose_all(),), narrow=(narrow,))).may_send == ["2"]


@pytest.mark.parametrize(
    "predicate", ["Secret/1", "o1_SelectHave/1", "CanQueryRecord/2", "_Viewer/1", "MaySend/1"]
)
def test_facts_that_no_exchange_supplies_are_refused(predicate: str) -> None:
    name, _, arity = predicate.partition("/")
    facts = load(TupleSource({Predicate(name, int(arity)): [("x",) * int(arity)]}))
    with pytest.raises(FactError, match=f"{name}/{arity} is no fact of an exchange"):
        evaluate_side(plan_of().side(0, ALL), facts)


HALF = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'keys').")
CURIOUS = f"""\
SelectHave(P) :- Have(P), not Linked(P), Cardinality(Field(_,'Group',_,'u'),'<','1').
SelectHave(P) :- Linked(P), Field(P,N,'1',V), Field(Q,N,'0',V), P != Q.
{ADVERTISED}
Linked(Q) :- RecordLink(_,_,_,_,Q), BlobHash(Q,_).
"""


@pytest.mark.parametrize(
    "policy", [ALL, LocalPolicy((HALF,)), LocalPolicy((HALF,), narrow=(HALF,))]
)
def test_a_side_over_a_store_is_what_it_is_over_its_facts(
    policy: LocalPolicy, tmp_path: Path
) -> None:
    """The relations of a store are made when they are read; a view leaves the same of them."""
    with Store.create(tmp_path / "store") as store:
        store.add(samples())
        store.settle()
        program = plan_of(EVERYTHING, CURIOUS).side(0, policy)
        asked = peer_predicates(program, everything=True)
        found = evaluate_side(program, store.snapshot().database(), outputs=asked)
        plain = load(TupleSource(facts_of(samples())))
        expected = evaluate_side(program, plain, outputs=asked)
        assert found.can_query == expected.can_query != []
        for predicate in found.main.relations:
            assert found.main.facts(predicate) == expected.main.facts(predicate)


# Limits: whose rules met them is known here, and nowhere else (D12, D18a).

PRODUCT = f"SelectHave(P) :- Have(P), Have(Q), Have(R), P != Q, Q != R.\n{ADVERTISED}"


def limited(own: str, peer: str, limits: Limits) -> LimitError:
    with pytest.raises(LimitError) as error:
        evaluated(own, peer, limits=limits)
    return error.value


def test_a_peer_has_its_own_limit_on_rows() -> None:
    """D12: 2^24 rows, and 2^26 for local rules."""
    assert Limits().rows(Origin.PEER) == ("peer_intermediate_rows", 2**24)
    assert Limits().rows(Origin.LOCAL) == ("intermediate_rows", 2**26)
    tight = Limits(peer_intermediate_rows=8)
    assert evaluated(PRODUCT, EVERYTHING, limits=tight).may_send == ["1", "2", "3"]
    error = limited(EVERYTHING, PRODUCT, tight)
    assert (error.name, error.limit, error.count) == ("peer_intermediate_rows", 8, 9)
    assert error.origin == Origin.PEER
    assert limited(PRODUCT, EVERYTHING, Limits(intermediate_rows=8)).origin == Origin.LOCAL


def test_a_short_operand_of_a_peer_makes_no_endless_code() -> None:
    """A rule has a block for each recursive atom: without a limit, cubic work for 2 KB of text."""
    pairs = ", ".join(f"A(P,V{n}), A(V{n},P)" for n in range(30))
    rules = "\n".join(f"A(P,'{n}') :- Have(P), {pairs}." for n in range(100))
    hostile = f"SelectHave(P) :- A(P,P).\n{rules}\n{ADVERTISED}"
    error = limited(EVERYTHING, hostile, Limits())
    assert (error.name, error.origin) == ("peer_instructions", Origin.PEER)
    assert Limits().of(Origin.PEER).literals == 64


def test_a_peer_never_has_more_than_local_rules() -> None:
    error = limited(EVERYTHING, PRODUCT, Limits(intermediate_rows=8))
    assert (error.name, error.limit, error.origin) == ("intermediate_rows", 8, Origin.PEER)


def test_a_trusted_peer_is_held_to_the_limits_of_a_peer() -> None:
    with pytest.raises(LimitError) as error:
        evaluated(
            EVERYTHING, PRODUCT, LocalPolicy(trust_peer=True), Limits(peer_intermediate_rows=8)
        )
    assert error.value.origin == Origin.TRUSTED


def test_the_peer_is_told_one_name_whoever_failed() -> None:
    """D18a: every failure of evaluation has the same name."""
    ours = limited(PRODUCT, EVERYTHING, Limits(intermediate_rows=8))
    theirs = limited(EVERYTHING, PRODUCT, Limits(peer_intermediate_rows=8))
    assert ours.PUBLIC_NAME == theirs.PUBLIC_NAME == "evaluation-failed"
    assert ours.origin != theirs.origin


def test_the_limits_of_the_peer_are_met_before_local_ones() -> None:
    """So that a limit that private facts exceed does not hide one of the peer's, or show it."""
    both = Limits(intermediate_rows=8, peer_intermediate_rows=8)
    assert limited(PRODUCT, PRODUCT, both).origin == Origin.PEER


@pytest.mark.parametrize(
    ("rules", "limits", "name"),
    [
        ("Chain(P,Q) :- Field(P,_,_,_), Field(Q,_,_,_).", Limits(derived_facts=8), "derived_facts"),
        (
            "Chain(P,Q) :- Field(P,_,_,Q).\nChain(Q,P) :- Chain(P,Q).",
            Limits(iterations=2),
            "iterations",
        ),
    ],
)
def test_every_limit_knows_whose_rules_met_it(rules: str, limits: Limits, name: str) -> None:
    chained = f"SelectHave(P) :- Have(P), Chain(P,_).\n{ADVERTISED}\n{rules}"
    theirs, ours = limited(EVERYTHING, chained, limits), limited(chained, EVERYTHING, limits)
    assert (theirs.name, theirs.origin) == (name, Origin.PEER)
    assert (ours.name, ours.origin) == (name, Origin.LOCAL)


def test_a_peer_with_too_many_rules_is_not_run() -> None:
    """D12: 256 canonical rules; this side's own operand may have more."""
    many = "\n".join([HAVE, ADVERTISED, *(f"Helper{n}(P) :- Have(P)." for n in range(255))])
    error = limited(EVERYTHING, many, Limits())
    assert (error.name, error.count, error.origin) == ("selector_rules", 257, Origin.PEER)
    assert evaluated(many).may_send == ["1", "2", "3"]


def test_one_clock_for_gates_and_main_program() -> None:
    with pytest.raises(LimitError, match="seconds"):
        evaluated(limits=Limits(seconds=0))


def test_the_caller_may_cancel() -> None:
    with pytest.raises(CancelledError):
        evaluate_side(plan_of().side(0, ALL), database(), cancelled=lambda: True)
