"""Suppressions that cannot be what they want to be."""

from tests.helpers import Found, cases, lints

RULE = "\nA(P) :- Field(P,'Name',_,K)."


@cases(
    (
        "a reason",
        '#:json {"allow":{"singleton-variable":"K is for the reader"}}' + RULE,
        "plain",
        [],
    ),
    (
        "no reason",
        '#:json {"allow":{"singleton-variable":" "}}' + RULE,
        "plain",
        [("bad-suppression", 1, 18), ("singleton-variable", 2, 26)],
    ),
    (
        "a reason that is no text",
        '#:json {"allow":{"singleton-variable":true}}' + RULE,
        "plain",
        [("bad-suppression", 1, 18), ("singleton-variable", 2, 26)],
    ),
    (
        "no such name",
        '#:json {"allow":{"singleton-variabel":"why"}}' + RULE,
        "plain",
        [("bad-suppression", 1, 18), ("singleton-variable", 2, 26)],
    ),
    (
        "an error",
        '#:json {"allow":{"unbound-variable":"why"}}' + "\nA(P,V) :- Have(P).",
        "plain",
        [("bad-suppression", 1, 18), ("unbound-variable", 2, 5)],
    ),
    (
        "an error that is not there",
        '#:json {"allow":{"unbound-variable":"why"}}' + "\nA(P) :- Have(P).",
        "plain",
        [("bad-suppression", 1, 18)],
    ),
    (
        "a list",
        '#:json {"allow":["singleton-variable"]}' + RULE,
        "plain",
        [("bad-suppression", 1, 9), ("singleton-variable", 2, 26)],
    ),
    (
        "on the second line",
        '#:json {"label":"a"}\n# text\n#:json {"allow":{"x":"why"}}\nA(P) :- Have(P).',
        "plain",
        [("bad-suppression", 3, 18)],
    ),
)
def test_bad_suppression(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected
