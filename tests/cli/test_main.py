"""The entry point: version, help, mistakes of the command line, interruption."""

import inspect
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lacec import __version__, cli
from lacec.cli import COMMANDS, GROUPS
from tests.cli.run import lacec, process_environment, python

GOOD = b"Selected(P) :- Have(P).\n"
INSTALLED = Path(sys.executable).parent / "lacec"


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str) -> None:
    assert python(["-m", "lacec", option]) == (0, f"lacec {__version__}\n", "")


def test_version_imports_no_command() -> None:
    outcome = python(["-X", "importtime", "-m", "lacec", "--version"])
    assert outcome.out == f"lacec {__version__}\n"
    assert "lacec" in outcome.err
    assert "typer" not in outcome.err


def test_version_among_other_arguments() -> None:
    assert lacec("--version", "check") == (0, f"lacec {__version__}\n", "")


def test_the_installed_script_is_the_same() -> None:
    result = subprocess.run([INSTALLED, "check", "-"], input=GOOD, capture_output=True, check=False)
    outcome = python(["-m", "lacec", "check", "-"], source=GOOD)
    assert (result.returncode, result.stdout.decode(), result.stderr.decode()) == outcome
    assert outcome == (0, "", "no problems in 1 file\n")


def test_help_lists_the_commands_in_order() -> None:
    outcome = lacec("--help")
    assert outcome.code == 0
    listed = re.findall(r"^│ ([\w-]+) ", outcome.out.partition("Commands")[2], re.MULTILINE)
    assert listed == list(dict.fromkeys(name.partition(" ")[0] for name in COMMANDS))


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_an_example(command: str, option: str) -> None:
    outcome = lacec(*command.split(), option)
    assert outcome.code == 0
    assert f"Example: lacec {command} " in outcome.out


@pytest.mark.parametrize("group", GROUPS)
def test_help_of_a_group_lists_its_commands_in_order(group: str) -> None:
    outcome = lacec(group, "--help")
    assert outcome.code == 0
    listed = re.findall(r"^│ (\w+) ", outcome.out.partition("Commands")[2], re.MULTILINE)
    assert [f"{group} {own}" for own in listed] == [
        n for n in COMMANDS if n.startswith(f"{group} ")
    ]


CALLED = """
import sys
from lacec.cli import run
try:
    run(sys.argv[1:])
finally:
    sys.stderr.write(" ".join(name for name in sys.modules if name.startswith("lacec.cli.")))
"""


def imported(*arguments: str, **env: str) -> set[str]:
    """The modules of commands that a command line imports."""
    loaded = python(["-c", CALLED, *arguments], env=env).err.split()
    return {name for name in loaded if name.startswith("lacec.cli.commands.")}


@pytest.mark.parametrize("before", [[], ["--"]])
def test_a_command_of_a_group_imports_no_other(before: list[str]) -> None:
    found = imported(*before, "key", "show", "--help")
    assert found == {"lacec.cli.commands.key", "lacec.cli.commands.key.show"}


@pytest.mark.parametrize("arguments", [["--help"], [], ["spark", "--help"], ["chek"], ["-h"]])
def test_help_imports_no_command(arguments: list[str]) -> None:
    assert imported(*arguments) == set()


def test_completing_the_name_of_a_command_imports_none() -> None:
    words = {"COMP_WORDS": "lacec ch", "COMP_CWORD": "1"}
    assert imported(**words, _LACEC_COMPLETE="complete_bash") == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_listed_has_its_own_help(name: str) -> None:
    assert cli._listed(name).__doc__ == inspect.getdoc(cli._imported(name))


def test_no_arguments_print_the_help() -> None:
    outcome = lacec()
    assert outcome.code == 2
    assert "Usage: lacec" in outcome.out + outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("chekc",),
        ("check",),
        ("check", "--no-such-option", "-"),
        ("compile",),
        ("compile", "a", "b"),
        ("check", "-", "--format", "xml"),
        ("fmt",),
        ("explain",),
        ("key", "nwe"),
        ("record", "verify"),
    ],
)
def test_a_wrong_command_line_exits_with_2(arguments: tuple[str, ...]) -> None:
    outcome = lacec(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Usage: lacec" in outcome.err


def test_a_command_that_is_nearly_right_is_corrected() -> None:
    assert "Did you mean 'check'?" in lacec("chekc").err


def test_exit_codes_reach_the_shell() -> None:
    codes = [
        python(["-m", "lacec", "check", "-"], source=source).code
        for source in (GOOD, b"", b"Selected(P) :- Have(P)\n")
    ]
    codes.append(python(["-m", "lacec", "check", "nowhere.lace"]).code)
    assert codes == [0, 0, 1, 2]


@pytest.mark.parametrize("command", ["check", "compile", "fmt"])
def test_interruption_exits_with_130_and_no_traceback(command: str) -> None:
    """When more than a pipe holds is written, the command reads, and waits for the rest."""
    with subprocess.Popen(
        [sys.executable, "-m", "lacec", command, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"# a comment\n" * 100_000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_a_reader_that_stops_early_gets_no_traceback(tmp_path: Path) -> None:
    """`lacec check policy.lace | head -1`"""
    path = tmp_path / "policy.lace"
    path.write_text("A(p) :- Have(q).\n" * 20_000, encoding="utf-8")
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "lacec", "check", str(path)],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=process_environment(),
    ) as process:
        os.close(writing)
        assert os.read(reading, 5) == b"error"
        os.close(reading)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"Traceback" not in err
