"""Suppressions of what is not there."""

from tests.helpers import Found, cases, lints

ALLOW = '#:json {"allow":{"singleton-variable":"K is for the reader"}}\n'


@cases(
    ("used", ALLOW + "A(P) :- Field(P,'Name',_,K).", "plain", []),
    ("not used", ALLOW + "A(P) :- Have(P).", "plain", [("unused-suppression", 1, 18)]),
    (
        "of another rule",
        ALLOW + "A(P) :- Have(P).\nB(P) :- Field(P,'Name',_,K).",
        "plain",
        [("unused-suppression", 1, 18), ("singleton-variable", 3, 26)],
    ),
    (
        "a warning of a check",
        '#:json {"allow":{"misspelt-predicate":"it is another one"}}\nA(P) :- Hava(P).',
        "plain",
        [],
    ),
)
def test_unused_suppression(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected
