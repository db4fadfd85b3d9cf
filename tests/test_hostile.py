"""Hostile input: whatever the bytes are, the answer is a diagnostic that points into them.

Nothing but CompileError is ever raised, and the work grows with the input, not with
its square. Work is counted in calls, because a clock would judge the machine.
"""

import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacec.core.diagnostics import Diagnostic, Place, has_errors
from lacec.core.errors import CompileError
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.pipeline import check_sources, compile_module, format_source
from lacec.syntax import parse as parsing
from tests.cli.run import lacec

MEBIBYTE = 2**20
WIDE = Limits(line_bytes=2**26, source_bytes=2**26)


def lines_of(source: str | bytes) -> list[str]:
    text = source if isinstance(source, str) else source.decode("utf-8", "surrogateescape")
    return text.split("\n")


def assert_inside(place: Place, lines: list[str]) -> None:
    assert 1 <= place.line <= len(lines)
    assert place.end_line == place.line
    assert 1 <= place.column <= len(lines[place.line - 1]) + 1
    assert place.column < place.end_column <= len(lines[place.line - 1]) + 2


def assert_sound(source: str | bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[Diagnostic, ...]:
    """Check, compile and format answer with values, and agree; the diagnostics of the check."""
    found = check_sources([("hostile", source)], limits=limits)
    lines = lines_of(source)
    for diagnostic in found:
        assert_inside(diagnostic.place, lines)
        for related in diagnostic.related:
            assert_inside(related.place, lines)
    refused = refusal(lambda: compile_module([("hostile", source)], limits=limits))
    assert refused == (found if has_errors(found) else None)
    unread = refusal(lambda: format_source(("hostile", source), limits))
    assert unread is None or (has_errors(unread) and set(unread) <= set(found))
    return found


def refusal(read: Callable[[], object]) -> tuple[Diagnostic, ...] | None:
    """The diagnostics of a CompileError; any other exception is the test's failure."""
    try:
        read()
    except CompileError as error:
        return error.diagnostics
    return None


def names(diagnostics: tuple[Diagnostic, ...]) -> set[str]:
    return {diagnostic.name for diagnostic in diagnostics}


# Anything at all.

WORDS = (
    "A Have Field X x _ _x not NOT true Cardinality IntCompare TextShape Prefix SelectHave o0_a "
    "( ) , . :- != = < <= > ' \" “ ” ` \\ # #:json #:jsn {} { } [ ] 1 -1 '<' '1' 'a' '\\'' '\\n' "
    "; | & ! ~ - : % // -- /* <- => é e\u0301 字 💥 \u202e \u2066 \u200b \ufeff \u00a0 \u2028"
)
CONTROLS = [" ", "\t", "\n", "\r", "\0", "\x1b", "\x7f", "\x85", "A(X) :- Have(X).\n"]
TOKENS = st.sampled_from([*WORDS.split(" "), *CONTROLS])
TRIES = settings(max_examples=300, deadline=None)


@given(st.binary(max_size=400))
@TRIES
def test_any_bytes(source: bytes) -> None:
    assert_sound(source)


@given(st.lists(TOKENS, max_size=30).map("".join))
@TRIES
def test_any_tokens(source: str) -> None:
    assert_sound(source)


@given(st.lists(TOKENS, max_size=30).map("".join), st.integers(0, 3))
@TRIES
def test_any_tokens_cut_off_inside_a_character(source: str, cut: int) -> None:
    data = source.encode()
    assert_sound(data[: len(data) - cut])


@given(st.text(st.characters(exclude_characters="\r"), max_size=60))
@TRIES
def test_any_text(source: str) -> None:
    assert_sound(source)


@given(st.lists(TOKENS, max_size=20).map("".join), st.sampled_from(Facet))
@TRIES
def test_any_facet(source: str, facet: Facet) -> None:
    for diagnostic in check_sources([("hostile", source)], facet):
        assert_inside(diagnostic.place, lines_of(source))


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_any_bytes_on_the_command_line(parts: list[bytes]) -> None:
    source = b"A(X) :- Have(X), ".join(parts)
    for arguments in (("check", "-"), ("check", "--json", "-"), ("compile", "--json", "-")):
        assert lacec(*arguments, source=source).code in (0, 1)


# Bytes that are not text, text that is not NFC, characters that cannot be seen.

ODD: dict[str, tuple[str | bytes, set[str]]] = {
    "truncated character": (b"A('\xe5\xad') :- true.", {"not-utf8"}),
    "truncated at the end": (b"A('\xf0\x9f\x92", {"not-utf8"}),
    "overlong character": (b"A('\xc0\x80') :- true.", {"not-utf8"}),
    "encoded surrogate": (b"A('\xed\xa0\x80') :- true.", {"not-utf8"}),
    "lone surrogate": ("A('\ud800') :- true.", {"not-utf8"}),
    "surrogate outside a constant": ("\udfff(X) :- Have(X).", {"not-utf8"}),
    "UTF-16": ("A(X) :- Have(X).".encode("utf-16"), {"not-utf8"}),
    "NUL in a constant": ("A('\0') :- true.", {"invisible-character"}),
    "NUL between tokens": ("A(X) \0:- Have(X).", {"unexpected-character"}),
    "only NUL": (b"\0", {"unexpected-character"}),
    "not NFC in a constant": ("A('e\u0301') :- true.", {"not-nfc"}),
    "not NFC in a comment": ("# e\u0301\nA() :- true.", {"not-nfc"}),
    "not NFC in an annotation": ('#:json {"a":"e\u0301"}\nA() :- true.', {"not-nfc"}),
    "singleton that is never NFC": ("A('\u212b') :- true.", {"not-nfc"}),
    "right-to-left override": ("A('\u202e') :- true.", {"invisible-character"}),
    "right-to-left mark": ("# \u200f\nA() :- true.", {"invisible-character"}),
    "isolate between tokens": ("A(X) \u2067:- Have(X).", {"unexpected-character"}),
    "byte order mark": ("\ufeffA() :- true.", {"byte-order-mark"}),
    "carriage returns alone": ("\r\r\r", {"carriage-return", "empty-source"}),
    "unmatched quote": ("A('x) :- true.", {"unterminated-constant"}),
    "quote at the end": ("A() :- true. '", {"trailing-text"}),
    "backslash before the end": ("A('\\", {"unterminated-constant"}),
    "only quotes": ("'''", {"bad-head"}),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_text_is_named(case: str) -> None:
    source, expected = ODD[case]
    assert names(assert_sound(source)) == expected


def test_a_bad_line_hides_no_other() -> None:
    source = b"A('\xff') :- true.\nB(x) :- Have(X).\n'\nC(X) :- Have(X)\n"
    found = [(diagnostic.place.line, diagnostic.name) for diagnostic in assert_sound(source)]
    assert found == [
        (1, "not-utf8"),
        (2, "bad-variable"),
        (3, "unterminated-constant"),
        (4, "missing-full-stop"),
    ]


# Annotations.


@pytest.mark.parametrize("depth", [100_000, 5_000_000])
def test_annotations_nested_too_deeply(depth: int) -> None:
    source = '#:json {"a":' + "[" * depth + "]" * depth + "}\nA() :- true."
    assert names(assert_sound(source, WIDE)) == {"bad-annotation"}


def test_annotations_nested_deeply_enough() -> None:
    source = '#:json {"a":' + "[" * 200 + "]" * 200 + "}\nA() :- true."
    assert assert_sound(source) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "[]",
        "{",
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":1e999}',
        '{"a":"\\ud800"}',
        '{"a":' + "9" * 10_000 + "}",
        '{"a":1}{"b":2}',
        "{'a':1}",
        '{"a":"\t"}',
    ],
)
def test_annotations_that_are_not_plain_json(text: str) -> None:
    assert names(assert_sound(f"#:json {text}\nA() :- true.")) == {"bad-annotation"}


# Size.

ONE_LINE = {
    "one letter": ("a", "split-rule"),
    "one capital": ("A", "split-rule"),
    "underscores": ("_", "syntax-error"),
    "quotes": ("'", "bad-head"),
    "other quotes": ('"', "wrong-quotes"),
    "backslashes": ("\\", "unexpected-character"),
    "opening parentheses": ("(", "bad-head"),
    "closing parentheses": (")", "bad-head"),
    "commas": (",", "bad-head"),
    "exclamation marks": ("!", "unexpected-character"),
    "not": ("not ", "bad-head"),
    "atoms": ("A(X),", "bad-head"),
    "combining characters": ("e\u0301", "unexpected-character"),
    "marks in canonical order": ("\u0323\u0301", "unexpected-character"),
    "syllables in parts": ("\u1100\u1161", "unexpected-character"),
    "NUL": ("\0", "unexpected-character"),
    "overrides": ("\u202e", "unexpected-character"),
}


@pytest.mark.parametrize("case", ONE_LINE)
def test_ten_mebibytes_on_one_line_are_refused_unread(case: str) -> None:
    text, _ = ONE_LINE[case]
    data = text.encode()
    source = data * (10 * MEBIBYTE // len(data))
    found = names(assert_sound(source))
    assert "line-too-long" in found
    assert found <= {"line-too-long", "not-nfc", "invisible-character"}


@pytest.mark.parametrize("case", ONE_LINE)
def test_a_long_line_within_the_limit_is_read(case: str) -> None:
    text, expected = ONE_LINE[case]
    found = check_sources([("hostile", text * (MEBIBYTE // 16))])
    assert expected in names(found)
    for diagnostic in found:
        assert_inside(diagnostic.place, [text * (MEBIBYTE // 16)])
    assert len(found) < 12


def test_a_long_rule_is_read_to_its_end() -> None:
    atoms = ", ".join(["Have(P)"] * 20_000)
    long, wrong = check_sources([("hostile", f"A(P) :- {atoms}, Have(p).")])
    assert (long.name, wrong.name) == ("too-many-atoms", "bad-variable")
    assert wrong.place.column == len(f"A(P) :- {atoms}, Have(p")


def test_a_source_over_the_limit_is_refused_unread() -> None:
    source = b"A(X) :- Have(X).\n" * MEBIBYTE
    assert "source-too-long" in names(assert_sound(source))


CUT = "too-many-problems"
LINES: dict[str, tuple[Callable[[int], str], set[str]]] = {
    "the same rule": (lambda _: "A(X) :- Have(X).", set()),
    "rules": (lambda i: f"A(X) :- Have(X), Field(X,'n',_,'{i % 5000}').", {"too-many-rules"}),
    "bad lines": (lambda i: f"A{i % 1000}(X) :- Have(X)", {"missing-full-stop", CUT}),
    "unread lines": (lambda i: f"'{i % 1000}", {"unterminated-constant", CUT}),
    "annotations": (lambda i: f'#:json {{"a{i}":{i}}}', {"dangling-annotation", CUT}),
    "comments": (lambda _: "#", {"empty-source"}),
    "nothing": (lambda _: "", {"empty-source"}),
    "carriage returns": (lambda _: "A(X) :- Have(X).\r", {"carriage-return"}),
}


@pytest.mark.parametrize("case", LINES)
def test_a_hundred_thousand_lines(case: str) -> None:
    line, expected = LINES[case]
    source = "\n".join(map(line, range(100_000)))
    found = check_sources([("hostile", source)])
    assert {diagnostic.name for diagnostic in found} == expected
    lines = lines_of(source)
    for diagnostic in found:
        assert_inside(diagnostic.place, lines)


def chain(count: int, atom: str, last: str) -> str:
    """P0 needs P1, which needs P2, and so on to the last rule."""
    rules = [f"P{i}(X) :- Have(X), {atom.format(i + 1)}." for i in range(count - 1)]
    return "\n".join([*rules, f"P{count - 1}(X) :- {last}."])


def test_a_chain_of_twenty_thousand_predicates() -> None:
    limits = Limits(rules=20_000)
    module = compile_module([("hostile", chain(20_000, "not P{}(X)", "Have(X)"))], limits=limits)
    assert len(module.strata) == 20_000
    assert module.strata[0] == (("P19999", 1),)


def test_a_cycle_of_twenty_thousand_predicates() -> None:
    limits = Limits(rules=20_000)
    module = compile_module([("hostile", chain(20_000, "P{}(X)", "P0(X)"))], limits=limits)
    assert len(module.strata) == 1


def test_a_wrong_cycle_of_twenty_thousand_predicates() -> None:
    source = chain(20_000, "P{}(X)", "Have(X), not P0(X)")
    (diagnostic,) = check_sources([("hostile", source)], limits=Limits(rules=20_000))
    assert diagnostic.name == "unstratified"
    assert len(diagnostic.related) == 20_000
    lines = lines_of(source)
    for related in diagnostic.related:
        assert_inside(related.place, lines)


def test_very_long_names() -> None:
    name = "N" * (MEBIBYTE // 5)
    found = assert_sound(f"{name}(X) :- Have(X), {name}x(X), {name[:-1]}(X), {name}(Y,X).")
    assert names(found) == {"wrong-arity"}


def test_the_command_line_stands_it_too(tmp_path: Path) -> None:
    path = tmp_path / "hostile.lace"
    path.write_bytes(b"\0'\xff(\n" * 1000 + b"(" * 2 * MEBIBYTE + b"\n" + b"e\xcc\x81" * 5000)
    for command in ("check", "compile", "fmt"):
        outcome = lacec(command, str(path))
        assert outcome.code == 1
        assert "error[line-too-long]" in outcome.out + outcome.err
        assert max(map(len, (outcome.out + outcome.err).splitlines())) < 400


# Work: four times the input costs about four times the calls.


def cycle(count: int) -> str:
    return chain(count, "not P{}(X)", "Have(X), not P0(X)")


def near_misses(count: int) -> str:
    return "\n".join(f"Name{i:05}(X) :- Have(X), Name{i:05}s(X)." for i in range(count))


def groups(count: int) -> str:
    return "\n".join(f"P{i}(X) :- Have(X), not P{i ^ 1}(X)." for i in range(count))


def dense(count: int) -> str:
    """A graph with an edge for each pair: its size is that of the edges."""
    side = int(count**0.5)
    body = ", ".join(f"P{i}(X)" for i in range(side))
    return "\n".join(f"P{i}(X) :- {body}, not P0(X)." for i in range(side))


WORK: dict[str, tuple[int, Callable[[int], str]]] = {
    **{f"line of {case}": (4_000, text.__mul__) for case, (text, _) in ONE_LINE.items()},
    "long body": (1_000, lambda n: f"A(P) :- {', '.join(['Have(P)'] * n)}."),
    "long list of terms": (1_000, lambda n: f"A() :- B({','.join(['_'] * n)})."),
    "long constant": (10_000, lambda n: f"A('{'x' * n}') :- true."),
    "long bad constant": (4_000, lambda n: "A('\\n" + "x" * n + "') :- true."),
    "nested negation": (4_000, lambda n: f"A(X) :- not {'(' * n}B(X){')' * n}."),
    "negations in parentheses": (500, lambda n: f"A(X) :- {', '.join(['not (B(X))'] * n)}."),
    "unbound variables": (500, lambda n: f"A({','.join(f'V{i}' for i in range(n))}) :- true."),
    "tests of nothing": (500, lambda n: f"A() :- {', '.join(['_ != _'] * n)}."),
    "rules": (500, lambda n: "\n".join(f"A{i}(X) :- Have(X)." for i in range(n))),
    "bad lines": (200, lambda n: "\n".join(f"A{i}(x) :- Have(x) Have(y" for i in range(n))),
    "annotations": (500, lambda n: "".join(f'#:json {{"k{i}":1}}\n' for i in range(n))),
    "chain": (250, lambda n: chain(n, "not P{}(X)", "Have(X)")),
    "cycle": (250, lambda n: chain(n, "P{}(X)", "P0(X)")),
    "wrong cycle": (250, cycle),
    "wrong groups": (250, groups),
    "dense graph": (900, dense),
    "near misses": (300, near_misses),
    "misspelt": (300, lambda n: "\n".join(f"A{i}(X) :- Feild(X,_,_,_)." for i in range(n))),
}


def calls(read: Callable[[str], object], source: str) -> int:
    """How many functions are called to read a source that was never seen."""
    parsing._parse_cached.cache_clear()
    profile = cProfile.Profile()
    refusal(lambda: profile.runcall(read, source))
    total = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    assert isinstance(total, int)
    return total


def check(source: str) -> object:
    return check_sources([("hostile", source)])


def tidy(source: str) -> object:
    return format_source(("hostile", source))


@pytest.mark.parametrize("read", [check, tidy])
@pytest.mark.parametrize("case", WORK)
def test_work_grows_with_the_input(case: str, read: Callable[[str], object]) -> None:
    size, make = WORK[case]
    assert calls(read, make(4 * size)) <= 4.5 * calls(read, make(size))
