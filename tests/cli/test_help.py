"""Help reads as one design: one style, the same words for the same options; and completion."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
import typer

from lacec.cli import COMMANDS, GROUPS, build
from tests.cli.run import lacec, python

# Options that stand for different things in different commands.
OF_SEVERAL_MEANINGS = {
    "--expose", "--facet", "--facts", "--json", "--key", "--limit", "--memory", "--out", "--output",
    "--peer", "--query", "--store", "--strict",
}  # fmt: skip


class Parameter(NamedTuple):
    """An option by its long name, or an argument by its metavar; and its help."""

    command: str
    name: str
    metavar: str | None
    help: str
    repeatable: bool


def parameters() -> Iterator[Parameter]:
    application = typer.main.get_command(build(COMMANDS))
    for name in COMMANDS:
        command = application
        for word in name.split(" "):
            command = command.commands[word]  # type: ignore[attr-defined]
        for parameter in command.params:
            shown = max(parameter.opts, key=len)
            if parameter.param_type_name == "argument":
                shown = str(parameter.metavar)
            help = getattr(parameter, "help", None) or ""
            repeatable = bool(getattr(parameter, "multiple", False))
            yield Parameter(name, shown, parameter.metavar, help, repeatable)


PARAMETERS = tuple(parameters())


def test_there_are_many() -> None:
    assert len(PARAMETERS) > 150


@pytest.mark.parametrize("command", COMMANDS)
def test_help_texts_are_sentences(command: str) -> None:
    """They begin with a capital, end with a full stop, and say Repeatable in one way."""
    for each in PARAMETERS:
        if each.command == command:
            assert re.fullmatch(r"[A-Z].*\.", each.help), each
            assert each.help.endswith(". Repeatable.") == each.repeatable, each
            assert "epeat" not in each.help.removesuffix("Repeatable."), each
            assert not re.search(r"or -(?! for standard input| ?\w)", each.help), each


def test_one_option_has_one_text() -> None:
    texts: dict[str, set[tuple[str | None, str]]] = {}
    for each in PARAMETERS:
        if each.name.startswith("--"):
            texts.setdefault(each.name, set()).add((each.metavar, each.help))
    several = {name for name, found in texts.items() if len(found) > 1}
    assert several == OF_SEVERAL_MEANINGS


def test_options_have_names_of_one_kind() -> None:
    """A long name in kebab-case; the one short name besides is -o."""
    application = typer.main.get_command(build(COMMANDS))
    for name in COMMANDS:
        command = application
        for word in name.split(" "):
            command = command.commands[word]  # type: ignore[attr-defined]
        for parameter in command.params:
            if parameter.param_type_name == "option":
                *short, long = sorted(parameter.opts, key=len)
                assert re.fullmatch(r"--[a-z0-9]+(-[a-z0-9]+)*", long)
                assert short in ([], ["-o"])


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_help_of_a_group_has_an_example(group: str) -> None:
    outcome = lacec(*group.split(), "--help")
    assert outcome.code == 0
    assert f"Example: lacec {group}".rstrip() + " " in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_are_commands_that_can_be_read(command: str) -> None:
    """Each begins with its command, and its options are those of the command."""
    outcome = lacec(*command.split(), "--help")
    (example,) = re.findall(r"Example: (lacec .*)", outcome.out)
    assert example.startswith(f"lacec {command}")
    known = {each.name for each in PARAMETERS if each.command == command}
    assert set(re.findall(r"(?<= )--[a-z0-9-]+", example)) <= known


# Completion.


def completed(line: str, shell: str = "bash") -> list[str]:
    """What a shell is told when the last word of a line is to be completed."""
    given = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    outcome = python(["-m", "lacec"], env={"_LACEC_COMPLETE": f"complete_{shell}", **given})
    assert outcome.code == 0, outcome.err
    return outcome.out.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lacec ex", ["explain"]),
        ("lacec re", ["replay", "record"]),
        ("lacec store i", ["init", "import"]),
        ("lacec std show s", ["signed", "support"]),
        ("lacec compile --fac", ["--facet"]),
        ("lacec compile --facet s", ["selector"]),
        ("lacec explain links.lace --ht", ["--html"]),
        ("lacec record new --he", ["--header", "--help"]),
    ],
)
def test_commands_options_and_choices_are_completed(line: str, words: list[str]) -> None:
    assert completed(line) == words


@pytest.mark.parametrize("line", ["lacec compile lin", "lacec eval a.lace --facts lin"])
def test_files_are_left_to_the_shell(line: str) -> None:
    """Nothing is said, and the script tells the shell to complete file names then."""
    assert completed(line) == []
    script = python(["-m", "lacec"], env={"_LACEC_COMPLETE": "source_bash"}).out
    assert re.search(r"^complete -o default .* lacec$", script, re.MULTILINE)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    script = python(["-m", "lacec"], env={"_LACEC_COMPLETE": f"source_{shell}"})
    assert script.code == 0
    assert f"_LACEC_COMPLETE=complete_{shell}" in script.out
