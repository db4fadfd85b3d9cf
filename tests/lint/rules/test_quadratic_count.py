"""A count that compares every pair."""

from lacec.core.resources import stdlib_path
from tests.helpers import Found, cases, lines, lints

AT = "At(P,T) :- Field(P,'App',_,'a'), Field(P,'TAI',_,T)."
LATEST = "Latest(P) :- At(P,_), Cardinality(Newer(P,_),'<','100')."


@cases(
    (
        "as std:latest has it",
        lines(AT, "Newer(P,Q) :- At(P,T), At(Q,U), LexCompare(U,'>',T).", LATEST),
        "plain",
        [],
    ),
    (
        "two predicates",
        lines(
            AT,
            "Newer(P,Q) :- At(P,T), Field(Q,'App',_,'a'), Field(Q,'TAI',_,U), LexCompare(U,'>',T).",
            LATEST,
        ),
        "plain",
        [("quadratic-count", 3, 35)],
    ),
    (
        "three columns",
        lines(
            AT,
            "Newer(P,Q,U) :- At(P,T), At(Q,U), LexCompare(U,'>',T).",
            "Latest(P) :- At(P,_), Cardinality(Newer(P,_,_),'<','100').",
        ),
        "plain",
        [("quadratic-count", 3, 35)],
    ),
    (
        "joined by a value",
        lines(
            "Link(P,Q) :- RecordLink(P,_,_,_,Q), Have(Q).",
            "A(P) :- Have(P), Cardinality(Link(P,_),'<','9').",
        ),
        "plain",
        [],
    ),
    ("record facts", "A(P) :- Have(P), Cardinality(Field(P,'Tag',_,_),'<','9').", "plain", []),
    (
        "an operator that is none",
        lines(AT, "Newer(P,Q) :- At(P,T), At(Q,U), LexCompare(U,'=',T).", LATEST),
        "plain",
        [("bad-operator", 2, 46)],
    ),
)
def test_quadratic_count(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_standard_library_is_counted_by_rank() -> None:
    own = lines(AT, "Candidate(P,T) :- At(P,T).", LATEST)
    assert lints(own, linked=stdlib_path("latest").read_text(encoding="utf-8")) == []
