"""A predicate that a linked file defines too."""

from tests.helpers import linted, lints


def test_both_define_it() -> None:
    (found,) = linted("B(P) :- Have(P).\nB(P) :- Peer(P).", linked="\nB(P) :- Here(P).")
    assert (found.name, found.place.line, found.place.column) == ("shadowed-name", 1, 1)
    assert [(r.place.file, r.place.line) for r in found.related] == [("linked.lace", 2)]


def test_another_arity_is_another_predicate() -> None:
    assert lints("B(P) :- Have(P).", linked="B(P,P) :- Have(P).") == []


def test_using_what_is_linked_is_no_shadow() -> None:
    assert lints("A(P) :- B(P).", linked="B(P) :- Have(P).") == []
