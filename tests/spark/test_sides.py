"""Sides of plans on Spark: what may be sent, requested and queried, as on the NumPy machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import FactError, LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.plan.expose import LocalPolicy, expose_all
from lacec.spark.machine import Settings
from tests.helpers import examples
from tests.plan.pairs import EVERYTHING, exposing, plan_of
from tests.plan.strategies import Setup, setups
from tests.spark.corpora import over_rows, rows_of
from tests.spark.quick import SETTINGS, SPARK_ONLY, Quick, hashes
from tests.vm.strategies import Facts

some_settings = st.sampled_from(SETTINGS)


def check(quick: Quick, setup: Setup, settings: Settings, *, told: bool) -> None:
    read = over_rows if told else str
    policy = LocalPolicy(
        tuple(exposing(read(text)) for text in setup.exposures),
        narrow=tuple(exposing(read(text)) for text in setup.narrow),
    )
    program = plan_of(*map(read, setup.operands)).side(setup.side, policy)
    if told:
        rows = rows_of(setup.facts)
        quick.check_side(program, setup.facts, settings, rows, rows[1:])
    else:
        quick.check_side(program, setup.facts, settings)


@given(setups(), some_settings)
@examples(3)
def test_random_plans(quick: Quick, setup: Setup, settings: Settings) -> None:
    check(quick, setup, settings, told=False)


@given(setups(), some_settings)
@examples(5)
def test_random_plans_over_rows_of_records(quick: Quick, setup: Setup, settings: Settings) -> None:
    check(quick, setup, settings, told=True)


@pytest.mark.soak
@given(setups(), some_settings, st.booleans())
@examples(400)
def test_many_random_plans(quick: Quick, setup: Setup, settings: Settings, told: bool) -> None:
    check(quick, setup, settings, told=told)


FACTS: Facts = {
    Predicate("Have", 1): [("1",), ("2",), ("3",)],
    Predicate("Field", 4): [("1", "Group", "0", "X"), ("2", "Group", "0", "Y")],
}
HOSTILE = "SelectHave(P) :- Have(P), not Field(P,'Group',_,'X').\n" + EVERYTHING.splitlines()[1]


@pytest.mark.parametrize("settings", SETTINGS)
def test_020_negation_of_a_peer_ranges_over_its_view(quick: Quick, settings: Settings) -> None:
    """What is not exposed is not there, and says nothing by its absence either."""
    exposes = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'Y').")
    program = plan_of(EVERYTHING, HOSTILE).side(0, LocalPolicy((exposes,)))
    for rows in (None, rows_of(FACTS)):
        told, _ = quick.facts(FACTS, rows)
        side = quick.evaluator(told, settings).side(program)
        assert hashes(send=side.may_send, query=side.can_query) == {"send": ["2"], "query": ["2"]}


def test_020_a_view_may_depend_on_other_records(quick: Quick) -> None:
    text = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(Q,'Group',_,'X'), Q != P."
    program = plan_of().side(0, LocalPolicy((exposing(text),)))
    quick.check_side(program, FACTS, SPARK_ONLY, rows_of(FACTS))


def test_a_trusted_peer_sees_all(quick: Quick) -> None:
    program = plan_of().side(1, LocalPolicy((), trust_peer=True))
    quick.check_side(program, FACTS, SPARK_ONLY, rows_of(FACTS))
    quick.check_side(program, FACTS, SPARK_ONLY)


def test_facts_that_no_exchange_supplies_are_refused(quick: Quick) -> None:
    told, _ = quick.facts({Predicate("Mine", 1): [("1",)]}, None)
    with pytest.raises(FactError, match="Mine/1"):
        quick.evaluator(told, SPARK_ONLY).side(plan_of().side(0, LocalPolicy((expose_all(),))))


def test_d12_a_peer_has_fewer_rules(quick: Quick) -> None:
    told, _ = quick.facts(FACTS, None)
    program = plan_of().side(0, LocalPolicy((expose_all(),)))
    with pytest.raises(LimitError, match="selector_rules"):
        quick.evaluator(told, SPARK_ONLY, Limits(selector_rules=1)).side(program)
