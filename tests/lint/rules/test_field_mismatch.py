"""A selector that looks at other fields of what it has than of what it is offered."""

from tests.helpers import Found, cases, lines, lints

HAVE = "SelectHave(P) :- Have(P), Field(P,'Group',_,'X')."
OFFERED = "SelectAdvertised(P,S) :- AdvertisedField(P,S,'Group',_,'X')."


@cases(
    ("the same", lines(HAVE, OFFERED), "selector", []),
    (
        "only of what is stored",
        lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S)."),
        "selector",
        [("field-mismatch", 1, 27)],
    ),
    (
        "only of what is offered",
        lines("SelectHave(P) :- Have(P).", OFFERED),
        "selector",
        [("field-mismatch", 2, 26)],
    ),
    (
        "one each",
        lines(HAVE, "SelectAdvertised(P,S) :- AdvertisedField(P,S,'App',_,'X')."),
        "selector",
        [("field-mismatch", 1, 27), ("field-mismatch", 2, 26)],
    ),
    (
        "by way of a helper",
        lines("SelectHave(P) :- Wanted(P).", "Wanted(P) :- Field(P,'App',_,'a').", OFFERED),
        "selector",
        [("field-mismatch", 2, 14), ("field-mismatch", 3, 26)],
    ),
    (
        "of other records",
        lines(
            "SelectHave(P) :- Have(P), not Blocked(P).",
            "Blocked(P) :- Field(Q,'App',_,'b'), Field(Q,'Name',_,P).",
            "SelectAdvertised(P,S) :- Advertised(P,S).",
        ),
        "selector",
        [],
    ),
    (
        "any field",
        lines(HAVE, "SelectAdvertised(P,S) :- AdvertisedField(P,S,_,_,'X')."),
        "selector",
        [],
    ),
    ("no selector", lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S)."), "plain", []),
)
def test_field_mismatch(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected
