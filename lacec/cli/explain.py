"""lacec explain: the page of a diagnostic."""

import sys
from typing import Annotated

import typer

from lacec.check.spelling import nearest
from lacec.cli.options import JsonOption
from lacec.cli.output import write_json
from lacec.diagnostics import CATALOGUE
from lacec.resources import rule_page_path


def explain_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A diagnostic's name.")],
    json: JsonOption = False,
) -> None:
    """Print the page of a diagnostic: what it means, a bad example, a good one, the reason.

    Example: lacec explain unbound-variable
    """
    if name not in CATALOGUE:
        close = nearest(name, CATALOGUE)
        hint = f"did you mean {close}?" if close else f"the names are {', '.join(CATALOGUE)}"
        raise typer.BadParameter(f"there is no diagnostic {name!r}; {hint}")
    page = rule_page_path(name).read_text(encoding="utf-8")
    if json:
        write_json({"name": name, "severity": CATALOGUE[name], "page": page})
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        sys.stdout.buffer.write(page.encode("utf-8"))
