"""`#:json` lines (D6): which rule they belong to, how they merge, and what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given

from tests.helpers import compiled, examples, found, lines, only, parsed
from tests.strategies import json_objects

RULE = "A(X) :- Have(X)."


def _annotations(*texts: str) -> list[Any]:
    """What is said of each rule of a source without problems."""
    source = parsed(lines(*texts))
    assert source.diagnostics == ()
    return [dict(rule.annotations) for rule in source.rules]


def test_an_annotation_belongs_to_the_next_rule() -> None:
    assert _annotations('#:json {"label":"a"}', RULE, "B() :- true.") == [{"label": "a"}, {}]


def test_blank_lines_and_comments_may_stand_between() -> None:
    assert _annotations('#:json {"label":"a"}', "", "# why", " \t", RULE) == [{"label": "a"}]


def test_several_annotations_merge_and_later_keys_win() -> None:
    first, second = '#:json {"a":1,"b":{"x":1}}', '#:json {"b":{"y":2},"c":3}'
    assert _annotations(first, "# between", second, RULE) == [{"a": 1, "b": {"y": 2}, "c": 3}]


def test_a_key_written_twice_in_one_object_keeps_the_later_value() -> None:
    assert _annotations('#:json {"a":1,"a":2}', RULE) == [{"a": 2}]


def test_annotations_are_used_up_by_their_rule() -> None:
    texts = ['#:json {"n":1}', RULE, RULE, '#:json {"n":2}', RULE]
    assert _annotations(*texts) == [{"n": 1}, {}, {"n": 2}]


@pytest.mark.parametrize(
    "text", ['#:json {"a":1}', '  #:json\t{"a":1}  ', '#:json{"a":1}', '#:json { "a" : 1 }']
)
def test_white_space_around_an_annotation(text: str) -> None:
    assert _annotations(text, RULE) == [{"a": 1}]


def test_an_empty_object_says_nothing() -> None:
    assert _annotations("#:json {}", RULE) == [{}]
    assert compiled(lines("#:json {}", RULE)).annotations == {}


def test_a_rule_written_twice_merges_its_annotations_in_the_order_of_the_source() -> None:
    module = compiled(
        lines(
            '#:json {"label":"one","why":"first"}',
            "A(X):-Have(X).",
            "B() :- true.",
            '#:json {"label":"two"}',
            "A( X ) :- Have( X ).",
        )
    )
    first, second = module.rules
    assert dict(first.annotations) == {"label": "two", "why": "first"}
    assert (first.line, dict(second.annotations)) == (2, {})
    assert module.annotations == {first.id: first.annotations}


def test_annotations_change_no_identifier() -> None:
    plain, said = compiled(RULE), compiled(lines('#:json {"label":"a"}', RULE))
    assert (plain.id, plain.canonical) == (said.id, said.canonical)
    assert [r.id for r in plain.rules] == [r.id for r in said.rules]


def test_a_rule_that_cannot_be_read_takes_its_annotations_with_it() -> None:
    source = parsed(lines('#:json {"label":"a"}', "A('open :- true.", "B() :- true."))
    assert [d.name for d in source.diagnostics] == ["unterminated-constant"]
    assert [dict(rule.annotations) for rule in source.rules] == [{}]


@pytest.mark.parametrize(
    ("texts", "line", "column"),
    [
        (["#:json {}"], 1, 1),
        ([RULE, '  #:json {"a":1}'], 2, 3),
        ([RULE, "#:json {}", "# text", ""], 2, 1),
    ],
    ids=["alone", "after the last rule", "before comments only"],
)
def test_an_annotation_without_a_rule_after_it_dangles(
    texts: list[str], line: int, column: int
) -> None:
    assert found(lines(*texts)) == [("dangling-annotation", line, column)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("#:json", 6, "this is not JSON: expecting value"),
        ("#:json label", 8, "this is not JSON: expecting value"),
        ("#:json {label: 'a'}", 9, "this is not JSON: expecting property name"),
        ('#:json {"a":1', 13, "this is not JSON: expecting ',' delimiter"),
        ('#:json {"a":1} {"b":2}', 16, "this is not JSON: extra data"),
        ('#:json {"a":1} # why', 16, "this is not JSON: extra data"),
        ('#:json {"a":"\t"}', 14, "this is not JSON: invalid control character"),
        ('#:json {"a":"\\x"}', 14, "this is not JSON: invalid \\escape"),
        ('#:json \u00a0{"a":1}', 8, "this is not JSON: expecting value"),
        ("#:json [1,2]", 1, "`[1,2]` is not a JSON object"),
        ('#:json "text"', 1, '`"text"` is not a JSON object'),
        ("#:json 1", 1, "`1` is not a JSON object"),
        ("#:json null", 1, "`null` is not a JSON object"),
        ("  #:json [1]", 3, "`[1]` is not a JSON object"),
        ('#:json {"a":NaN}', 1, "NaN is not a JSON value"),
        ('#:json {"a":Infinity}', 1, "Infinity is not a JSON value"),
        ('#:json {"a":-Infinity}', 1, "-Infinity is not a JSON value"),
        ('#:json {"a":1e999}', 1, "the number `1e999` is too large"),
        ('#:json {"a":' + "9" * 5000 + "}", 1, "the number `9999"),
        ('#:json {"a":"\\ud800"}', 1, "a string in this JSON is not Unicode text"),
        ('#:json {"\\udfff":1}', 1, "a string in this JSON is not Unicode text"),
        ('#:json {"a":' + "[" * 100_000 + "]" * 100_000 + "}", 1, "this JSON is nested too deeply"),
        ("#:json " + '{"a":' * 100_000, 1, "this JSON is nested too deeply"),
    ],
    ids=[
        "nothing",
        "a word",
        "single quotes",
        "not closed",
        "two objects",
        "a comment behind",
        "a tab in a string",
        "an unknown escape",
        "a no-break space",
        "an array",
        "a string",
        "a number",
        "null",
        "an array, indented",
        "NaN",
        "Infinity",
        "-Infinity",
        "a number that is infinite when read",
        "an integer of 5000 digits",
        "half of a surrogate pair",
        "half of a surrogate pair in a key",
        "100000 brackets",
        "100000 braces",
    ],
)
def test_what_is_not_one_json_object_is_refused(text: str, column: int, message: str) -> None:
    diagnostic = only(lines(text, RULE))
    assert (diagnostic.name, diagnostic.place.line) == ("bad-annotation", 1)
    assert diagnostic.place.column == column
    assert diagnostic.message.startswith(message)
    assert diagnostic.help
    assert len(diagnostic.message) < 300


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert _annotations('#:json {"a":"\\ud83d\\ude42"}', RULE) == [{"a": "🙂"}]


def test_a_bad_annotation_hides_no_other() -> None:
    source = lines("#:json [1]", '#:json {"a":1}', RULE, "#:json {", "B() :- true.")
    assert found(source) == [("bad-annotation", 1, 1), ("bad-annotation", 4, 8)]


@pytest.mark.parametrize(
    ("text", "width"), [("#:yaml a: 1", 6), ("#:jsonx {}", 7), ("#:", 2), ("#:JSON {}", 6)]
)
def test_other_markers_are_comments_with_a_warning(text: str, width: int) -> None:
    diagnostic = only(lines("  " + text, RULE))
    assert (diagnostic.name, diagnostic.severity) == ("unknown-annotation", "warning")
    assert (diagnostic.place.column, diagnostic.place.end_column) == (3, 3 + width)


def test_a_space_makes_an_ordinary_comment() -> None:
    assert found(lines('# :json {"a":1}', "# #:json {", RULE)) == []


@examples(100)
@given(json_objects)
def test_what_is_written_is_what_is_kept(value: dict[str, Any]) -> None:
    assert _annotations(f"#:json {json.dumps(value)}", RULE) == [value]
