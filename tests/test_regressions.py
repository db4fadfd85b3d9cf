"""What once went wrong in the language and its commands, so that it does not again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lacec.core.diagnostics import Diagnostic
from lacec.core.limits import Limits
from lacec.pipeline import check_sources
from tests.cli.run import lacec, process_environment, python
from tests.cli.test_check import LOADED
from tests.helpers import errors, found, lines, names, only
from tests.test_hostile import assert_sound, calls, check


def unprintable(text: str) -> list[str]:
    return [c for c in text if c != "\n" and not c.isprintable()]


@pytest.mark.parametrize("value", ["\x1b[31m", "\u202eabc", "\x9b31m"])
def test_compile_shows_no_control_characters(value: str) -> None:
    outcome = lacec("compile", "-", source=f"A('{value}') :- true.\n")
    assert unprintable(outcome.out + outcome.err) == []


@pytest.mark.parametrize("value", ["\x1b[31m", "\u202eabc"])
def test_help_of_a_comparison(value: str) -> None:
    outcome = lacec("check", "-", source=f"A(X) :- Have(X), X > '{value}'.\n")
    assert unprintable(outcome.out + outcome.err) == []


def test_help_of_a_comparison_is_short() -> None:
    (found, *_) = check_sources([("f", f"A(X) :- Have(X), X > '{'a' * 100_000}'.")])
    assert len(found.help or "") < 400


def test_no_bidi_control_in_json() -> None:
    out = lacec("compile", "-", "--json", source="A('\u202eabc') :- true.\n").out
    assert unprintable(out) == []
    assert json.loads(out)["canonical"] == "A('\u202eabc') :- true."


def test_name_too_long() -> None:
    assert lacec("check", "a" * 300).code == 2


def test_a_very_large_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.lace"
    path.write_text("A(P) :- Have(P).\n")
    assert lacec("check", str(path), "--limit", "source_bytes=" + "9" * 18).code == 0


def test_force_color_in_an_ascii_locale() -> None:
    env = {"PYTHONIOENCODING": "ascii", "FORCE_COLOR": "1"}
    outcome = python(["-m", "lacec", "check", "-"], "A('é') :- Have(x).\n".encode(), env)
    assert "Traceback" not in outcome.err


def test_standard_input_twice() -> None:
    outcome = lacec("compile", "-", "--with", "-", source="A(_) :- Have(X).\n")
    assert "A(_) :- Have(X)." in outcome.err or outcome.code == 2


def test_columns_after_lone_surrogates() -> None:
    assert_sound("\ud800\ud800\ud800\r")


def test_check_does_not_import_blake3(tmp_path: Path) -> None:
    path = tmp_path / "a.lace"
    path.write_text("A(P) :- Have(P).\n")
    for arguments in (["check"], ["fmt", "--check"]):
        outcome = python(["-c", LOADED, *arguments, str(path)])
        assert "blake3" not in json.loads(outcome.out.splitlines()[-1])


def unbound_and_bound(n: int) -> str:
    unbound = ",".join(f"Unbound{i:06}" for i in range(n))
    bound = ",".join(f"Bound{i:06}" for i in range(n))
    return f"P({unbound}) :- Q({bound})."


def test_unbound_variables_cost_what_they_should() -> None:
    assert calls(check, unbound_and_bound(200)) <= 4.5 * calls(check, unbound_and_bound(50))


def listed(n: int) -> int:
    rules = [f"Abcd({','.join(['A'] * 2 * k)}) :- Q(A)." for k in range(n)]
    source = "\n".join([*rules, "B() :- " + ", ".join(["Abcd(_)"] * n) + "."])
    found = [d for d in check_sources([("f", source)]) if d.name == "wrong-arity"]
    return sum(len(d.message) for d in found) // len(found)


def test_a_message_does_not_list_a_thousand_arities() -> None:
    assert listed(400) < 400


def test_one_argument() -> None:
    (found,) = check_sources([("f", "A(X) :- Have(X,X), Have(X).")])
    assert "1 arguments" not in found.message + (found.help or "")


def test_a_message_quotes_only_what_is_there() -> None:
    found: tuple[Diagnostic, ...] = check_sources(
        [("f", "A(X) :- Have(X), Cardinality(B(X) < '5').")]
    )
    assert not any("`!=`" in d.message for d in found)


@pytest.mark.parametrize("depth", [900, 990, 1000, 1200])
def test_annotations_that_can_be_read_can_be_written(depth: int) -> None:
    source = '#:json {"a":' + "[" * depth + "]" * depth + "}\nA() :- true.\n"
    assert lacec("compile", "-", "--json", source=source).code in (0, 1)


@pytest.mark.parametrize("to", ["full", "closed"])
def test_output_that_cannot_be_written(to: str) -> None:
    command = f"'{sys.executable}' -m lacec compile - " + ("> /dev/full" if to == "full" else ">&-")
    result = subprocess.run(
        command,
        shell=True,
        input=b"A() :- true.\n",
        capture_output=True,
        env=process_environment(),
        check=False,
    )
    assert b"Traceback" not in result.stderr


def test_closed_input() -> None:
    result = subprocess.run(
        f"'{sys.executable}' -m lacec check - <&-",
        shell=True,
        capture_output=True,
        env=process_environment(),
        check=False,
    )
    assert b"Traceback" not in result.stderr


def test_a_folder_called_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "inner.lace").mkdir()
    (tmp_path / "inner.lace" / "a.lace").write_text("A() :- true.\n")
    assert lacec("check", str(tmp_path)).code == 0


@pytest.mark.parametrize(
    "where", ["A() :- Cardinality(Have(_),'<','{}').", "A() :- Cardinality(Have(_),'{}','1')."]
)
def test_constants_of_cardinality_are_measured(where: str) -> None:
    assert "constant-too-long" in errors(where.format("1" * 1025))


def test_a_variable_may_be_named_cardinality() -> None:
    assert names("A(Cardinality) :- Have(Cardinality), Cardinality != 'a'.") == []


def test_a_source_over_its_limit_draws_one_diagnostic() -> None:
    assert names("A() :- true.", limits=Limits(source_bytes=4)) == ["source-too-long"]
    assert names("A() :- true.", "selector", Limits(source_bytes=4)) == ["source-too-long"]


def test_an_unknown_marker_does_not_hide_that_the_source_is_empty() -> None:
    assert sorted(names("#:yaml a")) == ["empty-source", "unknown-annotation"]


def test_every_dangling_annotation_is_reported() -> None:
    assert found(lines("A() :- true.", "#:json {}", "#:json {}")) == [
        ("dangling-annotation", 2, 1),
        ("dangling-annotation", 3, 1),
    ]


def test_a_long_number_is_refused_in_plain_words() -> None:
    assert "sys." not in only('#:json {"a":' + "9" * 5000 + "}\nA() :- true.").message


@pytest.mark.parametrize("text", ["P\uff08X) :- Q(X).", "Pé(X) :- Q(X)."])
def test_a_strange_character_is_named_first(text: str) -> None:
    assert names(text)[0] == "unexpected-character"


def test_the_first_edge_is_that_of_the_first_source() -> None:
    (diagnostic,) = check_sources([("b", "A() :- not B()."), ("a", "B() :- not A().")])
    assert diagnostic.place.file == "b"
