"""lacec.compile_plan and lacec.evaluate_plan give what the commands give."""

import pytest

import lacec
from tests.plan.pairs import EVERYTHING, GROUP_X

FACTS: dict[str, list[tuple[str, ...]]] = {
    "Have": [("1",), ("2",)],
    "Field": [("1", "Group", "0", "X")],
}


def test_a_plan_and_a_side() -> None:
    plan = lacec.compile_plan(GROUP_X, EVERYTHING, verifiers=(None, "V.bob"))
    assert isinstance(plan, lacec.ExchangePlan)
    assert plan.id.startswith("E.")
    assert lacec.evaluate_plan(plan, 0, FACTS)["may_send"] == []
    assert lacec.evaluate_plan(plan, 0, FACTS, expose=["selected"]) == {
        "may_send": ["1"],
        "may_request": [],
        "can_query": ["1"],
    }
    mine = "AllowQueryRecord('V.bob',P) :- Have(P)."
    assert lacec.evaluate_plan(plan, 0, FACTS, expose=[mine])["can_query"] == ["1", "2"]
    assert lacec.evaluate_plan(plan, 1, FACTS, expose=["all"], narrow=["all"])["may_send"] == ["1"]
    assert lacec.evaluate_plan(plan, 0, FACTS, trust_peer=True)["may_send"] == ["1"]


def test_what_is_wrong_is_raised() -> None:
    with pytest.raises(lacec.CompileError):
        lacec.compile_plan("SelectHave(P) :- Have(P).", EVERYTHING)
    with pytest.raises(lacec.PlanError):
        lacec.compile_plan(EVERYTHING, EVERYTHING, lowering="mine")
    with pytest.raises(lacec.FactError):
        lacec.evaluate_plan(lacec.compile_plan(EVERYTHING, EVERYTHING), 0, {"Member": [("a",)]})
