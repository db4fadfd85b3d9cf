"""The signing secret that a command is given."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lacec.records.signature import Secret

KeyOption = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Sign with the secret in this file."),
]


def load_secret(file: Path, what: str = "--key") -> "Secret":
    """The secret in a file; a file without one is a mistake of the command line."""
    from lacec.records.keyfile import read_secret
    from lacec.records.signature import SecretError

    if str(file).startswith("&."):  # no message may show it
        raise typer.BadParameter(f"{what} takes the file of a secret, not the secret")
    try:
        return read_secret(file)
    except SecretError as error:
        raise typer.BadParameter(str(error)) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot read {file}: {reason}") from None
