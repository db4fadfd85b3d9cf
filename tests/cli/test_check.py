"""lacec check: diagnostics as people read them and as editors read them."""

import json
import os
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.run import DIAGNOSTIC_KEYS, RELATED_KEYS, lacec, python

GOOD = "Selected(P) :- Have(P).\n"
CYCLE = """\
Trusted(V) :- Signed(_,V), not Revoked(V).
Revoked(V) :- Signed(_,V), Reported(V).
Reported(V) :- Signed(P,V), Cardinality(Trusted(P),'<','1').
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return name


# What people read.

RENDERED: dict[str, str | bytes] = {
    "one mistake": "Selected(P) :- Have(P)\n",
    "several on a line": "Link(P) :- Have(p), Field(P,'Group',_,\"u\")\n",
    "tabs": "\tSelected(P)\t:-\tHave(P),\tPrefix(P,'a').\n",
    "wide characters": "Group('字体','é') :- Have(字).\n",
    "combining characters": "Group('x\u0301\u0302') :- Have(x).\n",
    "a mark that turns text around": "Group('\u202eabc') :- true.\n",
    "bytes that are not text": b"Group('caf\xe9') :- true.\n",
    "a long line": "Selected(P) :- "
    + "Have(P), " * 60
    + "Have(p), "
    + "Have(P), " * 60
    + "true.\n",
    "a long mark": f"A('{'x' * 2000}') :- true.\n",
    "a cycle": CYCLE,
    "line numbers of several widths": "\n" * 8 + CYCLE,
    "an empty source": "",
    "lines that end in CR LF": "A(P) :- Have(P).\r\nB(P) :- Have(P).\r\n",
}


@pytest.mark.parametrize("case", RENDERED)
def test_rendered(case: str, snapshot: SnapshotAssertion) -> None:
    outcome = lacec("check", write("policy.lace", RENDERED[case]))
    assert outcome.out + outcome.err == snapshot


def test_no_line_is_wider_than_its_window() -> None:
    outcome = lacec("check", write("policy.lace", RENDERED["a long line"]))
    assert max(len(line) for line in outcome.out.splitlines()) < 120


# What the exit code says.


def test_no_problems() -> None:
    outcome = lacec("check", write("policy.lace", GOOD))
    assert outcome == (0, "", "no problems in 1 file\n")


def test_errors_exit_with_1_and_are_counted() -> None:
    write("a.lace", "A(P) :- Have(P)\nB(P,V) :- Have(P).\n")
    write("b.lace", "C(P) :- Have(P), Feild(P,'x',_,_).\n")
    outcome = lacec("check", "a.lace", "b.lace")
    assert outcome.code == 1
    assert outcome.err == "2 errors and 1 warning in 2 files\n"


def test_warnings_alone_exit_with_0() -> None:
    outcome = lacec("check", "-", source="")
    assert outcome.code == 0
    assert outcome.out.startswith(
        "warning[empty-source]: this source has no rules\n --> <stdin>:1:1"
    )
    assert outcome.err == "1 warning in 1 file\n"


@pytest.mark.parametrize("command", ["check", "compile", "fmt"])
def test_a_missing_file_is_a_mistake_of_the_command_line(command: str) -> None:
    outcome = lacec(command, "nowhere.lace")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot read nowhere.lace: no such file or directory" in outcome.err


@pytest.mark.parametrize("command", ["check", "compile", "fmt"])
def test_a_file_that_cannot_be_read_is_a_mistake_of_the_command_line(command: str) -> None:
    write("policy.lace", GOOD)
    outcome = lacec(command, "policy.lace/inner.lace")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot read policy.lace/inner.lace: not a directory" in outcome.err


def test_a_folder_stands_for_the_files_below_it() -> None:
    write("policies/a.lace", "A(P) :- Have(P)\n")
    write("policies/inner/b.lace", "B(P) :- Have(P)\n")
    write("policies/notes.txt", "not a policy")
    outcome = lacec("check", "policies", "policies/a.lace", "--json")
    assert outcome.code == 1
    files = [found["file"] for found in outcome.document["diagnostics"]]
    assert files == [
        os.path.join("policies", "a.lace"),
        os.path.join("policies", "inner", "b.lace"),
    ]


def test_a_folder_without_policies_is_a_mistake_of_the_command_line() -> None:
    Path("empty").mkdir()
    outcome = lacec("check", "empty")
    assert outcome.code == 2
    assert "the folder empty has no *.lace files" in outcome.err


def test_each_file_is_a_module_of_its_own() -> None:
    write("a.lace", "A(P) :- Have(P), not B(P).\n")
    write("b.lace", "B(P) :- Have(P), not A(P).\n")
    assert lacec("check", "a.lace", "b.lace").code == 0
    assert lacec("check", "a.lace", "--with", "b.lace").code == 1


def test_a_linked_file_speaks_once() -> None:
    write("a.lace", GOOD)
    write("b.lace", GOOD)
    write("shared.lace", "C(P) :- Have(P)\n")
    document = lacec("check", "a.lace", "b.lace", "--with", "shared.lace", "--json").document
    assert [found["file"] for found in document["diagnostics"]] == ["shared.lace"]


def test_the_facet_decides_what_is_missing() -> None:
    write("policy.lace", "AllowQueryRecord(V,P) :- _Viewer(V), Have(P).\n")
    assert lacec("check", "policy.lace", "--facet", "expose").code == 0
    document = lacec("check", "policy.lace", "--facet", "selector", "--json").document
    assert {found["name"] for found in document["diagnostics"]} == {
        "closed-selector",
        "missing-export",
        "reserved-name",
    }


def test_limits_bound_what_is_read() -> None:
    outcome = lacec("check", "-", "--json", "--limit", "source_bytes=10", source=GOOD)
    assert outcome.code == 1
    found = {each["name"]: each["message"] for each in outcome.document["diagnostics"]}
    assert "at least 11 bytes, over the limit source_bytes of 10" in found["source-too-long"]


# What editors read.


def test_json_of_a_diagnostic() -> None:
    source = "# é字\nSelected(P) :- Field(P,'é字💥\u0301',_,_), Have(p).\n"
    outcome = lacec("check", write("policy.lace", source), "--json")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.document == {
        "diagnostics": [
            {
                "name": "bad-variable",
                "severity": "error",
                "message": "`p` is neither a variable nor a constant",
                "file": "policy.lace",
                "line": 2,
                "column": 42,
                "end_line": 2,
                "end_column": 43,
                "help": "write `P` for a variable, `'p'` for text",
                "related": [],
            }
        ]
    }
    assert source.split("\n")[1][42 - 1 : 43 - 1] == "p"


def test_json_keys_keep_their_order() -> None:
    document = lacec("check", "-", "--json", source=CYCLE).document
    assert list(document) == ["diagnostics"]
    (found,) = document["diagnostics"]
    assert list(found) == DIAGNOSTIC_KEYS
    assert [list(related) for related in found["related"]] == [RELATED_KEYS] * 3
    assert [related["line"] for related in found["related"]] == [1, 2, 3]


def test_json_of_no_problems_is_an_empty_list() -> None:
    outcome = lacec("check", "-", "--json", source=GOOD)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document == {"diagnostics": []}


def test_format_json_is_json() -> None:
    source = "A(P) :- Have(P)\n"
    assert lacec("check", "-", "--format", "json", source=source) == lacec(
        "check", "-", "--json", source=source
    )


def test_diagnostics_are_in_the_order_of_files_and_text() -> None:
    write("b.lace", "B(p) :- Have(q).\nC(r) :- true.\n")
    write("a.lace", "A(p) :- true.\n")
    found = lacec("check", "b.lace", "a.lace", "--json").document["diagnostics"]
    places = [(each["file"], each["line"], each["column"]) for each in found]
    assert places == [("b.lace", 1, 3), ("b.lace", 1, 14), ("b.lace", 2, 3), ("a.lace", 1, 3)]


# Colour, and what must never reach a terminal.


def test_output_is_plain_unless_it_goes_to_a_terminal() -> None:
    assert "\x1b" not in lacec("check", "-", source="A(P) :- Have(P)\n").out


def test_force_color_adds_style_and_changes_no_text() -> None:
    source = RENDERED["wide characters"]
    plain = lacec("check", "-", source=source)
    styled = lacec("check", "-", source=source, env={"FORCE_COLOR": "1"})
    assert "\x1b[1;31merror[unexpected-character]\x1b[0m" in styled.out
    assert _without_style(styled.out) == plain.out
    assert styled.code == plain.code == 1


def test_no_color_wins_over_force_color() -> None:
    both = lacec(
        "check", "-", source="A(P) :- Have(P)\n", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}
    )
    assert "\x1b" not in both.out + both.err


def _without_style(text: str) -> str:
    parts = text.split("\x1b[")
    return parts[0] + "".join(part.partition("m")[2] for part in parts[1:])


HOSTILE: dict[str, str | bytes] = {
    "escape sequence in a constant": "A('\x1b[31m') :- Have(x).\n",
    "escape sequence in a comment": "# \x1b]0;title\x07\nA(P) :- Have(P)\n",
    "escape sequence between tokens": "A(P) \x1b[2J :- Have(P).\n",
    "escape sequence in other quotes": 'A(P) :- Have("\x1b[31m").\n',
    "escape sequence as an operator": "A(P) :- Field(P,'a',_,V), IntCompare(V,'\x1b[31m','1').\n",
    "escape sequence as a number": "A(P) :- Field(P,'a',_,V), IntCompare(V,'<','\x1b[31m').\n",
    "escape sequence in an annotation": '#:json ["\x1b[31m"]\nA(P) :- Have(P).\n',
    "escape sequence in an unknown annotation": "#:\x1b[31m\nA(P) :- Have(P).\n",
    "escape sequence in an anchor": "A(P) :- Have(P), TextShape(P,'^\x1b[31m','','').\n",
    "escape sequence in a header": "A(P) :- Field(P,'\x1b[31m',_,_).\n",
    "override in a link": "A(P) :- RecordLink(P,'\u202eabc',_,_,_).\n",
    "one-byte escape": "A('\x9b31m') :- Have(x).\n",
    "override in a constant": "A('\u202eabc\u202c') :- Have(x).\n",
    "isolate between tokens": "A(P) \u2066:- Have(P).\n",
    "override in other quotes": 'A(P) :- Have("\u202eabc").\n',
    "marks in an annotation": '#:json ["\u200f\u202e"]\nA(P) :- Have(P).\n',
    "line separators": "A('\u2028\u2029\x85') :- Have(x).\n",
    "carriage return": "A('secret') :- Have(x).\rA(P) :- Have(P).\n",
    "backspaces": "A('safe\b\b\b\b') :- Have(x).\n",
    "escaped byte": b"A('\xff\x1b[31m') :- Have(x).\n",
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("command", ["check", "compile"])
def test_no_source_can_steer_the_terminal(case: str, command: str) -> None:
    outcome = lacec(command, write("policy.lace", HOSTILE[case]))
    shown = outcome.out + outcome.err
    assert "policy.lace:" in shown
    assert [c for c in shown if c != "\n" and not c.isprintable()] == []


def test_json_is_in_utf8_whatever_the_locale_says() -> None:
    write("policy.lace", "Group('é字') :- Have(x).\n")
    outcome = python(
        ["-m", "lacec", "check", "--json", "policy.lace"], env={"PYTHONIOENCODING": "ascii"}
    )
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.document["diagnostics"][0]["column"] == 21


def test_text_is_in_utf8_whatever_the_locale_says() -> None:
    write("policy.lace", "Group('é字') :- Have(x).\n")
    outcome = python(["-m", "lacec", "check", "policy.lace"], env={"PYTHONIOENCODING": "ascii"})
    assert outcome.code == 1
    assert "Group('é字')" in outcome.out


# What it costs to start.

LOADED = """
import json, sys
from lacec.__main__ import main
sys.argv = ["lacec", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
HEAVY = {
    "lark",
    "markdown_it",
    "numpy",
    "pandas",
    "pyarrow",
    "pygls",
    "pygments",
    "pyspark",
    "rich",
}


@pytest.mark.parametrize("arguments", [("check",), ("compile", "--json"), ("fmt", "--check")])
def test_a_command_imports_nothing_that_it_does_not_need(arguments: tuple[str, ...]) -> None:
    write("policy.lace", GOOD)
    outcome = python(["-c", LOADED, *arguments, "policy.lace"])
    loaded = set(json.loads(outcome.out.splitlines()[-1]))
    assert "lacec" in loaded
    assert loaded & HEAVY == set()
