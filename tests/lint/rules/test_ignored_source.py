"""A selector that does not care who offers a record."""

from tests.helpers import Found, cases, fixed, lines, lints

HAVE = "SelectHave(P) :- Have(P)."
GROUP = "SelectHave(P) :- Field(P,'Group',_,'X')."


@cases(
    ("joined", lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S)."), "selector", []),
    (
        "anybody",
        lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,_), Peer(S)."),
        "selector",
        [("ignored-source", 2, 20)],
    ),
    (
        "a constant",
        lines(HAVE, "SelectAdvertised(P,'V.x') :- Advertised(P,_)."),
        "selector",
        [("ignored-source", 2, 20)],
    ),
    (
        "a claim of anybody",
        lines(
            GROUP, "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,_,'Group',_,'X')."
        ),
        "selector",
        [("ignored-source", 2, 61)],
    ),
    (
        "a claim of another",
        lines(
            GROUP,
            "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,T,'Group',_,T).",
        ),
        "selector",
        [("ignored-source", 2, 61)],
    ),
    (
        "joined by a helper",
        lines(HAVE, "Offer(P,S) :- Advertised(P,S).", "SelectAdvertised(P,S) :- Offer(P,S)."),
        "selector",
        [],
    ),
    (
        "of another record",
        lines(HAVE, "SelectAdvertised(P,S) :- Advertised(P,S), Advertised('P.x',_)."),
        "selector",
        [],
    ),
)
def test_ignored_source(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_writes_the_source() -> None:
    rule = "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,{},'Group',_,'X')."
    source = lines(GROUP, rule.format("_"))
    assert fixed(source, "selector") == lines(GROUP, rule.format("S"))
