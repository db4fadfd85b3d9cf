"""Scopes, exposure gates, intersection and lowering: the rules that a side runs, as text."""

import pytest

from lacec.core.errors import PlanError
from lacec.core.origins import Origin, Reading, View
from lacec.plan.expose import LocalPolicy, expose_all, expose_selected
from lacec.plan.lower import SideProgram
from lacec.plan.operands import author_operand
from lacec.plan.provenance import provenance
from tests.plan.pairs import EVERYTHING, GROUP_X, exposing, plan_of

HELPERS = (
    "SelectHave(P) :- Have(P), Member(P), not Bad(P), Cardinality(Member(Q),'<','9'), P != 'x'.\n"
    "SelectAdvertised(P,S) :- Advertised(P,S), TextShape(P,'a','',''), true.\n"
    "Member(P) :- Field(P,'Group',_,'u').\n"
    "Field(P,Q) :- Undefined(P,Q), RecordLink(P,_,_,_,Q)."
)


def texts(side: SideProgram, step: str) -> list[str]:
    return [rule.text for rule in side.rules if rule.step == step]


def test_private_helpers_and_exports_are_scoped_per_operand() -> None:
    """040: base facts and builtins keep their names, also inside `not` and `Cardinality`."""
    assert texts(plan_of(HELPERS).side(0), "040-operand-scope") == [
        "o1_SelectAdvertised(P,S) :- Advertised(P,S).",
        "o1_SelectHave(P) :- Have(P).",
        "o0_Field(P,Q) :- o0_Undefined(P,Q), RecordLink(P,_,_,_,Q).",
        "o0_Member(P) :- Field(P,'Group',_,'u').",
        "o0_SelectAdvertised(P,S) :- Advertised(P,S), TextShape(P,'a','',''), true.",
        "o0_SelectHave(P) :- Have(P), o0_Member(P), not o0_Bad(P), "
        "Cardinality(o0_Member(Q),'<','9'), P != 'x'.",
    ]


def test_intersection_and_lowering() -> None:
    side = plan_of().side(1)
    assert texts(side, "040-intersection") == [
        "MergedSelectHave(P) :- o0_SelectHave(P), o1_SelectHave(P).",
        "MergedSelectAdvertised(P,S) :- o0_SelectAdvertised(P,S), o1_SelectAdvertised(P,S).",
    ]
    assert texts(side, "040-lowering") == [
        "MaySend(P) :- MergedSelectHave(P).",
        "MayRequest(P) :- MergedSelectAdvertised(P,S).",
    ]


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        (
            "encrypted-v1",
            [
                "MaySend(P) :- MergedSelectHave(P), TransportEncrypted().",
                "MayRequest(P) :- MergedSelectAdvertised(P,S), TransportEncrypted().",
            ],
        ),
        (
            "proven-peer-v1",
            [
                "MaySend(P) :- MergedSelectHave(P), Peer(_).",
                "MayRequest(P) :- MergedSelectAdvertised(P,S), Peer(S).",
            ],
        ),
    ],
)
def test_stricter_lowerings_by_name(name: str, rules: list[str]) -> None:
    """D16."""
    assert texts(plan_of(lowering=name).side(0), "040-lowering") == rules


def test_a_lowering_nobody_knows_is_refused() -> None:
    with pytest.raises(PlanError, match="only standard-v1, encrypted-v1, proven-peer-v1"):
        plan_of(lowering="loose-v1")


def test_exposure_modules_are_intersected_in_the_order_given() -> None:
    """040 Query exposure: D16's names; with none there is no rule, and the view is empty."""
    policy = LocalPolicy((expose_all(), exposing("AllowQueryRecord('V.a',P) :- Ok(P).")))
    assert texts(plan_of().side(0, policy), "040-exposure") == [
        "m1_AllowQueryRecord(V,P) :- _Viewer(V), Have(P).",
        "m2_AllowQueryRecord('V.a',P) :- m2_Ok(P).",
        "CanQueryRecord(Viewer,P) :- m1_AllowQueryRecord(Viewer,P), m2_AllowQueryRecord(Viewer,P).",
    ]
    assert plan_of().side(0).gates.rules == ()


def test_the_rules_of_the_copy_stand_where_they_were_written() -> None:
    """An audit points into the author's file, not into the copy."""
    text = "# mine\nSelectAdvertised(P,S) :- Advertised(P,S).\n\nSelectHave( P ) :- Have(P).\n"
    copy = expose_selected(author_operand(0, [("mine.lace", text)]))
    places = {rule.text: (rule.file, rule.line) for rule in copy.rules}
    assert places["SelectHave(P) :- Have(P)."] == ("mine.lace", 4)
    assert places["SelectAdvertised(P,S) :- Advertised(P,S)."] == ("mine.lace", 2)


def test_selected_is_a_copy_of_the_operand() -> None:
    plan = plan_of(GROUP_X)
    side = plan.side(0, LocalPolicy((expose_selected(plan.operands[0]),)))
    assert texts(side, "040-exposure")[0::2] == [
        "m1_AllowQueryRecord(V,P) :- _Viewer(V), m1_SelectHave(P).",
        "m1_SelectHave(P) :- Have(P), Field(P,'Group',_,'X').",
    ]


def test_an_exposure_module_reaches_no_scope_but_its_own() -> None:
    """Names that look generated are its own private names."""
    rule = "AllowQueryRecord(V,P) :- _Viewer(V), o1_SelectHave(P), CanQueryRecord(V,P)."
    side = plan_of().side(0, LocalPolicy((exposing(rule),)))
    assert texts(side, "040-exposure")[0].endswith("m1_o1_SelectHave(P), m1_CanQueryRecord(V,P).")


def readings(side: SideProgram) -> dict[str, Reading]:
    return {rule.node.head.name: side.reading(rule) for rule in side.rules}


def test_who_reads_through_which_view() -> None:
    """020: the peer's operand through its viewer's view, all else as local policy says."""
    plan = plan_of(verifiers=("V.alice", None))
    side = plan.side(1, LocalPolicy((expose_all(),)))
    found = readings(side)
    assert found["o0_SelectHave"] == found["o0_SelectAdvertised"] == Reading(Origin.PEER, 1)
    others = set(found) - {"o0_SelectHave", "o0_SelectAdvertised"}
    assert {found[name] for name in others} == {Reading()}
    assert [view.viewer for view in side.resolution.views] == ["V.alice"]
    assert readings(plan.side(0))["o1_SelectHave"] == Reading(Origin.PEER, 1)


def test_a_trusted_peer_sees_all_and_a_narrowed_operand_less() -> None:
    """D16b."""
    plan = plan_of(verifiers=("V.alice", "V.bob"))
    trusting = plan.side(0, LocalPolicy(trust_peer=True))
    assert readings(trusting)["o1_SelectHave"] == Reading(Origin.TRUSTED)
    narrow = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'X').")
    side = plan.side(0, LocalPolicy((expose_all(),), narrow=(narrow,)))
    assert readings(side)["o0_SelectHave"] == Reading(Origin.LOCAL, 2)
    assert texts(side, "040-exposure")[2:] == [
        "m2_AllowQueryRecord(V,P) :- _OwnViewer(V), Field(P,'Group',_,'X').",
        "CanQueryOwn(Viewer,P) :- m2_AllowQueryRecord(Viewer,P).",
    ]
    own = side.resolution.views[1]
    assert own == View(own.gate, "V.alice")
    assert own.gate.name == "CanQueryOwn"


def test_the_rules_of_the_peer_stand_first() -> None:
    """So that the limits they exceed do not wait for those of local rules."""
    for index in (0, 1):
        groups = plan_of().side(index).main.groups
        assert [group[0].name[:3] for group in groups[:4]] == [
            *[f"o{1 - index}_"] * 2,
            *[f"o{index}_"] * 2,
        ]


def test_provenance_names_the_source_the_step_and_the_origin() -> None:
    plan = plan_of(EVERYTHING, GROUP_X)
    facts = plan.provenance
    assert list(facts) == sorted(set(facts))
    have = next(rule for rule in plan.rules if rule.text.startswith("o1_SelectHave"))
    original = next(r for r in plan.operands[1].module.rules if r.text.startswith("SelectHave"))
    module, label = plan.operands[1].module.id, plan.origins[1].text
    assert f"RuleSource('{have.id}','{module}','{original.id}')" in facts
    assert f"RuleGeneratedBy('{have.id}','040-operand-scope','O1')" in facts
    assert f"RuleOrigin('{have.id}','{label}')" in facts
    generated = {rule.id: (rule.step, rule.what) for rule in plan.rules if rule.module is None}
    assert sorted(generated.values()) == [
        ("040-intersection", "SelectAdvertised/2"),
        ("040-intersection", "SelectHave/1"),
        ("040-lowering", "MayRequest/1"),
        ("040-lowering", "MaySend/1"),
    ]
    for id, (step, what) in generated.items():
        assert f"RuleGeneratedBy('{id}','{step}','{what}')" in facts
        assert not any(f"RuleOrigin('{id}'" in fact for fact in facts)


def test_the_provenance_of_a_side_has_its_exposures() -> None:
    side = plan_of().side(0, LocalPolicy((expose_all(),)))
    assert any("'040-exposure','M1'" in fact for fact in provenance(side.rules))
