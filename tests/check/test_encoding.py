"""The bytes of a source: UTF-8, NFC, no byte order mark, no CR (030 Values, D5, D6, D28)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import Found, diagnose, errors, examples, found, lines, only

RULE = "A(X) :- Have(X)."

ROWS: list[tuple[str, str | bytes, Found]] = [
    ("ASCII", RULE.encode(), []),
    ("other scripts", "A('é漢🙂') :- true.".encode(), []),
    # UTF-8
    ("a byte that never occurs in UTF-8", b"A('\xff') :- true.", [("not-utf8", 1, 4)]),
    ("a character cut short", b"# ok\n# \xc3", [("not-utf8", 2, 3)]),
    ("an overlong form", b"# \xc0\x80", [("not-utf8", 1, 3)]),
    ("an encoded surrogate", b"# \xed\xa0\x80", [("not-utf8", 1, 3)]),
    ("beyond Unicode", b"# \xf4\x90\x80\x80", [("not-utf8", 1, 3)]),
    ("half of a surrogate pair in a str", "A('é\ud800') :- true.", [("not-utf8", 1, 5)]),
    ("an escaped byte in a str", "A('é\udc80') :- true.", [("not-utf8", 1, 5)]),
    (
        "one diagnostic a line",
        b"# \xff\n\xffA() :- true.\n# \xff \xff",
        [("not-utf8", 1, 3), ("not-utf8", 2, 1), ("not-utf8", 3, 3)],
    ),
    # byte order mark
    ("a byte order mark in a str", "\ufeff" + RULE, [("byte-order-mark", 1, 1)]),
    ("a byte order mark in bytes", b"\xef\xbb\xbf" + RULE.encode(), [("byte-order-mark", 1, 1)]),
    ("a byte order mark before a comment", "\ufeff# a\n" + RULE, [("byte-order-mark", 1, 1)]),
    ("a byte order mark on line 2", "# a\n\ufeff" + RULE, [("unexpected-character", 2, 1)]),
    # CR
    ("CR LF", RULE + "\r\n", [("carriage-return", 1, 17)]),
    ("CR LF on every line", "# a\r\n\r\n" + RULE + "\r\n", [("carriage-return", 1, 4)]),
    ("CR between tokens", "A(X) :-\rHave(X).", [("carriage-return", 1, 8)]),
    ("CR in a constant", "A('a\rb') :- true.", [("carriage-return", 1, 5)]),
    (
        "CR inside one line and at the end of another",
        "# a\rb\n" + RULE + "\r",
        [("carriage-return", 1, 4), ("carriage-return", 2, 17)],
    ),
    # NFC
    ("a letter and its accent", "A('e\u0301') :- true.", [("not-nfc", 1, 5)]),
    ("a character with another form", "A('\u212b') :- true.", [("not-nfc", 1, 4)]),
    ("not NFC in a comment", RULE + "\n# e\u0301", [("not-nfc", 2, 4)]),
    ("not NFC in an annotation", '#:json {"a":"e\u0301"}\n' + RULE, [("not-nfc", 1, 15)]),
    ("parts of a Hangul syllable", "A('\u1100\u1161') :- true.", [("not-nfc", 1, 5)]),
    ("accents in the wrong order", "A('q\u0307\u0323') :- true.", [("not-nfc", 1, 6)]),
    ("accents in the right order", "A('q\u0323\u0307') :- true.", []),
    ("an accent alone", "A('\u0301') :- true.", []),
    ("a ligature is NFC", "A('\ufb01') :- true.", []),
    # characters that cannot be seen
    ("a zero-width space in a constant", "A('a\u200bb') :- true.", [("invisible-character", 1, 5)]),
    ("a turn of direction", "A('\u202e') :- true.", [("invisible-character", 1, 4)]),
    ("NUL", "A('\x00') :- true.", [("invisible-character", 1, 4)]),
    ("terminal controls", "A('\x1b[0m\x07') :- true.", [("invisible-character", 1, 4)]),
    ("an isolate in a comment", RULE + "\n# a\u2066b", [("invisible-character", 2, 4)]),
    ("a byte order mark in a comment", RULE + "\n# \ufeff", [("invisible-character", 2, 3)]),
    (
        "a zero-width space between tokens is reported once",
        "A(X) :-\u200bHave(X).",
        [("unexpected-character", 1, 8)],
    ),
    ("tabs are white space", "A('\t') :- true.\t", []),
    ("joiners that scripts need", "A('क\u094dष\u200d\u200c') :- true.", []),
]


@pytest.mark.parametrize(
    ("source", "expected"),
    [pytest.param(source, expected, id=name) for name, source, expected in ROWS],
)
def test_encoding(source: str | bytes, expected: Found) -> None:
    """Sources of comments alone are empty as well, which is not the point here."""
    assert [row for row in found(source) if row[0] != "empty-source"] == expected


def test_severities() -> None:
    assert errors(b"# \xff") == ["not-utf8"]
    assert errors("\ufeff") == ["byte-order-mark"]
    assert errors("\r") == ["carriage-return"]
    assert errors("# e\u0301") == ["not-nfc"]
    assert errors("# \u200b") == []


def test_line_endings_of_another_system_are_one_problem() -> None:
    diagnostic = only((RULE + "\r\n") * 100)
    assert diagnostic.message == "100 lines end in CR LF, and lines end in LF alone"


def test_a_source_with_cr_is_still_checked() -> None:
    assert found("Have(X) :- Peer(X).\r\nB(X) :- true.\r\n") == [
        ("base-predicate", 1, 1),
        ("carriage-return", 1, 20),
        ("unbound-variable", 2, 3),
    ]


def test_a_line_that_is_not_text_hides_no_other() -> None:
    assert found(b"A('\xff') :- true.\nB(X) :- true.") == [
        ("not-utf8", 1, 4),
        ("unbound-variable", 2, 3),
    ]


def test_the_name_of_an_invisible_character_is_shown_and_not_the_character() -> None:
    message = only("A('\u202e') :- true.").message
    assert message.startswith("U+202E (right-to-left override)")
    assert "\u202e" not in message


composing = st.text(
    st.sampled_from(
        "aeq<=\u0301\u0307\u0323\u0338\u0344\u1100\u1161\u11a8\uac00\u212b\u0f71\u0f72"
    ),
    max_size=12,
)


@examples(200)
@given(composing)
def test_text_is_refused_exactly_when_it_is_not_nfc(text: str) -> None:
    """D28: checked, never normalised. The place is the first character that is wrong."""
    wrong = [d for d in diagnose(f"A('{text}') :- true.") if d.name == "not-nfc"]
    if unicodedata.normalize("NFC", text) == text:
        assert wrong == []
    else:
        (diagnostic,) = wrong
        end = diagnostic.place.column - len("A('")
        assert unicodedata.is_normalized("NFC", text[: end - 1])
        assert not unicodedata.is_normalized("NFC", text[:end])


def test_equal_looking_constants_get_no_second_identity() -> None:
    assert errors("A('\u00e9') :- true.") == []
    assert errors("A('e\u0301') :- true.") == ["not-nfc"]


@examples(100)
@given(st.binary(max_size=40))
def test_bytes_are_refused_exactly_when_they_are_not_utf8(data: bytes) -> None:
    source = b"# " + data
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        assert "not-utf8" in errors(source)
    else:
        assert "not-utf8" not in errors(source)


def test_problems_of_bytes_stand_among_the_others() -> None:
    source = lines("A(X) :- Have(X)", "# e\u0301", "B(x) :- Have(X).\r")
    assert found(source) == [
        ("missing-full-stop", 1, 16),
        ("not-nfc", 2, 4),
        ("bad-variable", 3, 3),
        ("carriage-return", 3, 17),
    ]
