"""A TextShape that probably does not test what was meant."""

from tests.helpers import Found, cases, fixed, lints

NAME = "A(P) :- Field(P,'Name',_,K), TextShape(K,{})."
HEADER = "A(P) :- Field(P,'Note',_,K), TextShape(K,{})."
FOUND = [("suspicious-anchor", 1, 42)]


@cases(
    ("a caret", HEADER.format("'^a/','',''"), "plain", FOUND),
    ("a star", HEADER.format("'a/*','',''"), "plain", FOUND),
    ("dot and star", HEADER.format("'a/.*','',''"), "plain", FOUND),
    ("per cent", HEADER.format("'a/%','',''"), "plain", FOUND),
    ("both", HEADER.format("'^a/.*','',''"), "plain", FOUND),
    ("a dollar", HEADER.format("'','','.md$'"), "plain", [("suspicious-anchor", 1, 48)]),
    (
        "a star in front of an end",
        HEADER.format("'','','*.md'"),
        "plain",
        [("suspicious-anchor", 1, 48)],
    ),
    ("plain text", HEADER.format("'a/','','.md'"), "plain", []),
    ("a star elsewhere", HEADER.format("'a*b','',''"), "plain", []),
    ("a path cut inside a word", NAME.format("'links','',''"), "plain", FOUND),
    ("a path cut at a slash", NAME.format("'links/','',''"), "plain", []),
    ("another text cut inside a word", HEADER.format("'links','',''"), "plain", []),
    ("an end inside a word", NAME.format("'','','md'"), "plain", [("suspicious-anchor", 1, 48)]),
    ("an end at a dot", NAME.format("'','','.md'"), "plain", []),
    ("a word between delimiters", NAME.format("'links','/','msg'"), "plain", []),
    ("both ends", NAME.format("'links','','md'"), "plain", []),
)
def test_suspicious_anchor(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fixes() -> None:
    assert fixed(HEADER.format("'^a/.*','','*.md'")) == HEADER.format("'a/','','.md'")
    assert fixed(NAME.format("'links','',''")) == NAME.format("'links/','',''")
    assert fixed(NAME.format("'','','md'")) == NAME.format("'','','.md'")
