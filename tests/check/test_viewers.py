"""Whom an exposure module names (D16a)."""

from tests.helpers import REST, Found, cases, found


@cases(
    ("in a head", "AllowQueryRecord('Opq_k',P) :- Have(P).", "expose", [("opaque-viewer", 1, 18)]),
    (
        "in a body",
        "B(P) :- Have(P), P != 'Opq_~'." + REST["expose"],
        "expose",
        [("opaque-viewer", 1, 23)],
    ),
    ("two symbols", "AllowQueryRecord('Opq_kk',P) :- Have(P).", "expose", []),
    ("a verifier", "AllowQueryRecord('V.alice.H3',P) :- Have(P).", "expose", []),
    ("no exposure module", "A('Opq_k') :- true.", "plain", []),
)
def test_opaque_viewers(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected
