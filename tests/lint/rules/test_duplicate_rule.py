"""A rule that is there already."""

from tests.helpers import Found, cases, fixed, linted, lints


@cases(
    (
        "letter for letter",
        "A(P) :- Have(P).\nA( P ) :- Have(P).",
        "plain",
        [("duplicate-rule", 2, 1)],
    ),
    ("other names", "A(P) :- Have(P).\nA(Q) :- Have(Q).", "plain", [("duplicate-rule", 2, 1)]),
    (
        "three times",
        "A(P) :- Have(P).\nA(Q) :- Have(Q).\nA(R) :- Have(R).",
        "plain",
        [("duplicate-rule", 2, 1), ("duplicate-rule", 3, 1)],
    ),
    (
        "another order of variables",
        "A(P,Q) :- PlexHash(P,Q).\nA(P,Q) :- PlexHash(Q,P).",
        "plain",
        [],
    ),
)
def test_duplicate_rule(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_removes_the_line() -> None:
    assert (
        fixed("A(P) :- Have(P).\nA(Q) :- Have(Q).\nB(P) :- A(P).")
        == "A(P) :- Have(P).\nB(P) :- A(P)."
    )
    assert fixed("A(P) :- Have(P).\nA(Q) :- Have(Q).") == "A(P) :- Have(P).\n"


def test_a_rule_with_annotations_is_not_removed() -> None:
    """D6: the annotations of a rule that is written twice are merged."""
    source = 'A(P) :- Have(P).\n#:json {"label":"x"}\nA(P) :- Have(P).'
    assert lints(source) == [("duplicate-rule", 3, 1)]
    assert fixed(source) == source


def test_a_rule_of_a_linked_file_was_there_before() -> None:
    (shadow, found) = sorted(
        linted("A(P) :- Have(P).", linked="A(P) :- Have(P)."), key=lambda d: d.name, reverse=True
    )
    assert (shadow.name, found.name) == ("shadowed-name", "duplicate-rule")
    assert found.related[0].place.file == "linked.lace"
