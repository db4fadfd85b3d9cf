"""Formatting changes white space and nothing else."""

import re
import unicodedata

import pytest
from hypothesis import given

import lacec
from lacec.core.errors import CompileError
from lacec.core.limits import Limits
from lacec.pipeline import format_source
from tests.helpers import FILE, compiled, examples, lines
from tests.strategies import rules, sources, spaced


def test_an_example() -> None:
    untidy = lines(
        "",
        "",
        "   #  Links of the group u.  ",
        '\t#:json{"label":"links"}  ',
        "Link( P ):-Have(P),Field( P,'Group' ,_,'u' ) ,not  Blocked(P) .",
        "",
        " \t",
        "",
        "Blocked('a , b'):-true.",
        "",
    )
    assert lacec.format(untidy) == (
        "#  Links of the group u.\n"
        '#:json {"label":"links"}\n'
        "Link(P) :- Have(P), Field(P,'Group',_,'u'), not Blocked(P).\n"
        "\n"
        "Blocked('a , b') :- true.\n"
    )


@pytest.mark.parametrize("text", ["", "\n", "\n\n \t\n"])
def test_an_empty_source_stays_empty(text: str) -> None:
    assert lacec.format(text) == ""


def test_rules_keep_their_order_and_duplicates_stay() -> None:
    text = "B() :- true.\nA() :- true.\nB() :- true.\n"
    assert lacec.format(text) == text


def test_annotations_are_kept_as_they_are_written() -> None:
    text = '#:json {"b": 1,  "a":1e2, "b":"\\u00e9"}\nA() :- true.\n'
    assert lacec.format(text) == text


def test_meaning_is_not_checked() -> None:
    assert lacec.format("Have(X):-not Have(Y).") == "Have(X) :- not Have(Y).\n"


def test_an_unknown_marker_is_a_comment_and_is_kept() -> None:
    assert lacec.format(" #:yaml  a") == "#:yaml  a\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A() :- true", "missing-full-stop"),
        ("A() :- true.\nA('open :- true.", "unterminated-constant"),
        ("#:json [1]\nA() :- true.", "bad-annotation"),
        ("A() :- true.\n#:json {}", "dangling-annotation"),
        ("A() :- true.\r\n", "carriage-return"),
        ("\ufeffA() :- true.", "byte-order-mark"),
        (b"A('\xff') :- true.", "not-utf8"),
        ("A('e\u0301') :- true.", "not-nfc"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str | bytes, name: str) -> None:
    with pytest.raises(CompileError) as caught:
        lacec.format(text, name=FILE)
    assert [d.name for d in caught.value.diagnostics] == [name]
    assert caught.value.diagnostics[0].place.file == FILE


@pytest.mark.parametrize(
    ("limits", "name"),
    [(Limits(line_bytes=8), "line-too-long"), (Limits(source_bytes=8), "source-too-long")],
)
def test_what_is_too_long_to_read_is_refused(limits: Limits, name: str) -> None:
    with pytest.raises(CompileError) as caught:
        format_source((FILE, "A() :- true."), limits)
    assert [d.name for d in caught.value.diagnostics] == [name]


def _squeezed(text: str) -> list[str]:
    """The lines that say something, without the white space that formatting may change."""
    said = [line.strip(" \t") for line in text.split("\n") if line.strip(" \t")]
    return [_squeeze(line) for line in said]


def _squeeze(line: str) -> str:
    if line.startswith("#:json"):
        return "#:json" + line.removeprefix("#:json").strip(" \t")
    if line.startswith("#"):
        return line
    return re.sub(r"('(?:[^'\\]|\\.)*')|[ \t]+", lambda match: match[1] or "", line)


@examples(100)
@given(sources)
def test_only_white_space_changes(text: str) -> None:
    assert _squeezed(lacec.format(text)) == _squeezed(text)


@examples(60)
@given(sources)
def test_identifiers_and_annotations_do_not_change(text: str) -> None:
    before, after = compiled(text), compiled(lacec.format(text))
    assert (before.id, before.canonical) == (after.id, after.canonical)
    assert [r.id for r in before.rules] == [r.id for r in after.rules]
    assert before.annotations == after.annotations


@examples(60)
@given(sources)
def test_formatting_twice_changes_nothing(text: str) -> None:
    once = lacec.format(text)
    assert lacec.format(once) == once


@examples(60)
@given(sources)
def test_the_shape_of_a_formatted_source(text: str) -> None:
    tidy = lacec.format(text)
    assert tidy == "" or (tidy.endswith("\n") and not tidy.startswith("\n"))
    assert "\n\n\n" not in tidy
    assert not tidy.endswith("\n\n")
    for line in tidy.split("\n"):
        assert line == line.strip(" \t")
    assert unicodedata.is_normalized("NFC", tidy)


@examples(100)
@given(rules.flatmap(spaced))
def test_any_well_formed_rule_is_formatted(text: str) -> None:
    assert _squeezed(lacec.format(text)) == _squeezed(text)
