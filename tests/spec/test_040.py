"""040 rule by rule: operands, exposure, origins, intersection, lowering, the plan."""

import pytest

from lacec.core.errors import CompileError, PlanError
from lacec.core.predicates import Predicate
from lacec.engine.side import SideEvaluation, evaluate_side
from lacec.plan.exchange import make_plan
from lacec.plan.expose import LocalPolicy, exposure
from lacec.plan.operands import author_operand, peer_operand
from lacec.plan.transcript import read_transcript
from lacec.vm.sources import load, source_of
from tests.helpers import errors, names
from tests.plan.pairs import ADVERTISED, EVERYTHING, GROUP_X, HAVE, exposing, operand, plan_of

Rows = dict[str, list[tuple[str, ...]]]

BOBS: Rows = {
    "Have": [("x1",), ("y1",)],
    "Field": [("x1", "Group", "0", "X"), ("y1", "Group", "0", "Y")],
    "Advertised": [("bait", "V.alice.H3")],
    "AdvertisedField": [("bait", "V.alice.H3", "Group", "0", "X")],
}
MALICIOUS = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X').
SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'Group',_,'X'), \
Field(Q,'Group',_,'Y').
"""
GROUP_X_TO_ALICE = "AllowQueryRecord('V.alice.H3',P) :- Have(P), Field(P,'Group',_,'X')."


def on_bob(
    alice: str,
    *exposures: str,
    bob: str = EVERYTHING,
    facts: Rows | None = None,
    lowering: str = "standard-v1",
) -> SideEvaluation:
    plan = plan_of(alice, bob, verifiers=("V.alice.H3", None), lowering=lowering)
    policy = LocalPolicy(tuple(exposing(text) for text in exposures))
    return evaluate_side(plan.side(1, policy), load(source_of({**BOBS, **(facts or {})})))


# The example: a malicious selector.


def test_the_malicious_selector_learns_nothing_of_group_y() -> None:
    assert on_bob(MALICIOUS, GROUP_X_TO_ALICE).may_request == []
    assert on_bob(MALICIOUS, GROUP_X_TO_ALICE).may_send == ["x1"]


def test_the_malicious_selector_finds_what_is_exposed() -> None:
    """Queryable means queryable."""
    every = "AllowQueryRecord('V.alice.H3',P) :- Have(P)."
    assert on_bob(MALICIOUS, every).may_request == ["bait"]


def test_the_answer_is_the_same_with_and_without_private_records() -> None:
    """The bounded disclosure property, on the example."""
    without: Rows = {"Have": [("x1",)], "Field": [("x1", "Group", "0", "X")]}
    one, other = (on_bob(MALICIOUS, GROUP_X_TO_ALICE, facts=facts) for facts in ({}, without))
    assert (one.may_send, one.may_request) == (other.may_send, other.may_request)


def test_bobs_own_rules_use_his_full_facts() -> None:
    """A rule of Bob's that makes group X depend on private group Y is his declassification."""
    bob = f"SelectHave(P) :- Have(P), Field(_,'Group',_,'Y').\n{ADVERTISED}"
    assert on_bob(GROUP_X, GROUP_X_TO_ALICE, bob=bob).may_send == ["x1"]
    less: Rows = {"Field": [("x1", "Group", "0", "X")]}
    assert on_bob(GROUP_X, GROUP_X_TO_ALICE, bob=bob, facts=less).may_send == []


# Operands.


def test_a_selector_exports_both_selection_predicates() -> None:
    assert errors(HAVE, "selector") == ["missing-export"]
    assert errors(ADVERTISED, "selector") == ["missing-export"]
    with pytest.raises(CompileError):
        operand(0, HAVE)


@pytest.mark.parametrize(
    "head",
    ["MaySend(P)", "MayRequest(P)", "CanQueryRecord(P,P)", "o0_Helper(P)", "o1_SelectHave(P)"],
)
def test_a_selector_defines_nothing_reserved(head: str) -> None:
    assert errors(f"{EVERYTHING}\n{head} :- Have(P).", "selector") == ["reserved-name"]


@pytest.mark.parametrize("head", ["AllowQueryRecord(P,P)", "MergedSelectHave(P)", "_Local(P)"])
def test_a_peer_never_defines_what_it_may_query(head: str) -> None:
    assert errors(f"{EVERYTHING}\n{head} :- Have(P).", "selector") == ["reserved-name"]


@pytest.mark.parametrize(
    "atom",
    [
        *("CanQueryRecord(P,P)", "AllowQueryRecord(P,P)", "MaySend(P)", "o0_Member(P)"),
        *("o1_Member(P)", "MergedSelectHave(P)", "_Viewer(P)", "m1_Open(P)"),
    ],
)
def test_an_operand_is_closed(atom: str) -> None:
    """It reads no private predicate of another operand, nor what is local to a side."""
    text = f"{EVERYTHING}\nA(P) :- Have(P), {atom}.\nB(P) :- Have(P), not {atom}."
    assert errors(text, "selector") == ["closed-selector"] * 2


def test_helpers_of_one_name_stay_apart() -> None:
    """Operand scopes are hygiene: Member of operand 0 is not Member of operand 1."""
    mine = f"SelectHave(P) :- Member(P).\n{ADVERTISED}\nMember('x1') :- true."
    yours = f"SelectHave(P) :- Member(P).\n{ADVERTISED}\nMember('y1') :- true."
    assert on_bob(mine, bob=mine).may_send == ["x1"]
    assert on_bob(mine, bob=yours).may_send == []


def test_the_bytes_of_a_peer_are_canonical() -> None:
    assert peer_operand(0, operand(0).module.canonical.encode()).module.id == operand(0).module.id
    with pytest.raises(PlanError, match="not canonical"):
        peer_operand(0, EVERYTHING.encode())


def test_exactly_two_operands_one_of_each_index() -> None:
    with pytest.raises(PlanError, match="operand 0 and operand 1"):
        make_plan([operand(0), operand(0)])
    with pytest.raises(PlanError, match="operand 0 and operand 1"):
        make_plan([operand(0)])
    with pytest.raises(PlanError, match="operand 0 and operand 1"):
        make_plan([operand(0), operand(1), operand(1)])


# Query exposure.


def test_exposure_is_no_peer_operand() -> None:
    with pytest.raises(CompileError):
        author_operand(0, [("expose", GROUP_X_TO_ALICE)])
    with pytest.raises(CompileError):
        author_operand(0, [("both", f"{EVERYTHING}\n{GROUP_X_TO_ALICE}")])


def test_exposure_defines_neither_the_gate_nor_the_outcome() -> None:
    for head in ("CanQueryRecord(V,P)", "MaySend(P)", "MayRequest(P)", "m1_Ok(P)"):
        with pytest.raises(CompileError):
            exposure([("expose", f"{head} :- Have(P), Peer(V).")])


def test_exposure_modules_are_intersected() -> None:
    second = "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'Y')."
    assert on_bob(EVERYTHING, GROUP_X_TO_ALICE).can_query == ["x1"]
    assert on_bob(EVERYTHING, GROUP_X_TO_ALICE, second).can_query == []


def test_the_default_is_empty_and_the_rest_stays_visible() -> None:
    """Peer-origin selectors can still inspect advertisement and runtime facts."""
    found = on_bob(GROUP_X)
    assert (found.can_query, found.may_send, found.may_request) == ([], [], ["bait"])


def test_exposure_is_not_part_of_the_plan() -> None:
    plan = plan_of()
    plan.side(0, LocalPolicy((exposing(GROUP_X_TO_ALICE),)))
    assert "Allow" not in plan.transcript
    assert plan.id == plan_of().id


def test_an_opaque_label_in_an_exposure_draws_a_warning() -> None:
    """D16a: a peer can try operands until it gets it."""
    text = "AllowQueryRecord('Opq_k',P) :- Have(P).\nAllowQueryRecord(V,P) :- Open(V,P)."
    assert names(text + "\nOpen('Opq_~',P) :- Have(P).", "expose") == ["opaque-viewer"] * 2
    assert names("AllowQueryRecord('Opq_kk',P) :- Have(P).", "expose") == []
    assert names("A('Opq_k') :- true.", "plain") == []


# Intersection and lowering.


def test_a_record_moves_only_when_both_operands_select_it() -> None:
    every = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P)."
    only_y = f"SelectHave(P) :- Field(P,'Group',_,'Y').\n{ADVERTISED}"
    assert on_bob(EVERYTHING, every, bob=GROUP_X).may_send == ["x1"]
    assert on_bob(only_y, every, bob=GROUP_X).may_send == []
    assert on_bob(only_y, every).may_send == ["y1"]


def test_advertisements_are_intersected_with_their_source() -> None:
    mine = f"{HAVE}\nSelectAdvertised(P,'V.other') :- Advertised(P,_)."
    assert on_bob(mine).may_request == []
    assert on_bob(mine, bob=mine).may_request == ["bait"]


def test_advertised_fields_are_no_record_fields() -> None:
    """Advertisement facts are discovery claims only."""
    claims = f"{HAVE}\nSelectAdvertised(P,S) :- Advertised(P,S), Field(P,'Group',_,'X')."
    every = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P)."
    assert on_bob(claims, every).may_request == []


@pytest.mark.parametrize(
    ("lowering", "facts", "sends", "requests"),
    [
        ("encrypted-v1", {}, False, False),
        ("encrypted-v1", {"TransportEncrypted": [()]}, True, True),
        ("proven-peer-v1", {}, False, False),
        ("proven-peer-v1", {"Peer": [("V.other",)]}, True, False),
        ("proven-peer-v1", {"Peer": [("V.alice.H3",)]}, True, True),
    ],
)
def test_stricter_lowerings(lowering: str, facts: Rows, sends: bool, requests: bool) -> None:
    found = on_bob(GROUP_X, GROUP_X_TO_ALICE, facts=facts, lowering=lowering)
    assert (bool(found.may_send), bool(found.may_request)) == (sends, requests)


# Origins and plans.


def test_identical_text_from_two_origins_means_two_things() -> None:
    plan = plan_of()
    assert plan.operands[0].module.id == plan.operands[1].module.id
    both = [Predicate("o0_SelectHave", 1), Predicate("o1_SelectHave", 1)]
    found = evaluate_side(plan.side(0), load(source_of(BOBS)), outputs=both)
    assert [found.main.count(predicate) for predicate in both] == [2, 0]


def test_no_text_of_an_operand_decides_its_origin() -> None:
    """An operand that speaks of verifiers and labels has the origin that setup gives it."""
    claims = f"{EVERYTHING}\nOrigin('V.bob') :- true.\nOriginVerifier('V.bob') :- true."
    plan = plan_of(claims)
    assert plan.origins[0].verifier is None
    assert plan.origins[0].viewer.startswith("Opq_")


def test_labels_are_no_predicate_namespaces() -> None:
    plan = plan_of()
    assert not any("Opq_" in rule.text for rule in plan.rules)


def test_both_sides_agree_on_the_plan() -> None:
    alice, bob = operand(0, GROUP_X), operand(1)
    here = make_plan([alice, peer_operand(1, bob.module.canonical.encode())])
    there = make_plan([bob, peer_operand(0, alice.module.canonical.encode())])
    assert here.transcript == there.transcript
    assert here.id == there.id
    assert read_transcript(here.transcript.encode()).id == here.id


def test_the_executables_of_the_two_sides_differ() -> None:
    """Each side uses its own query views; they are executions of the same agreed plan."""
    plan = plan_of(GROUP_X)
    zero, one = plan.side(0), plan.side(1)
    assert zero.main.canonical == one.main.canonical
    assert zero.resolution != one.resolution


def test_annotations_are_not_visible_to_evaluation() -> None:
    annotated = f'#:json {{"why":"because"}}\n{EVERYTHING}'
    plan = plan_of(annotated)
    assert plan.id == plan_of().id
    assert "because" not in plan.transcript + "".join(plan.provenance)
