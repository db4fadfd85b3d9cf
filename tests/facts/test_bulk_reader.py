"""Files of fact lines: what is read by the block is what is read line by line."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacec.core.diagnostics import Diagnostic
from lacec.core.errors import FactError, LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.facts import bulk_reader
from lacec.facts.bulk_reader import MOST_PROBLEMS, read_facts, write_facts
from lacec.vm.database import Database

Facts = dict[Predicate, list[tuple[str, ...]]]


@contextmanager
def by_the_block(size: int) -> Iterator[None]:
    """Read files of any size by blocks of so many bytes; 0 for line by line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_reader, "SMALL", 0 if size else 2**62)
        patch.setattr(bulk_reader, "_BLOCK", size)
        yield


def read(
    data: bytes, limits: Limits = DEFAULT_LIMITS, size: int = 0
) -> tuple[Facts, tuple[Diagnostic, ...]]:
    database = Database()
    with by_the_block(size):
        problems = read_facts("test.facts", data, database, limits)
    predicates = database.predicates()
    return {p: database.tuples(database.relation(p)) for p in predicates}, problems


def problem(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Diagnostic:
    """The one problem of a file, read either way."""
    problems = read(data, limits)[1]
    assert read(data + b"\n" * 100, limits, 16)[1] == problems
    assert len(problems) == 1
    return problems[0]


def position(data: bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[str, int, int]:
    found = problem(data, limits)
    return found.name, found.place.line, found.place.column


# Random files.

NAMES = ("Have", "Field", "RecordLink", "_Viewer", "a", "A-b~c_9", "Edge", "Edges", "N" * 300)
TEXTS = (
    "",
    "x",
    "é",
    "日本",
    "a" * 8,
    "a" * 9,
    "a\0",
    "#",
    "(",
    ")",
    ",",
    " ",
    "','",
    "\\",
    "it's",
)
BROKEN = (
    "Have", "Have(", "Have()x", "Have('x'", "Have('x)", "Have(x)", "Have('x').", "Have('x','y'',)",
    "Have('x') :- true.", "('x')", "9('x')", "not('x')", "IntCompare('1','<','2')", "Have('\\n')",
    "Have('x',)", "Have(,'x')", 'Have("x")', "Have('x')('y')", "é('x')", "Have ''", "''", "'",
    "Have['x')", "Have''x')", "Have('x' 'y')", "Have('x'),Have('y')", "Have('x','y')z",
    "Have(('x'))", "'x'Have('x')", "Have('e\u0301')", "Have('x')\r", "Ha\rve('x')", "# e\u0301",
    "Have('x'\0)", "\ufeffHave('x')",
)  # fmt: skip
values = st.one_of(
    st.sampled_from(TEXTS),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=20)
    .map(lambda text: unicodedata.normalize("NFC", text)),
)  # fmt: skip
facts = st.tuples(st.sampled_from(NAMES), st.lists(values, max_size=8))
blanks = st.sampled_from(["", "", "", " ", "\t", " \t "])


@st.composite
def fact_lines(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...]]:
    """A line and the fact it holds, with white space between the tokens of some lines."""
    name, row = draw(facts)
    plain = draw(st.booleans())
    between = st.just("") if plain else blanks
    constants = [
        draw(between) + "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" + draw(between)
        for value in row
    ]
    parts = [draw(between), name, draw(between), "(", ",".join(constants), ")", draw(between)]
    return "".join(parts), name, tuple(row)


other_lines = st.sampled_from(["", "  ", "\t", "#", "# Have('x')", " # don't", "#:json {}"])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(fact_lines(), other_lines), max_size=30),
    st.sampled_from([1, 40, 300]),
    st.booleans(),
)
def test_every_fact_is_read(
    lines: list[tuple[str, str, tuple[str, ...]] | str], size: int, ended: bool
) -> None:
    expected: dict[Predicate, set[tuple[str, ...]]] = {}
    for line in lines:
        if isinstance(line, tuple):
            expected.setdefault(Predicate(line[1], len(line[2])), set()).add(line[2])
    texts = [line if isinstance(line, str) else line[0] for line in lines]
    data = ("\n".join(texts) + "\n" * ended).encode()
    for way in (0, size):
        found, problems = read(data, size=way)
        assert problems == ()
        assert found == {predicate: sorted(rows) for predicate, rows in expected.items()}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            fact_lines().map(lambda line: line[0].encode()),
            other_lines.map(str.encode),
            st.sampled_from(BROKEN).map(str.encode),
            st.text(st.sampled_from("A9_'(),.\\ \t#\"é\u0301\0:-"), max_size=20).map(str.encode),
            st.binary(max_size=12),
        ),
        max_size=40,
    ),
    st.sampled_from([1, 40, 300]),
)
def test_blocks_and_lines_agree(lines: list[bytes], size: int) -> None:
    data = b"\n".join(lines)
    slow, problems = read(data)
    fast, same_problems = read(data, size=size)
    assert same_problems == problems
    if not problems:
        assert fast == slow
    for found in problems:
        assert 1 <= found.place.line <= data.count(b"\n") + 1
        text = data.split(b"\n")[found.place.line - 1].decode("utf-8", "replace")
        assert 1 <= found.place.column <= len(text) + 1
        assert found.message
        assert found.help


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([0, 16, 300]))
def test_random_bytes_never_raise(data: bytes, size: int) -> None:
    assert all(found.place.file == "test.facts" for found in read(data, size=size)[1])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(values, min_size=2, max_size=2), max_size=20))
def test_what_is_written_is_read(rows: list[list[str]]) -> None:
    edge = Predicate("Edge", 2)
    data = write_facts(edge, rows)
    expected = {edge: sorted({tuple(row) for row in rows})} if rows else {}
    assert read(data) == read(data, size=40) == (expected, ())


# Single lines.


def test_the_form_of_a_line() -> None:
    data = b"# facts\n\nA('x','it\\'s')\n \tA ( 'x' , '\\\\' )\t\nZero()\nA('x','it\\'s')\nZero( )"
    assert read(data)[0] == {
        Predicate("A", 2): [("x", "\\"), ("x", "it's")],
        Predicate("Zero", 0): [()],
    }
    assert read(b"") == read(b"\n\n") == read(b"# nothing") == ({}, ())


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("Have", 5, "a `(` is missing after `Have`"),
        ("Have.", 5, "a `(` is missing after `Have`"),
        ("9('x')", 1, "`9` is not the name of a predicate"),
        ("  ('x')", 3, "`(` is not the name of a predicate"),
        ("_('x')", 1, "`_` is not the name of a predicate"),
        ("Hæve('x')", 2, "a `(` is missing after `H`"),
        ("not Have('x')", 1, "`not` is a word of the language, not a predicate"),
        ("not('x')", 1, "`not` is a word of the language, not a predicate"),
        ("Cardinality('x')", 1, "`Cardinality` is a word of the language, not a predicate"),
        ("Have(", 6, "the line ends before the closing parenthesis"),
        ("Have('x'", 9, "the closing parenthesis is missing"),
        ("Have('x',", 10, "the line ends before the closing parenthesis"),
        ("Have('x)", 6, "this constant has no closing quote"),
        ("Have('x\\", 6, "this constant has no closing quote"),
        ("Have('a\\n')", 6, "`\\n` is not an escape"),
        ('Have("x")', 6, "constants are written in single quotes"),
        ("Have(“it's”)", 6, "constants are written in single quotes"),
        ("Have(X)", 6, "`X` is a variable, and facts have none"),
        ("Have('x',_)", 10, "`_` is a variable, and facts have none"),
        ("Have(x)", 6, "`x` is a constant without quotes"),
        ("Have('x', 1.5)", 11, "`1.5` is a constant without quotes"),
        ("Have('x',)", 10, "a value is missing here"),
        ("Have(,'x')", 6, "a value is missing here"),
        ("Have($)", 6, "`$` does not begin a constant"),
        ("Have('x' 'y')", 10, "a comma is missing between two constants"),
        ("Have('it's')", 10, "`s` cannot follow a constant: `,` or `)` must"),
        ("Have('x').", 10, "a fact line has no full stop"),
        ("Have('x') :- true.", 11, "this is a rule, and a facts file holds facts alone"),
        ("Have(X) :- Field(X,_,_,_).", 6, "this is a rule, and a facts file holds facts alone"),
        ("Have('x') # old", 11, "a comment has a line of its own"),
        ("Have('x'), Have('y')", 10, "`, Have('y')` stands after the fact"),
        ("Have('x')\0", 10, "`␀` stands after the fact"),
    ],
)
def test_a_line_that_is_no_fact(line: str, column: int, message: str) -> None:
    found = problem(line.encode())
    assert (found.name, found.place.column, found.message) == ("bad-fact", column, message)
    assert found.help


def test_text_that_no_fact_may_hold() -> None:
    good = b"Have('x')\n"
    assert position(good + b"Have('\xc3')") == ("not-utf8", 2, 7)
    assert position("Have('é".encode() + b"\xe2\x82')") == ("not-utf8", 1, 8)
    assert position(good + "Have('äe\u0301')".encode()) == ("not-nfc", 2, 9)
    assert position(good + b"Have('x\ry')") == ("carriage-return", 2, 8)
    assert position("\ufeff# facts\n".encode() + good) == ("byte-order-mark", 1, 1)
    assert read("Have('\ufeff\0\u200b')".encode())[0] == {
        Predicate("Have", 1): [("\ufeff\0\u200b",)]
    }


def test_line_ends_of_another_system() -> None:
    found = read(b"Have('x')\r\nHave(x)\r\nHave('y')\n")[1]
    assert [(p.name, p.place.line, p.place.column) for p in found] == [
        ("carriage-return", 1, 10),
        ("bad-fact", 2, 6),
    ]
    assert found[0].message == "2 lines end in CR LF, and lines end in LF alone"


def test_all_problems_are_reported_in_order_up_to_a_number() -> None:
    data = b"Have('x')\n" * 3 + b"Have(x)\n" * 300
    for size in (0, 64):
        problems = read(data, size=size)[1]
        assert [p.place.line for p in problems] == list(range(4, 4 + MOST_PROBLEMS))


# Limits.


def test_values_and_arities_have_limits() -> None:
    limits = Limits(value_bytes=8, arity=2)
    assert read(b"A('12345678','')", limits)[1] == ()
    assert read("A('éééé','\\'\\'\\'\\'\\\\\\\\\\\\\\\\')".encode(), limits)[1] == ()
    assert position(b"A('','123456789')", limits) == ("constant-too-long", 1, 6)
    assert position("A('ééééé')".encode(), limits) == ("constant-too-long", 1, 3)
    assert position(b" A('','','')", limits) == ("too-many-arguments", 1, 2)
    both = read(b"A('123456789','123456789')", limits)[1]
    assert [p.place.column for p in both] == [3, 15]


def test_facts_have_a_limit_and_runtime_facts_their_own() -> None:
    limits = Limits(base_facts=3, runtime_facts=2)
    base, runtime = b"Have('x')\n", b"Peer('x')\n"
    for size in (0, 16):
        assert read(base * 3 + runtime * 2 + b"# more\n" * 9, limits, size)[1] == ()
        for many, name in ((base * 4, "base_facts"), (runtime * 3 + base, "runtime_facts")):
            with pytest.raises(LimitError) as stopped:
                read(many, limits, size)
            assert stopped.value.name == name


def test_too_many_facts_stop_before_they_are_interned() -> None:
    database = Database()
    with pytest.raises(LimitError):
        read_facts("f", b"Have('x')\n" * 10_000, database, Limits(base_facts=9_999))
    assert len(database.symbols) == 0


def test_long_lines_are_no_trouble() -> None:
    long = 10 * 2**20
    assert position(b"Have('" + b"x" * long + b"')\n") == ("constant-too-long", 1, 6)
    assert position(b"Have('" + b"x" * long) == ("bad-fact", 1, 6)
    assert position(b"Have(" + b"'x'," * (long // 4) + b"'x')") == ("too-many-arguments", 1, 1)
    assert position(b"H" * long) == ("bad-fact", 1, long + 1)
    assert position(b"'" * long) == ("bad-fact", 1, 1)
    assert position(b"Have(" + b"('" * (long // 2)) == ("bad-fact", 1, 6)
    assert position(b"Have('" + "e\u0301".encode() * (long // 3)) == ("not-nfc", 1, 8)
    assert read(b"#" + b"'" * long + b"\n" + b" " * long) == ({}, ())


# What no random file is large enough for.


def test_a_file_of_many_blocks() -> None:
    """Repeated and different values, names and arities, with other lines between."""
    lines = []
    for number in range(40_000):
        lines.append(f"Field('hash number {number // 8}','Name','{number % 3}','{number}')")
        if number % 1000 == 0:
            lines.append(f"Note('it\\'s {number}')")
            lines.append(f"N{number % 20_000}('x')")
    database = Database()
    assert read_facts("f", "\n".join(lines).encode(), database, DEFAULT_LIMITS) == ()
    field = database.relation(Predicate("Field", 4))
    assert field.size == 40_000
    assert set(database.tuples(field)) == {
        (f"hash number {n // 8}", "Name", str(n % 3), str(n)) for n in range(40_000)
    }
    assert database.tuples(database.relation(Predicate("Note", 1))) == sorted(
        (f"it's {number}",) for number in range(0, 40_000, 1000)
    )
    assert len(database.predicates()) == 22


def test_a_second_file_shares_the_symbols_of_the_first() -> None:
    database = Database()
    for text in ("A('x')\n" * 2000, "A('x')\nA('it\\'s')\nB('x','y')\n", "A('z')\n" * 2000):
        assert read_facts("f", text.encode(), database, DEFAULT_LIMITS) == ()
    assert database.tuples(database.relation(Predicate("A", 1))) == [("it's",), ("x",), ("z",)]
    assert sorted(database.symbols.text(id) for id in range(len(database.symbols))) == [
        "it's", "x", "y", "z"
    ]  # fmt: skip


def test_a_value_with_a_line_break_is_not_written() -> None:
    for value in ("a\nb", "\r", "\n"):
        with pytest.raises(FactError):
            write_facts(Predicate("A", 1), [("x",), (value,)])
    assert write_facts(Predicate("Zero", 0), [()]) == b"Zero()\n"
    assert write_facts(Predicate("A", 2), [("it's", "\\")]) == b"A('it\\'s','\\\\')\n"
