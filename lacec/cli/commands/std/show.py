"""lacec std show: what a module of the standard library gives, and its rules."""

from typing import Annotated

import typer

from lacec.check.spelling import nearest
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json
from lacec.core.resources import LIBRARY, stdlib_names
from lacec.project.library import library_module


def complete_name(incomplete: str) -> list[str]:
    return [name for name in stdlib_names() if name.startswith(incomplete)]


def show_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A module, as in std:latest.", autocompletion=complete_name
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Print a module of the standard library: what it is for, what you define, its rules.

    Example: lacec std show latest
    """
    own, names = name.removeprefix(LIBRARY), stdlib_names()
    if own not in names:
        close = nearest(own, names)
        hint = f"did you mean {close}?" if close else f"there are {', '.join(names)}"
        raise typer.BadParameter(f"there is no module {own!r}; {hint}")
    module = library_module(own)
    if json:
        write_json({**module.json(), "notes": module.notes, "text": module.text})
    else:
        write([(module.text, "")])
