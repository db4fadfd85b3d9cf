"""The command line: one command a file, no logic of its own.

Only the module of the command that is called is imported, so that a command
starts as fast as what it does allows.
"""

import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import cleandoc
from itertools import dropwhile
from pathlib import Path
from typing import Any

import typer

# In the order of `lacec --help`. In the folder commands, `check` is the function check_command of
# check.py; `key new` is new_command of key/new.py, and belongs to the group `key`; in the names of
# Python a hyphen is an underscore.
COMMANDS = (
    "compile",
    "check",
    "fmt",
    "lsp",
    "eval",
    "query",
    "test",
    "diff",
    "explain",
    "audit",
    "run-interlace",
    "replay",
    "std list",
    "std show",
    "key new",
    "key show",
    "record new",
    "record sign",
    "record show",
    "record verify",
    "store init",
    "store import",
    "store export",
    "store list",
    "store get",
    "store rm",
    "store facts",
    "store verify",
    "store stats",
    "store compact",
    "store backup",
    "spark ingest",
    "spark evaluate",
    "spark plan",
    "spark reconcile",
    "spark diff",
)
# What a group is for, and an example.
GROUPS = {
    "key": ("Make signing secrets, and see their verifiers.", "lacec key new -o alice.key"),
    "record": ("Make, sign, read and check records.", "lacec record show one"),
    "spark": (
        "Check records and evaluate over them on Spark.",
        "lacec spark ingest records/ --out tables",
    ),
    "std": ("See what the standard library has to link.", "lacec std list"),
    "store": ("Keep records, and evaluate over them.", "lacec store list mine"),
}

_SETTINGS = {"help_option_names": ["-h", "--help"]}


def build(names: Sequence[str], *, listed: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the named commands, and with the groups they belong to.

    Those that are only listed have their help, which is read without importing them.
    """
    app = typer.Typer(
        name="lacec",
        help="Compile lacegrams, evaluate and explain them; make, keep and exchange records.",
        epilog="Example: lacec check policy.lace",
        no_args_is_help=True,
        context_settings=_SETTINGS,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def lacec(
        version: bool = typer.Option(False, "--version", "-V", help="Print the version."),
    ) -> None:
        if version:
            from lacec import __version__

            typer.echo(f"lacec {__version__}")
            raise typer.Exit

    groups: dict[str, typer.Typer] = {}
    for name in (*names, *listed):
        group, _, own = name.rpartition(" ")
        if group and group not in groups:
            groups[group] = typer.Typer(no_args_is_help=True, context_settings=_SETTINGS)
            help, example = GROUPS[group]
            app.add_typer(groups[group], name=group, help=help, epilog=f"Example: {example}")
        command = _listed(name) if name in listed else _imported(name)
        help, _, example = (command.__doc__ or "").rpartition("Example: ")
        place = groups[group] if group else app
        place.command(own, help=help.strip(), epilog=f"Example: {example.strip()}")(command)
    return app


def run(arguments: Sequence[str]) -> None:
    # To complete a line, the shell gives it in the environment, and no arguments.
    completing = "_LACEC_COMPLETE" in os.environ
    words = os.environ.get("COMP_WORDS", "").split()[1:] if completing else arguments
    words = [*dropwhile(lambda word: word.startswith("-"), words)]
    called = [name for name in COMMANDS if name.split(" ") == words[: name.count(" ") + 1]]
    app = build(called) if called else build((), listed=_near(words))
    app(args=list(arguments), prog_name="lacec")


def _near(words: list[str]) -> Sequence[str]:
    """Return the commands of the group that is named, or all."""
    return [name for name in COMMANDS if name.split(" ")[:1] == words[:1]] or COMMANDS


def _imported(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    module = import_module(f"lacec.cli.commands.{_place(name).replace('/', '.')}")
    command: Callable[..., Any] = getattr(module, _function(name))
    return command


def _listed(name: str) -> Callable[..., Any]:
    """Return a function that has the docstring of a command, which is not imported."""
    path = Path(__file__).parent / "commands" / f"{_place(name)}.py"
    pattern = rf'^def {_function(name)}\(.*?^    """(.*?)"""'
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None, name

    def command() -> None:
        raise AssertionError(f"{name} is listed, and cannot be called")

    command.__doc__ = cleandoc(found[1])
    return command


def _place(name: str) -> str:
    return name.replace(" ", "/").replace("-", "_")


def _function(name: str) -> str:
    return f"{name.rpartition(' ')[2].replace('-', '_')}_command"
