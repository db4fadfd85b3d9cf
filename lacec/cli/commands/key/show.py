"""lacec key show: the verifier of a signing secret."""

from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.keys import load_secret
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json


def show_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of a secret.")],
    reveal: Annotated[
        bool, typer.Option("--secret", help="Print the secret too: whoever sees it can sign.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Print the verifier of a signing secret: what others know the key by.

    Example: lacec key show alice.key
    """
    secret = load_secret(file, "lacec key show")
    shown = {"secret": secret.reveal()} if reveal else {}
    if json:
        write_json({"verifier": secret.verifier, **shown})
    else:
        write([(f"{text}\n", "") for text in (secret.verifier, *shown.values())])
