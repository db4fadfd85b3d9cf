"""Test files: what they say, and what is wrong with them, by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.policytest.cases import Expected
from lacec.policytest.places import Places
from lacec.policytest.reading import read_tests
from tests.helpers import examples

GOOD = """\
facts_from = "shared.facts"

[records.one]
group = "u"
app = "ding"
name = "links/$alice"
signed_by = "alice"

[[test]]
name = "first"
stored = ["one"]
runtime = { TickTAI = "2026-01-01T00:00:00Z", TransportEncrypted = true, Peer = "$bob" }
is.selected = ["$one"]
lacks."Newer/2" = [["a", "b"]]

[[test]]
name = "second"
peer = "theirs.lace"
has.sent = "wrong"
"""


def problems(text: str | bytes) -> list[tuple[int, str, str | None]]:
    content = text.encode() if isinstance(text, str) else text
    found, diagnostics = read_tests("here/x.test.toml", content)
    assert (found is None) == bool(diagnostics)
    return [(each.place.line, each.message, each.help) for each in diagnostics]


def test_a_file_says_what_is_given_and_expected() -> None:
    found, diagnostics = read_tests("here/x.test.toml", GOOD.replace('"wrong"', '["a"]').encode())
    assert diagnostics == ()
    assert found is not None
    assert found.policy == "here/x.lace"
    first, second = found.cases
    assert first.fact_files == ("here/shared.facts",)
    assert first.runtime == (
        ("TickTAI", ("1767225637:000000000",)),
        ("TransportEncrypted", ()),
        ("Peer", ("$bob",)),
    )
    assert first.expected == (
        Expected("is", "selected", (("$one",),), 13),
        Expected("lacks", "Newer/2", (("a", "b"),), 14),
    )
    assert second.peer == "here/theirs.lace"


TEST = '[[test]]\nname = "a"\n'

WRONG = [
    ("", 1, "the file has no tests", "write [[test]] and a name"),
    ("\n[[test]\n", 2, "this is not TOML: expected ']]' at the end of an array declaration", None),
    (b"# \n\xff", 2, "it is not UTF-8: save it as that", None),
    (
        TEST,
        1,
        "a test expects nothing",
        'as in is.selected = ["S.1"], has.sent = […] or lacks.requested = […]',
    ),
    ("[[test]]\nis.A = []\n", 1, "a test has no name", 'write name = "…" first in it'),
    (TEST + "is.A = []\nstord = []\n", 4, "a test has no key `stord`", "did you mean `stored`?"),
    (
        "[recods]\n" + TEST + "is.A = []\n",
        1,
        "a test file has no key `recods`",
        "did you mean `records`?",
    ),
    (
        TEST + "is.A = 1\n",
        3,
        "`A` is no list of texts, nor of rows of texts",
        'as in ["S.1"], or [["S.1", "V.alice"]]',
    ),
    (
        TEST + "has.A = []\n",
        3,
        "`has` of nothing holds whatever there is",
        "write is.A = … for what there is and nothing else",
    ),
    (
        TEST + "lacks.A = false\n",
        3,
        "`lacks` of nothing holds whatever there is",
        "write is.A = … for what there is and nothing else",
    ),
    (
        "[[exchange]]\nname = 'a'\nis.to_left = true\n",
        3,
        "`to_left` has one value a row",
        'as in ["$one", "$two"]',
    ),
    (
        "[records]\n'a b' = {}\n" + TEST + "is.A = []\n",
        2,
        "`a b` cannot be a name after a $",
        "begin with a letter; then letters, digits, _ and -",
    ),
    (
        "[records]\na = { group = 'g', app = 'a', name = 'n', signed_by = 'a' }\n"
        + TEST
        + "is.A = []\n",
        2,
        "`a` is a record and a key: `$a` could be either",
        "give one of them another name",
    ),
    (
        "keys = ['']\n" + TEST + "is.A = []\n",
        1,
        "`` cannot be a name after a $",
        "begin with a letter; then letters, digits, _ and -",
    ),
    (
        TEST + "is.A = []\nside = 2\npeer = 'b'\n",
        4,
        "`side` is 0 or 1",
        "the operand that the policy is",
    ),
    (
        TEST + "is.A = []\nside = 1\n",
        4,
        "`side` is of an exchange plan, and the test has no peer",
        'add peer = "theirs.lace"',
    ),
    (
        TEST + "is.A = []\nruntime.TickTIA = ''\n",
        4,
        "an exchange has no key `TickTIA`",
        "did you mean `TickTAI`?",
    ),
    (
        TEST + "is.A = []\nruntime.TickTAI = 'noon'\n",
        4,
        "'noon' is not a time: ten digits, a colon, nine digits",
        "as in 2026-01-31T12:00:00Z",
    ),
    (TEST + "is.A = []\nfacts = 1\n", 4, "`facts` is no text", "write it in quotes"),
    (
        TEST + "is.A = []\n" + TEST + "is.A = []\n",
        5,
        "two tests have the name `a`",
        "say what is different about each",
    ),
    (
        "records.a.group = 'u'\n" + TEST + "is.A = []\n",
        1,
        "a record has all of group, app and name, or data alone",
        "add what is missing",
    ),
    (
        '[[exchange]]\nname = "a"\nis.to_rigth = []\n',
        3,
        "an exchange has no `to_rigth`",
        "did you mean `to_right`?",
    ),
    (
        '[[exchange]]\nname = "a"\nis.to_left = []\nleft = { polcy = "" }\n',
        4,
        "the left side has no key `polcy`",
        "did you mean `policy`?",
    ),
    (
        "facet = 'x'\n" + TEST + "is.A = []\n",
        1,
        "`x` is no facet",
        "one of plain, selector, expose",
    ),
    ("test = 1\n", 1, "`test` is no list of tables", "write [[test]]"),
]


@pytest.mark.parametrize(("text", "line", "message", "help"), WRONG)
def test_a_mistake_has_its_line_and_what_to_do(
    text: str | bytes, line: int, message: str, help: str | None
) -> None:
    assert problems(text) == [(line, message, help)]


def test_every_mistake_is_told_at_once() -> None:
    found = problems("a = 1\n" + TEST + "b = 1\nis.C = {}\n")
    assert [line for line, _, _ in found] == [1, 4, 5]


def test_places_know_tables_in_lists_and_texts_of_several_lines() -> None:
    places = Places('[[a]]\nx = """\ny = 1\n"""\n[a.b]\nc = 1\n[[a]]\nx.y = 1\n')
    assert places.line(("a", 0, "x")) == 2
    assert places.text_line(("a", 0, "x")) == 3
    assert places.line(("a", 0, "y")) == 1
    assert places.line(("a", 0, "b", "c")) == 6
    assert places.line(("a", 1, "x", "y")) == 8
    assert places.line(("z",)) == 1


@examples(200)
@given(st.text(alphabet="[]test=name\"'\n.is{}#1 ,") | st.binary(max_size=40))
def test_nothing_breaks_the_reader(content: str | bytes) -> None:
    problems(content)


def test_lists_and_comments_lead_no_line_astray() -> None:
    text = """\
# don't open a text: '''
[[test]]
name = 'a "quoted" [one]' # [two]
is.A = [
  ["S.1"],
  [
    "b = c"
  ],
]
lacks."B/1" = ["S.2"]
facts = '''Have('x')'''
"""
    places = Places(text)
    lines = [places.line(("test", 0, *path)) for path in (("is", "A"), ("lacks", "B/1"))]
    assert lines == [4, 10]
    assert places.line(("test", 0)) == 2
    assert places.text_line(("test", 0, "facts")) == 11
