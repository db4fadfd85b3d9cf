"""Programs over facts that change: `lacec.live`, one side of a plan, and bases that they share."""

import doctest
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import lacec
from lacec.core.errors import FactError, LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.engine.live import Delta, LiveSide
from lacec.engine.side import evaluate_side
from lacec.plan.expose import LocalPolicy, expose_all
from lacec.plan.lower import MAY_REQUEST, MAY_SEND
from lacec.vm.database import Database
from lacec.vm.live.live_facts import Base, texts_of
from lacec.vm.sources import TupleSource, load
from tests import slow
from tests.helpers import examples
from tests.plan.interference import peer_predicates
from tests.plan.pairs import GROUP_X, exposing, plan_of
from tests.plan.rewriting import slowly
from tests.plan.strategies import Setup, setups
from tests.vm.live.changes import Mirror, Pool

MOST_STEPS = 100_000
Facts = Mapping[Predicate, Iterable[tuple[str, ...]]]
REACH = "Reach('a') :- true.\nReach(Y) :- Reach(X), Edge(X,Y).\nFar(X) :- Node(X), not Reach(X)."

# A module.


def test_the_example_of_live() -> None:
    parsed = doctest.DocTestParser().get_doctest(
        lacec.live.__doc__ or "", {"lacec": lacec}, "live", None, None
    )
    assert parsed.examples
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_a_change_says_what_it_changes() -> None:
    live = lacec.live(lacec.compile(REACH), {"Edge": [("a", "b"), ("b", "c")], "Node": [("c",)]})
    assert live.facts == {"Far/1": [], "Reach/1": [("a",), ("b",), ("c",)]}
    assert live.apply(removed={"Edge": [("a", "b")]}) == {
        "Far/1": Delta([("c",)], []),
        "Reach/1": Delta([], [("b",), ("c",)]),
    }
    assert live.apply({"Edge": [("a", "c")], "Node": [("d",)]}) == {
        "Far/1": Delta([("d",)], [("c",)]),
        "Reach/1": Delta([("c",)], []),
    }
    assert live.facts == {"Far/1": [("d",)], "Reach/1": [("a",), ("c",)]}


def test_what_is_there_or_was_never_there_changes_nothing() -> None:
    live = lacec.live(lacec.compile(REACH), {"Edge": [("a", "b")]})
    assert live.apply({"Edge": [("a", "b")]}, {"Edge": [("x", "y")], "Never": [("z",)]}) == {}
    assert live.apply({"Edge": [("a", "b")]}, {"Edge": [("a", "b")]}) == {}


def test_only_the_outputs_asked_for() -> None:
    live = lacec.live(lacec.compile(REACH), {"Node": [("n",)]}, outputs=["Far/1"])
    assert live.facts == {"Far/1": [("n",)]}
    assert live.apply({"Edge": [("a", "n")]}) == {"Far/1": Delta([], [("n",)])}


def test_what_may_not_be_a_fact_changes_nothing() -> None:
    live = lacec.live(lacec.compile(REACH), {})
    with pytest.raises(FactError, match="NFC"):
        live.apply({"Edge": [("a", "b"), ("b", "e\u0301")]})
    assert live.apply({"Edge": [("b", "c")]}) == {}


def test_derived_facts_cannot_be_given_and_change_nothing() -> None:
    module = lacec.compile(REACH)
    with pytest.raises(FactError, match="Reach/1 is derived by rules"):
        lacec.live(module, {"Reach": [("z",)]})
    live = lacec.live(module, {})
    with pytest.raises(FactError, match="Far/1 is derived by rules"):
        live.apply({"Node": [("n",)], "Far": [("z",)]})
    assert live.apply() == {}
    assert live.facts == {"Far/1": [], "Reach/1": [("a",)]}


def test_an_output_that_no_rule_derives() -> None:
    with pytest.raises(ValueError, match="no rule derives Nope/1; derived are: Far/1, Reach/1"):
        lacec.live(lacec.compile(REACH), {}, outputs=["Nope/1"])


def test_a_limit_is_that_of_full_evaluation_and_passes() -> None:
    """What came of the change that met it is told with the next."""
    live = lacec.live(lacec.compile(REACH), {}, limits=Limits(derived_facts=3))
    live.apply({"Edge": [("a", "b"), ("b", "c")]})
    with pytest.raises(LimitError, match="derived_facts"):
        live.apply({"Edge": [("c", "d")], "Node": [("x",)]})
    assert live.facts["Reach/1"] == [("a",), ("b",), ("c",)]
    assert live.apply(removed={"Edge": [("a", "b")]}) == {
        "Far/1": Delta([("x",)], []),
        "Reach/1": Delta([], [("b",), ("c",)]),
    }


def test_too_many_base_facts() -> None:
    live = lacec.live(lacec.compile(REACH), {}, limits=Limits(base_facts=1))
    with pytest.raises(LimitError, match="base_facts"):
        live.apply({"Edge": [("a", "b"), ("b", "c")]})
    assert live.apply(removed={"Edge": [("b", "c")]}) == {"Reach/1": Delta([("b",)], [])}


def test_what_is_idle_can_be_dropped() -> None:
    live = lacec.live(lacec.compile(REACH), {"Edge": [("a", "b")], "Node": [("b",)]})
    live.drop()
    assert live.facts == {"Far/1": [], "Reach/1": [("a",), ("b",)]}
    live.drop()
    assert live.apply({"Edge": [("b", "c")]}) == {"Reach/1": Delta([("c",)], [])}
    assert live.apply(removed={"Edge": [("a", "b")]}) == {
        "Far/1": Delta([("b",)], []),
        "Reach/1": Delta([], [("b",), ("c",)]),
    }


def test_too_many_live_blocks_are_left_out() -> None:
    """Then groups are evaluated anew: full evaluation needs fewer instructions."""
    atoms = ", ".join(f"E(X,Y{n})" for n in range(30))
    limits = Limits(instructions=200)
    live = lacec.live(lacec.compile(f"A(X) :- {atoms}."), {"E": [("a", "b")]}, limits=limits)
    assert live.apply({"E": [("c", "d")]}, {"E": [("a", "b")]}) == {
        "A/1": Delta([("c",)], [("a",)])
    }


# One side of a plan.

RECORDS: Facts = {
    Predicate("Have", 1): [("1",), ("2",), ("3",)],
    Predicate("Field", 4): [
        ("1", "Group", "0", "X"),
        ("2", "Group", "0", "Y"),
        ("3", "Group", "0", "X"),
    ],
    Predicate("Advertised", 2): [("8", "S")],
}


def of_records(facts: Facts) -> Facts:
    return {p: rows for p, rows in facts.items() if p in RECORD_FACTS}


def of_link(facts: Facts) -> Facts:
    return {p: rows for p, rows in facts.items() if p not in RECORD_FACTS}


def bases(facts: Facts) -> tuple[Base, Base]:
    """The record facts of a store, which links share, and what one link has of its own."""
    shared = Base(load(TupleSource(of_records(facts))), RECORD_FACTS)
    own = Base(Database(shared.symbols))
    own.apply(of_link(facts))
    return shared, own


@given(setups(), st.integers(0, 2**32))
@examples(150)
def test_a_side_is_that_of_full_evaluation_after_every_step(setup: Setup, seed: int) -> None:
    """020, D16a: views change with exposures, and what is seen through them with both."""
    policy = LocalPolicy(
        tuple(map(exposing, setup.exposures)), narrow=tuple(map(exposing, setup.narrow))
    )
    program = plan_of(*setup.operands).side(setup.side, policy)
    asked = peer_predicates(program, everything=True)
    pool = Pool(setup.facts, seed)
    shared, own = bases(setup.facts)
    side = LiveSide(program, (shared, own), outputs=asked)
    mirror = Mirror(shared.symbols)
    for predicate in (MAY_SEND, MAY_REQUEST, *asked):
        mirror.facts[predicate] = set(side.facts(predicate))
    for _ in range(5):
        added, removed = pool.step(4)
        changes = [
            shared.apply(of_records(added), of_records(removed)),
            own.apply(of_link(added), of_link(removed)),
        ]
        mirror.hear(side.apply(*changes))
        try:
            expected = slowly(
                program, {p: list(rows) for p, rows in pool.facts.items()}, MOST_STEPS
            )
        except slow.TooMuchWorkError:
            reject()
        for predicate in (MAY_SEND, MAY_REQUEST, *asked):
            assert mirror.facts[predicate] == expected[predicate]
            assert set(side.facts(predicate)) == expected[predicate]


BY_FIELD = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(P,'Group',_,'X').")


def test_a_record_that_comes_into_view_is_seen() -> None:
    program = plan_of(GROUP_X, GROUP_X).side(0, LocalPolicy((BY_FIELD,)))
    shared, own = bases(RECORDS)
    side = LiveSide(program, (shared, own))
    assert side.facts(MAY_SEND) == [("1",), ("3",)]
    change = shared.apply({Predicate("Field", 4): [("2", "Group", "1", "X")]})
    found = side.apply(change)
    assert texts_of(shared.symbols, found[MAY_SEND].added) == [("2",)]
    change = shared.apply(removed={Predicate("Field", 4): [("3", "Group", "0", "X")]})
    found = side.apply(change)
    assert texts_of(shared.symbols, found[MAY_SEND].removed) == [("3",)]
    assert side.facts(MAY_SEND) == [("1",), ("2",)]


def test_links_share_the_facts_of_a_store() -> None:
    """A record that arrives changes the base once; each link has its own advertisements."""
    program = plan_of().side(0, LocalPolicy((expose_all(),)))
    shared, one = bases(RECORDS)
    other = Base(Database(shared.symbols))
    sides = [LiveSide(program, (shared, own)) for own in (one, other)]
    assert [side.facts(MAY_REQUEST) for side in sides] == [[("8",)], []]
    arrived = shared.apply({Predicate("Have", 1): [("4",)]})
    told = other.apply({Predicate("Advertised", 2): [("9", "T")]})
    sides[0].apply(arrived)
    sides[1].apply(arrived, told)
    assert [side.facts(MAY_REQUEST) for side in sides] == [[("8",)], [("9",)]]
    assert all(side.facts(MAY_SEND)[-1] == ("4",) for side in sides)


def test_changes_that_a_side_missed_come_as_one() -> None:
    program = plan_of().side(0, LocalPolicy((expose_all(),)))
    shared, own = bases(RECORDS)
    side = LiveSide(program, (shared, own))
    have = Predicate("Have", 1)
    changes = [
        shared.apply({have: [("4",)]}, {have: [("1",)]}),
        shared.apply({have: [("1",), ("5",)]}, {have: [("4",)]}),
    ]
    found = side.apply(*changes)
    assert texts_of(shared.symbols, found[MAY_SEND].added) == [("5",)]
    assert not found[MAY_SEND].removed


def test_a_dropped_side_finds_its_way_back() -> None:
    program = plan_of(GROUP_X, GROUP_X).side(0, LocalPolicy((BY_FIELD,)))
    shared, own = bases(RECORDS)
    side = LiveSide(program, (shared, own))
    side.drop()
    change = shared.apply({Predicate("Field", 4): [("2", "Group", "1", "X")]})
    assert texts_of(shared.symbols, side.apply(change)[MAY_SEND].added) == [("2",)]


def test_facts_that_no_exchange_supplies() -> None:
    shared, own = bases(RECORDS)
    side = LiveSide(plan_of().side(0), (shared, own))
    with pytest.raises(FactError, match="Edge/2 is no fact of an exchange"):
        side.apply(own.apply({Predicate("Edge", 2): [("a", "b")]}))


def test_a_side_after_facts_that_no_exchange_supplies() -> None:
    """What else changed with them is told with the next change; to take them away is no mistake."""
    program = plan_of(GROUP_X, GROUP_X).side(0, LocalPolicy((BY_FIELD,)))
    shared, own = bases(RECORDS)
    side = LiveSide(program, (shared, own))
    edge = {Predicate("Edge", 2): [("a", "b")]}
    arrived = shared.apply({Predicate("Field", 4): [("2", "Group", "1", "X")]})
    with pytest.raises(FactError, match="Edge/2 is no fact of an exchange"):
        side.apply(arrived, own.apply(edge))
    found = side.apply(own.apply(removed=edge))
    assert texts_of(shared.symbols, found[MAY_SEND].added) == [("2",)]
    assert side.facts(MAY_SEND) == [("1",), ("2",), ("3",)]


def test_a_base_holds_what_it_is_for() -> None:
    shared, _ = bases(RECORDS)
    with pytest.raises(FactError, match="Advertised/2 are held elsewhere"):
        shared.apply({Predicate("Advertised", 2): [("9", "S")]})


def test_a_side_after_a_limit_of_its_gates() -> None:
    """The main program was not told of the change, and evaluates anew."""
    limits = Limits(derived_facts=3)
    program = plan_of(GROUP_X, GROUP_X).side(0, LocalPolicy((expose_all(),)))
    shared, own = bases(RECORDS)
    side = LiveSide(program, (shared, own), limits)
    have, field = Predicate("Have", 1), Predicate("Field", 4)
    with pytest.raises(LimitError, match="derived_facts"):
        side.apply(shared.apply({have: [("4",)], field: [("4", "Group", "0", "X")]}))
    found = side.apply(shared.apply(removed={have: [("2",)]}))
    assert texts_of(shared.symbols, found[MAY_SEND].added) == [("4",)]
    fields = [(record, "Group", "0", "X") for record in ("1", "3", "4")]
    facts: Facts = {have: [("1",), ("3",), ("4",)], field: fields}
    expected = evaluate_side(program, load(TupleSource(facts)))
    assert [record for (record,) in side.facts(MAY_SEND)] == expected.may_send
