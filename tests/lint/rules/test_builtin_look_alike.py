"""Names that other languages give to builtins."""

from tests.helpers import Found, cases, fixed, lints


@cases(
    (
        "Suffix",
        "A(P) :- Field(P,'Note',_,K), Suffix(K,'x').",
        "plain",
        [("builtin-look-alike", 1, 30)],
    ),
    (
        "Contains",
        "A(P) :- Field(P,'Note',_,K), Contains(K,'x').",
        "plain",
        [("builtin-look-alike", 1, 30)],
    ),
    (
        "Equals",
        "A(P) :- Field(P,'Note',_,K), Equals(K,'x').",
        "plain",
        [("builtin-look-alike", 1, 30)],
    ),
    (
        "negated",
        "A(P) :- Field(P,'Note',_,K), not Equals(K,'x').",
        "plain",
        [("builtin-look-alike", 1, 34)],
    ),
    ("defined", "A(P) :- Have(P), Equals(P,P).\nEquals(P,P) :- Have(P).", "plain", []),
    (
        "defined with another arity",
        "A(P) :- Equals(P).\nEquals(P,P) :- Have(P).",
        "plain",
        [("wrong-arity", 1, 9)],
    ),
)
def test_builtin_look_alike(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_is_the_builtin_that_was_meant() -> None:
    rule = "A(P) :- Field(P,'Note',_,K), {}."
    assert fixed(rule.format("Suffix(K, '.md')")) == rule.format("TextShape(K,'','','.md')")
    assert fixed(rule.format("StartsWith(K,'a/')")) == rule.format("TextShape(K,'a/','','')")
    assert fixed(rule.format("NotEquals(K,'it\\'s')")) == rule.format("K != 'it\\'s'")
    assert fixed(rule.format("Contains(K,'x')")) == rule.format("Contains(K,'x')")
