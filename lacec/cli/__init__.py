"""The command line: one command a file, no logic of its own.

Only the module of the command that is called is imported, so that a command
starts as fast as what it does allows.
"""

import os
from collections.abc import Sequence
from importlib import import_module

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


def build(names: Sequence[str]) -> typer.Typer:
    """The application with the named commands, and with the groups they belong to."""
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
    for name in names:
        group, _, own = name.rpartition(" ")
        if group and group not in groups:
            groups[group] = typer.Typer(no_args_is_help=True, context_settings=_SETTINGS)
            help, example = GROUPS[group]
            app.add_typer(groups[group], name=group, help=help, epilog=f"Example: {example}")
        module = import_module(f"lacec.cli.commands.{name.replace(' ', '.').replace('-', '_')}")
        command = getattr(module, f"{own.replace('-', '_')}_command")
        help, _, example = command.__doc__.rpartition("Example: ")
        place = groups[group] if group else app
        place.command(own, help=help.strip(), epilog=f"Example: {example.strip()}")(command)
    return app


def run(arguments: Sequence[str]) -> None:
    # To complete a line, the shell gives it in the environment, and no arguments.
    completing = "_LACEC_COMPLETE" in os.environ
    words = os.environ.get("COMP_WORDS", "").split()[1:] if completing else arguments
    build(_chosen(words))(args=list(arguments), prog_name="lacec")


def _chosen(arguments: Sequence[str]) -> Sequence[str]:
    """The command that is called; or those of its group; or, if it is unclear, all."""
    for words in (2, 1):
        called = [name for name in COMMANDS if name.split(" ")[:words] == list(arguments[:words])]
        if called:
            return called
    return COMMANDS
