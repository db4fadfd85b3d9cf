"""Groups of recursive predicates, the order they can be evaluated in, and strata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.check.dependencies import Stratification, stratify
from lacec.core.predicates import Predicate
from lacec.syntax.ast import Atom, Cardinality, Negated, Rule
from tests.helpers import compiled, examples, lines, parsed
from tests.strategies import dressed, sound_programs


def _stratify(*texts: str) -> Stratification:
    return stratify(parsed(lines(*texts)).rules)


def _shown(groups: tuple[tuple[Predicate, ...], ...]) -> list[list[str]]:
    return [[str(predicate) for predicate in group] for group in groups]


@pytest.mark.parametrize(
    ("texts", "strata"),
    [
        ([], []),
        (["A() :- true."], [["A/0"]]),
        (["A(P) :- Have(P).", "B(P) :- A(P)."], [["A/1", "B/1"]]),
        (["B(P) :- Have(P), not A(P).", "A(P) :- Peer(P)."], [["A/1"], ["B/1"]]),
        (["B() :- Cardinality(A(_),'<','9').", "A(P) :- Have(P)."], [["A/1"], ["B/0"]]),
        (["A(P) :- Have(P), not Peer(P)."], [["A/1"]]),
        (["A() :- not B().", "B() :- not C().", "C() :- true."], [["C/0"], ["B/0"], ["A/0"]]),
        (["A() :- B(), not C().", "B() :- not C().", "C() :- true."], [["C/0"], ["A/0", "B/0"]]),
        (["A() :- B().", "B() :- A().", "C() :- not A()."], [["A/0", "B/0"], ["C/0"]]),
        (["A(P) :- Have(P).", "A(P,P) :- Have(P), not A(P)."], [["A/1"], ["A/2"]]),
        (["A() :- Unknown()."], [["A/0"]]),
    ],
    ids=[
        "no rules",
        "one rule",
        "a positive atom stays in the stratum",
        "a negated atom is lower",
        "a counted atom is lower",
        "base predicates have no stratum",
        "each negation is a step",
        "as low as possible",
        "a recursive group is in one stratum",
        "arity tells predicates apart",
        "a predicate without rules has no stratum",
    ],
)
def test_strata(texts: list[str], strata: list[list[str]]) -> None:
    assert _shown(_stratify(*texts).strata) == strata


def test_strata_do_not_depend_on_the_order_of_rules() -> None:
    texts = ["B(P) :- Have(P), not A(P).", "A(P) :- Peer(P).", "C(P) :- A(P)."]
    assert _stratify(*texts).strata == _stratify(*reversed(texts)).strata


def test_groups_come_after_what_they_need() -> None:
    found = _stratify("A() :- B().", "B() :- C().", "C() :- B().", "C() :- D().", "D() :- true.")
    assert [sorted(group) for group in _shown(found.groups)] == [["D/0"], ["B/0", "C/0"], ["A/0"]]


def test_a_valid_program_has_no_cycles() -> None:
    assert _stratify("A() :- A().", "B() :- not A().").cycles == ()


def test_a_module_holds_its_strata() -> None:
    module = compiled("B(P) :- Have(P), not A(P).\nA(P) :- Peer(P).")
    assert module.strata == ((Predicate("A", 1),), (Predicate("B", 1),))


@examples(80)
@given(st.data())
def test_every_rule_reads_lower_or_equal_strata(data: st.DataObject) -> None:
    """030: what is negated or counted is complete before; what is used is at most as high."""
    program: list[Rule] = data.draw(sound_programs(min_size=1, max_size=6))
    module = compiled(data.draw(dressed(program)))
    level = {p: height for height, stratum in enumerate(module.strata) for p in stratum}
    assert set(level) == {rule.head.predicate for rule in program}
    for rule in program:
        for literal in rule.body:
            if isinstance(literal, Atom):
                assert level.get(literal.predicate, 0) <= level[rule.head.predicate]
            elif isinstance(literal, Negated | Cardinality):
                assert level.get(literal.atom.predicate, -1) < level[rule.head.predicate]


edges = st.lists(
    st.tuples(st.sampled_from("ABCDE"), st.sampled_from("ABCDE"), st.booleans()), max_size=10
)


@examples(150)
@given(edges)
def test_cycles_are_found_exactly_when_they_exist(wanted: list[tuple[str, str, bool]]) -> None:
    """Compared with all ways through the graph, found the slow way."""
    found = _stratify(*(f"{h}() :- {'not ' * n}{b}()." for h, b, n in wanted))
    derived = {head for head, _, _ in wanted}
    reach = {(head, body) for head, body, _ in wanted if body in derived}
    for _ in derived:
        reach |= {(a, d) for a, b in reach for c, d in reach if b == c}
    wrong = {h for h, b, negated in wanted if negated and (b == h or (b, h) in reach)}
    groups = {frozenset(p.name for p in group) for group in found.groups}
    assert groups == {
        frozenset({a} | {b for b in derived if (a, b) in reach and (b, a) in reach})
        for a in derived
    }
    assert len(found.cycles) == len({g for g in groups if g & wrong})
    for cycle in found.cycles:
        assert cycle[0].kind == "negates"
        assert [edge.needs for edge in cycle] == [edge.head for edge in (*cycle[1:], cycle[0])]


def test_a_change_that_leaves_the_shapes_alone_is_not_stratified_again() -> None:
    first = _stratify("Kept(P) :- Field(P,'App',_,'a').", "Rest(P) :- Have(P), not Kept(P).")
    typed = _stratify("Kept(P) :- Field(P,'App',_,'ab').", "Rest(P) :- Have(P), not Kept(P).")
    other = _stratify("Kept(P) :- Field(P,'App',_,'ab').", "Rest(P) :- Have(P), Kept(P).")
    assert typed is first
    assert [len(each.strata) for each in (first, other)] == [2, 1]


def test_a_cycle_is_told_of_the_rules_as_they_stand() -> None:
    """Its places move with the text, so no cycle is kept."""
    before = _stratify("A() :- not A().")
    after = _stratify("# moved", "A() :- true, not A().")
    assert [each.cycles[0][0].rule.line for each in (before, after)] == [1, 2]
    assert before.cycles[0][0].span != after.cycles[0][0].span
