"""A field that no record has."""

from tests.helpers import Found, cases, fixed, linted, lints


@cases(
    ("another case", "A(P) :- Field(P,'group',_,_).", "plain", [("unknown-field", 1, 17)]),
    (
        "a short name in another case",
        "A(P) :- Field(P,'Tai',_,_).",
        "plain",
        [("unknown-field", 1, 17)],
    ),
    ("a letter off", "A(P) :- Field(P,'Singed-By',_,_).", "plain", [("unknown-field", 1, 17)]),
    ("claimed", "A(P) :- AdvertisedField(P,_,'Gruop',_,_).", "plain", [("unknown-field", 1, 29)]),
    ("negated", "A(P) :- Have(P), not Field(P,'Gruop',_,_).", "plain", [("unknown-field", 1, 30)]),
    ("any header", "A(P) :- Field(P,'Topic',_,_).", "plain", []),
    (
        "no header can have a space",
        "A(P) :- Field(P,'Signed By',_,_).",
        "plain",
        [("unknown-field", 1, 17)],
    ),
    ("nor a colon", "A(P) :- Field(P,'Topic:',_,_).", "plain", [("unknown-field", 1, 17)]),
    ("nor be empty", "A(P) :- Field(P,'',_,_).", "plain", [("unknown-field", 1, 17)]),
    ("a link", "A(P) :- RecordLink(P,'Evidence+Link',_,_,_).", "plain", []),
    ("no link", "A(P) :- RecordLink(P,'Evidence',_,_,_).", "plain", [("unknown-field", 1, 22)]),
    (
        "a field that is no link",
        "A(P) :- RecordLink(P,'Group',_,_,_).",
        "plain",
        [("unknown-field", 1, 22)],
    ),
)
def test_unknown_field(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_help_and_the_fix_say_what_was_meant() -> None:
    (found,) = linted("A(P) :- Field(P,'Singed-By',_,_).")
    assert found.help == "did you mean `Signed-By`? it is the verifier of a Seal"
    assert fixed("A(P) :- Field(P,'Singed-By',_,_).") == "A(P) :- Field(P,'Signed-By',_,_)."
    assert fixed("A(P) :- RecordLink(P,'X',_,_,_).") == "A(P) :- RecordLink(P,'X+Link',_,_,_)."


def test_a_list_of_headers_makes_others_unknown() -> None:
    known = frozenset({"Topic"})
    assert lints("A(P) :- Field(P,'Topic',_,_), Field(P,'Group',_,_).", fields=known) == []
    assert lints("A(P) :- Field(P,'Colour',_,_).", fields=known) == [("unknown-field", 1, 17)]
    assert fixed("A(P) :- Field(P,'Topci',_,_).", fields=known) == "A(P) :- Field(P,'Topic',_,_)."
