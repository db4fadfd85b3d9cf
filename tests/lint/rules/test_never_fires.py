"""A rule whose body contradicts itself."""

from lacec.core.predicates import Predicate
from tests.helpers import Found, cases, lints

N = "A(P) :- Field(P,'N',_,V), {}."


@cases(
    (
        "two groups",
        "A(P) :- Field(P,'Group',_,'u'), Field(P,'Group',_,'v').",
        "plain",
        [("never-fires", 1, 51)],
    ),
    ("two values of a header", "A(P) :- Field(P,'Tag',_,'u'), Field(P,'Tag',_,'v').", "plain", []),
    (
        "groups of two records",
        "A(P,Q) :- PlexHash(P,Q), Field(P,'Group',_,'u'), Field(Q,'Group',_,'v').",
        "plain",
        [],
    ),
    (
        "a group by its value",
        "A(P) :- Field(P,'Group',_,'u'), Field(P,'Group',_,G), G != 'u'.",
        "plain",
        [("never-fires", 1, 55)],
    ),
    (
        "an index that a field has not",
        "A(P) :- Field(P,'Group','1',_).",
        "plain",
        [("never-fires", 1, 25)],
    ),
    ("an index of a header", "A(P) :- Field(P,'Tag','1',_).", "plain", []),
    ("a type that is none", "A(P) :- Field(P,'Type',_,'X').", "plain", [("never-fires", 1, 26)]),
    (
        "a field that a Blob has not",
        "A(P) :- Field(P,'Type',_,'B'), Field(P,'Group',_,_).",
        "plain",
        [("never-fires", 1, 40)],
    ),
    (
        "a header of a Blob",
        "A(P) :- Field(P,'Type',_,'B'), Field(P,'Tag',_,_).",
        "plain",
        [("never-fires", 1, 40)],
    ),
    ("a header of a Plex", "A(P) :- Field(P,'Type',_,'P'), Field(P,'Tag',_,_).", "plain", []),
    (
        "the signature of a Plex",
        "A(P) :- Field(P,'Type',_,'P'), Field(P,'Signed-By',_,_).",
        "plain",
        [("never-fires", 1, 40)],
    ),
    ("asked for and refused", "A(P) :- Have(P), not Have(P).", "plain", [("never-fires", 1, 22)]),
    (
        "refused by a wildcard",
        "A(P) :- PlexHash(P,'x'), not PlexHash(P,_).",
        "plain",
        [("never-fires", 1, 30)],
    ),
    ("another refused", "A(P) :- PlexHash(P,_), not PlexHash(P,'x').", "plain", []),
    ("two constants", "A(P) :- Have(P), 'a' != 'a'.", "plain", [("never-fires", 1, 18)]),
    ("itself", "A(P) :- Have(P), P != P.", "plain", [("never-fires", 1, 18)]),
    (
        "less than itself",
        "A(P) :- Have(P), LexCompare(P,'<',P).",
        "plain",
        [("never-fires", 1, 18)],
    ),
    ("numbers", "A(P) :- Have(P), IntCompare('10','<','9').", "plain", [("never-fires", 1, 18)]),
    (
        "a shape of a constant",
        "A(P) :- Have(P), TextShape('links/a/b','links/','/','c').",
        "plain",
        [("never-fires", 1, 18)],
    ),
    (
        "nothing between numbers",
        N.format("IntCompare(V,'>','3'), IntCompare(V,'<','4')"),
        "plain",
        [("never-fires", 1, 50)],
    ),
    ("a number between", N.format("IntCompare(V,'>','3'), IntCompare(V,'<','5')"), "plain", []),
    (
        "written the other way around",
        N.format("IntCompare('3','<',V), IntCompare(V,'<=','3')"),
        "plain",
        [("never-fires", 1, 50)],
    ),
    (
        "nothing between texts",
        N.format("LexCompare(V,'>','b'), LexCompare(V,'<','a')"),
        "plain",
        [("never-fires", 1, 50)],
    ),
    ("one text between", N.format("LexCompare(V,'>=','a'), LexCompare(V,'<=','a')"), "plain", []),
    (
        "two beginnings",
        N.format("TextShape(V,'a/','',''), TextShape(V,'b/','','')"),
        "plain",
        [("never-fires", 1, 64)],
    ),
    (
        "a longer beginning",
        N.format("TextShape(V,'a/','',''), TextShape(V,'a/b/','','')"),
        "plain",
        [],
    ),
    (
        "a TAI as a number",
        "A(P) :- Field(P,'TAI',_,T), IntCompare(T,'>','5').",
        "plain",
        [("never-fires", 1, 40)],
    ),
    (
        "a tick as a number",
        "A() :- TickTAI(T), IntCompare(T,'>','5').",
        "plain",
        [("never-fires", 1, 31)],
    ),
    ("fewer than none", "A() :- Cardinality(Have(_),'<','0').", "plain", [("never-fires", 1, 32)]),
    ("none", "A() :- Cardinality(Have(_),'<=','0').", "plain", []),
    (
        "a constant that no rule gives",
        "Kind('a') :- true.\nA() :- Kind('b').",
        "plain",
        [("never-fires", 2, 13)],
    ),
    (
        "a constant that one gives",
        "Kind('a') :- true.\nKind('b') :- true.\nA() :- Kind('b').",
        "plain",
        [],
    ),
    (
        "a rule that gives any",
        "Kind('a') :- true.\nKind(V) :- Peer(V).\nA() :- Kind('b').",
        "plain",
        [],
    ),
    ("negated", "Kind('a') :- true.\nA(P) :- Have(P), not Kind('b').", "plain", []),
)
def test_never_fires(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_one_contradiction_is_enough() -> None:
    assert len(lints("A(P) :- Have(P), not Have(P), P != P, 'a' != 'a'.")) == 1


def test_facts_may_be_given_for_what_rules_list() -> None:
    source = "Kind('a') :- true.\nA() :- Kind('b')."
    assert lints(source, inputs=frozenset({Predicate("Kind", 1)})) == []
