"""Stratification (030): no predicate needs itself through a negated or counted atom."""

from lacec.core.facets import Facet
from lacec.pipeline import check_sources
from tests.helpers import Found, cases, diagnose, found, lines, only


@cases(
    ("positive recursion", "A(P) :- Have(P).\nA(P) :- A(P).", "plain", []),
    ("mutual positive recursion", "A(P) :- B(P).\nB(P) :- A(P).\nA(P) :- Have(P).", "plain", []),
    ("negation of a lower stratum", "A(P) :- Have(P), not B(P).\nB(P) :- Peer(P).", "plain", []),
    ("negation of a base predicate", "A(P) :- Have(P), not Peer(P).", "plain", []),
    ("counting a base predicate", "A(P) :- Have(P), Cardinality(Have(Q),'<','9').", "plain", []),
    (
        "counting a recursive predicate",
        "A(P) :- Have(P).\nA(P) :- A(P).\nB() :- Cardinality(A(_),'<','9').",
        "plain",
        [],
    ),
    (
        "a predicate negates itself",
        "A(P) :- Have(P), not A(P).",
        "plain",
        [("unstratified", 1, 22)],
    ),
    (
        "a predicate counts itself",
        "A(P) :- Have(P), Cardinality(A(Q),'<','9').",
        "plain",
        [("unstratified", 1, 30)],
    ),
    (
        "two predicates negate each other",
        "A(P) :- Have(P), not B(P).\nB(P) :- Have(P), not A(P).",
        "plain",
        [("unstratified", 1, 22)],
    ),
    (
        "negation and a positive way back",
        "A(P) :- Have(P), not B(P).\nB(P) :- A(P).",
        "plain",
        [("unstratified", 1, 22)],
    ),
    (
        "a positive way to a negation",
        "A(P) :- B(P).\nB(P) :- Have(P), not A(P).",
        "plain",
        [("unstratified", 2, 22)],
    ),
    (
        "counting and a positive way back",
        "A() :- Cardinality(B(_),'<','9').\nB(P) :- Have(P), A().",
        "plain",
        [("unstratified", 1, 20)],
    ),
    (
        "two groups",
        "A(P) :- Have(P), not A(P).\nB(P) :- Have(P), not B(P).",
        "plain",
        [("unstratified", 1, 22), ("unstratified", 2, 22)],
    ),
    (
        "one group, once, at its first place",
        "A(P) :- Have(P), not B(P), not A(P).\nB(P) :- Have(P), not A(P).",
        "plain",
        [("unstratified", 1, 22)],
    ),
    (
        "another arity is another predicate",
        "A(P) :- Have(P), not A(P,P).\nA(P,P) :- A(P).",
        "plain",
        [("unstratified", 1, 22)],
    ),
    (
        "another arity that does not come back",
        "A(P) :- Have(P), not A(P,P).\nA(P,P) :- Have(P).",
        "plain",
        [],
    ),
    (
        "only one of several rules",
        "A(P) :- Have(P).\nA(P) :- Peer(P), not B(P).\nB(P) :- A(P).",
        "plain",
        [("unstratified", 2, 22)],
    ),
    (
        "a rule that could never fire counts too",
        "A(P) :- Nothing(P), not A(P).",
        "plain",
        [("unstratified", 1, 25)],
    ),
)
def test_strata(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected


def _edges(source: str) -> list[tuple[int, int, str]]:
    return [(r.place.line, r.place.column, r.message) for r in only(source).related]


def test_the_cycle_is_shown_edge_by_edge() -> None:
    source = lines(
        "# a cycle of three",
        "Trusted(V) :- Signed(_,V), not Revoked(V).",
        "Signed(P,V) :- Field(P,'Signed-By',_,V).",
        "Revoked(V) :- Complaint(V), Peer(V).",
        "",
        "Complaint(V) :- Here(V), Cardinality(Trusted(V),'>','1').",
    )
    diagnostic = only(source)
    assert (diagnostic.name, diagnostic.place.line, diagnostic.place.column) == (
        "unstratified",
        2,
        32,
    )
    assert diagnostic.message == (
        "`Trusted/1` depends on itself through a negated atom: "
        "Trusted/1 -> Revoked/1 -> Complaint/1 -> Trusted/1"
    )
    assert diagnostic.help == (
        "`Revoked/1` must be complete before it is negated: break the cycle in one rule"
    )
    assert _edges(source) == [
        (2, 32, "`Trusted/1` negates `Revoked/1` here"),
        (4, 15, "`Revoked/1` uses `Complaint/1` here"),
        (6, 38, "`Complaint/1` counts `Trusted/1` here"),
    ]


def test_a_cycle_of_one() -> None:
    source = "A(P) :- Have(P), Cardinality(A(Q),'<','9')."
    assert only(source).message == "`A/1` depends on itself through a counted atom: A/1 -> A/1"
    assert _edges(source) == [(1, 30, "`A/1` counts `A/1` here")]


def test_the_shortest_way_back_is_shown() -> None:
    source = lines(
        "A() :- not B().",
        "B() :- C().",
        "C() :- D().",
        "D() :- A().",
        "B() :- D().",
    )
    assert [(line, message) for line, _, message in _edges(source)] == [
        (1, "`A/0` negates `B/0` here"),
        (5, "`B/0` uses `D/0` here"),
        (4, "`D/0` uses `A/0` here"),
    ]


def test_a_cycle_through_linked_sources_names_their_files() -> None:
    (diagnostic,) = check_sources([("a", "A() :- not B()."), ("b", "\nB() :- A().")], Facet.PLAIN)
    assert [(r.place.file, r.place.line) for r in diagnostic.related] == [("a", 1), ("b", 2)]


def test_a_long_cycle_is_found_without_recursion() -> None:
    count = 4000
    rules = [f"P{n}() :- P{n + 1}()." for n in range(count)]
    diagnostic = only(lines(*rules, f"P{count}() :- not P0()."))
    assert (diagnostic.place.line, len(diagnostic.related)) == (count + 1, count + 1)


def test_a_repaired_rule_takes_part() -> None:
    names = [d.name for d in diagnose("A() :- not B().\nB() :- A()")]
    assert names == ["unstratified", "missing-full-stop"]
