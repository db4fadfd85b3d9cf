"""lacec key new: make a signing secret."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json
from lacec.records.keyfile import write_secret
from lacec.records.signature import generate


def new_command(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Keep the secret in a new file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make a signing secret, and print its verifier.

    With -o the secret goes to a new file that only its owner can read. Without it the
    secret is printed: whoever sees it can sign.

    Example: lacec key new -o alice.key
    """
    secret = generate()
    if output is not None:
        try:
            write_secret(output, secret)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise typer.BadParameter(f"cannot write {output}: {reason}") from None
    shown = {} if output is not None else {"secret": secret.reveal()}
    if json:
        write_json({"verifier": secret.verifier, **shown})
    elif output is not None:
        write([(f"{secret.verifier}\n", "")])
    else:
        write([(f"{secret.reveal()}\n", "")])
        write([(f"the verifier is {secret.verifier}\n", "")], sys.stderr)
