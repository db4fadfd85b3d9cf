"""The command line: one command a file, no logic of its own.

Only the module of the command that is called is imported, so that a command
starts as fast as what it does allows.
"""

from collections.abc import Sequence
from importlib import import_module

import typer

# In the order of `lacec --help`; each is the function of that name in the module of that name.
COMMANDS = ("compile", "check", "fmt", "eval", "query", "explain", "audit")


def build(names: Sequence[str]) -> typer.Typer:
    """The application with the named commands."""
    app = typer.Typer(
        name="lacec",
        help="Compile lacegrams: check them, format them, get their identity.",
        epilog="Example: lacec compile policy.lace",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
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

    for name in names:
        command = getattr(import_module(f"lacec.cli.{name}"), f"{name}_command")
        example = command.__doc__.rpartition("Example: ")[2].strip()
        help = command.__doc__.rpartition("Example: ")[0].strip()
        app.command(name, help=help, epilog=f"Example: {example}")(command)
    return app


def run(arguments: Sequence[str]) -> None:
    chosen = [name for name in COMMANDS if name == arguments[0]] if arguments else []
    build(chosen or COMMANDS)(args=list(arguments), prog_name="lacec")
