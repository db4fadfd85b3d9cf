"""020 rule by rule, as far as it speaks of views: who sees which record facts.

Alice's operand is evaluated on Bob's machine. Bob has records of groups X and Y, and
exposes to Alice what each test says.
"""

import pytest

from lacec.core.predicates import Predicate
from lacec.engine.side import SideEvaluation, evaluate_side
from lacec.plan.expose import LocalPolicy, expose_all
from lacec.vm.sources import load, source_of
from tests.plan.pairs import ADVERTISED, EVERYTHING, exposing, plan_of

BOBS: dict[str, list[tuple[str, ...]]] = {
    "Have": [("x1",), ("x2",), ("y1",), ("y2",)],
    "Field": [
        ("x1", "Group", "0", "X"),
        ("x2", "Group", "0", "X"),
        ("y1", "Group", "0", "Y"),
        ("y2", "Group", "0", "Y"),
        ("y1", "App", "0", "secret"),
    ],
    "RecordLink": [("x1", "+Link", "0", "to", "x2"), ("x2", "+Link", "0", "to", "y1")],
    "BlobHash": [("x1", "b1"), ("y1", "b2")],
    "PlexHash": [("x1", "p1"), ("y1", "p2")],
    "Advertised": [("bait", "V.alice")],
    "AdvertisedField": [("bait", "V.alice", "Group", "0", "X")],
    "Peer": [("V.alice",)],
}
TO_ALICE = "AllowQueryRecord('V.alice',P) :- Have(P), Field(P,'Group',_,'X')."
GROUP_X = LocalPolicy((exposing(TO_ALICE),))
PROBE = "SelectHave(P) :- Have(P)."


def on_bob(
    alice: str, policy: LocalPolicy = GROUP_X, bob: str = EVERYTHING, **more: list[tuple[str, ...]]
) -> SideEvaluation:
    plan = plan_of(alice, bob, verifiers=("V.alice", "V.bob"))
    return evaluate_side(plan.side(1, policy), load(source_of({**BOBS, **more})))


def selects(body: str, policy: LocalPolicy = GROUP_X, helpers: str = "") -> bool:
    """Whether a condition of Alice's holds on Bob's machine: then Bob requests her bait."""
    rule = f"SelectAdvertised(P,S) :- Advertised(P,S), {body}."
    return on_bob(f"{PROBE}\n{rule}\n{helpers}", policy).may_request == ["bait"]


# Fact views.


def test_the_four_views_of_two_peers() -> None:
    """The standard mental model: own rules see all, the other's what is exposed to them."""
    both = [Predicate("o0_SelectHave", 1), Predicate("o1_SelectHave", 1)]
    for side, viewer in ((0, "V.bob"), (1, "V.alice")):
        rule = f"AllowQueryRecord('{viewer}',P) :- Field(P,'Group',_,'X')."
        program = plan_of(verifiers=("V.alice", "V.bob")).side(side, LocalPolicy((exposing(rule),)))
        found = evaluate_side(program, load(source_of(BOBS)), outputs=both)
        assert (found.main.count(both[side]), found.main.count(both[1 - side])) == (4, 2)
        assert found.may_send == ["x1", "x2"]


@pytest.mark.parametrize(
    ("atom", "visible", "hidden"),
    [
        ("Have", "Have('x1')", "Have('y1')"),
        ("Field", "Field('x1',_,_,'X')", "Field('y1',_,_,_)"),
        ("RecordLink", "RecordLink('x1',_,_,_,'x2')", "RecordLink('y1',_,_,_,_)"),
        ("BlobHash", "BlobHash('x1',_)", "BlobHash('y1',_)"),
        ("PlexHash", "PlexHash('x1',_)", "PlexHash('y1',_)"),
    ],
)
def test_every_record_fact_resolves_through_the_gate(atom: str, visible: str, hidden: str) -> None:
    """Have(P) => Have(P) and CanQueryRecord(Viewer,P), and so for each of the five."""
    assert atom in visible
    assert selects(visible)
    assert not selects(hidden)
    assert selects(hidden, LocalPolicy(trust_peer=True)) == (atom != "RecordLink")


def test_a_link_of_a_visible_record_names_a_hidden_one() -> None:
    """Each exposed fact discloses the identifiers it contains; the target's facts it does not."""
    assert selects("RecordLink('x2',_,_,_,'y1')")
    assert selects("RecordLink(_,_,_,_,Q), Q != 'x2'")
    assert not selects("RecordLink(_,_,_,_,Q), Field(Q,'Group',_,'Y')")


# Helpers, recursion, negation, cardinality: nothing gets around the view.

HOSTILE = {
    "an atom": "Field(Q,'Group',_,'Y')",
    "a constant in every place": "Field('y1','App','0','secret')",
    "an inequality": "Field(Q,'Group',_,G), G != 'X'",
    "an inequality of records": "Have(Q), Q != 'x1', Q != 'x2'",
    "a comparison": "Have(Q), LexCompare(Q,'>','x2')",
    "a text shape": "Have(Q), TextShape(Q,'y','','')",
    "a count": "Cardinality(Field(Q,'Group',_,'Y'),'>=','1')",
    "a count of everything": "Cardinality(Have(Q),'>=','3')",
    "a count for a name": "Cardinality(Field('y1',_,_,_),'>=','1')",
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_condition_sees_the_view_alone(how: str) -> None:
    assert not selects(HOSTILE[how])
    assert selects(HOSTILE[how], LocalPolicy((expose_all(),)))


NEGATED = {
    "a negated atom": "not Field(_,'Group',_,'Y')",
    "a negated name": "not Have('y1')",
    "a count of none": "Cardinality(Field(Q,'Group',_,'Y'),'<','1')",
    "a count of few": "Cardinality(Have(Q),'<=','2')",
}


@pytest.mark.parametrize("how", NEGATED)
def test_negation_is_closed_world_over_the_view(how: str) -> None:
    """What is hidden is not there: its absence is seen, not its presence."""
    assert selects(NEGATED[how])
    assert not selects(NEGATED[how], LocalPolicy((expose_all(),)))


HELPERS = {
    "a helper": ("Secret(S)", "Secret(S) :- Peer(S), Field(Q,'Group',_,'Y')."),
    "a helper of a helper": (
        "Outer(S)",
        "Outer(S) :- Inner(S).\nInner(S) :- Peer(S), Field('y1','App',_,_).",
    ),
    "recursion": (
        "Reach('x1',Q), Field(Q,'Group',_,'Y')",
        "Reach(A,B) :- RecordLink(A,_,_,_,B).\nReach(A,C) :- Reach(A,B), RecordLink(B,_,_,_,C).",
    ),
    "recursion that counts": (
        "Many(S)",
        "Reach(A) :- Have(A).\nReach(B) :- Reach(A), RecordLink(A,_,_,_,B).\n"
        "Many(S) :- Peer(S), Cardinality(Reach(_),'>=','4').",
    ),
    "a helper that negates": (
        "not Hidden()",
        "Hidden() :- Cardinality(Field(_,'Group',_,'Y'),'<','1').",
    ),
    "a count of a helper": (
        "Cardinality(Y(Q),'>=','2')",
        "Y(Q) :- Field(Q,'Group',_,'Y').",
    ),
    "a rank": (
        "Old(Q)",
        "Newer(A,B) :- Field(A,'Group',_,T), Field(B,'Group',_,U), LexCompare(U,'>',T).\n"
        "Old(Q) :- Field(Q,'Group',_,'X'), Cardinality(Newer(Q,_),'>=','1').",
    ),
}


@pytest.mark.parametrize("how", HELPERS)
def test_a_helper_never_reads_raw_facts(how: str) -> None:
    """The transformation applies to the entire peer-origin module, including helpers."""
    body, rules = HELPERS[how]
    assert not selects(body, helpers=rules)
    assert selects(body, LocalPolicy((expose_all(),)), helpers=rules)


def test_half_of_a_group() -> None:
    """The view is of records: a count sees those of the group that are exposed."""
    half = LocalPolicy((exposing("AllowQueryRecord('V.alice',P) :- RecordLink(P,_,_,_,'x2')."),))
    assert on_bob(EVERYTHING, half).can_query == ["x1"]
    assert selects("Cardinality(Field(Q,'Group',_,'X'),'>=','1')", half)
    assert not selects("Cardinality(Field(Q,'Group',_,'X'),'>=','2')", half)
    assert selects("not Field('x2',_,_,_)", half)
    assert on_bob(EVERYTHING, half).may_send == ["x1"]


# Query exposure.


def test_the_default_view_is_empty() -> None:
    nothing = LocalPolicy()
    assert on_bob(EVERYTHING, nothing).can_query == []
    assert on_bob(EVERYTHING, nothing).may_send == []
    assert not selects("Have(_)", nothing)
    assert selects("not Have(_)", nothing)


def test_constraints_are_intersected_and_adding_one_narrows() -> None:
    linked = exposing("AllowQueryRecord(V,P) :- _Viewer(V), RecordLink(P,_,_,_,_).")
    named = exposing("AllowQueryRecord(V,'x1') :- _Viewer(V).")
    policies = [
        GROUP_X.exposures,
        (*GROUP_X.exposures, linked),
        (*GROUP_X.exposures, linked, named),
    ]
    found = [on_bob(EVERYTHING, LocalPolicy(modules)).can_query for modules in policies]
    assert found == [["x1", "x2"], ["x1", "x2"], ["x1"]]


def test_a_constraint_for_another_viewer_exposes_nothing() -> None:
    """D16a: a module that does not mention a viewer exposes nothing to it."""
    carol = exposing("AllowQueryRecord('V.carol',P) :- Have(P).")
    assert on_bob(EVERYTHING, LocalPolicy((carol,))).can_query == []
    assert on_bob(EVERYTHING, LocalPolicy((expose_all(), carol))).can_query == []


def test_union_is_explicit_local_policy() -> None:
    both = exposing(f"{TO_ALICE}\nAllowQueryRecord('V.alice',P) :- Field(P,'App',_,_).")
    assert on_bob(EVERYTHING, LocalPolicy((both,))).can_query == ["x1", "x2", "y1"]


def test_an_unproven_viewer_is_its_label() -> None:
    """Unauthenticated labels get what is granted to whoever the peer is, and no more."""
    plan = plan_of()
    label = plan.origins[0].viewer
    assert label.startswith("Opq_")
    granted = LocalPolicy((exposing("AllowQueryRecord(V,P) :- _Viewer(V), Have(P)."),))
    facts = load(source_of(BOBS))
    assert evaluate_side(plan.side(1, granted), facts).can_query == ["x1", "x2", "y1", "y2"]
    assert evaluate_side(plan.side(1, GROUP_X), facts).can_query == []


def test_exposure_modules_see_all_facts_and_the_viewer() -> None:
    """D16a."""
    rule = (
        "AllowQueryRecord(V,P) :- _Viewer(V), Peer(V), Advertised(_,V), Have(P), "
        "Cardinality(Have(_),'=>','4')."
    ).replace("=>", ">=")
    assert len(on_bob(EVERYTHING, LocalPolicy((exposing(rule),))).can_query) == 4


# Disclosure.


def test_runtime_and_advertisement_facts_need_no_exposure() -> None:
    nothing = LocalPolicy()
    assert selects("Peer('V.alice'), AdvertisedField(P,S,'Group',_,'X')", nothing)


def test_unsafe_local_policy_is_not_made_safe() -> None:
    """Bob's own rules may depend on private facts: that is his declassification."""
    unsafe = f"SelectHave(P) :- Have(P), Field(_,'App',_,'secret').\n{ADVERTISED}"
    assert on_bob(EVERYTHING, bob=unsafe).may_send == ["x1", "x2"]
    without = [row for row in BOBS["Field"] if row[1] != "App"]
    assert on_bob(EVERYTHING, bob=unsafe, Field=without).may_send == []
