"""A selector that asks the store about what is only offered."""

from tests.helpers import Found, cases, fixed, lines, lints

HAVE = "SelectHave(P) :- Have(P)."


@cases(
    (
        "a field",
        lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S), Field(P,'Group',_,'X')."),
        "selector",
        [("stored-advertisement", 2, 43)],
    ),
    (
        "by way of a helper",
        lines(
            HAVE,
            "SelectAdvertised(P,S) :- Advertised(P,S), Wanted(P).",
            "Wanted(P) :- Field(P,'Group',_,'X').",
        ),
        "selector",
        [("stored-advertisement", 3, 14)],
    ),
    (
        "what is not here",
        lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S), not Have(P)."),
        "selector",
        [],
    ),
    (
        "another record",
        lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S), Field(_,'Group',_,'X')."),
        "selector",
        [],
    ),
)
def test_stored_advertisement(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_asks_for_the_claim() -> None:
    rule = "SelectAdvertised(P,S) :- Advertised(P,S), {}."
    source = lines(
        "SelectHave(P) :- Field(P,'Group',_,'X').", rule.format("Field(P,'Group',_,'X')")
    )
    claim = rule.format("AdvertisedField(P,S,'Group',_,'X')")
    assert fixed(source, "selector").split("\n")[1] == claim
