"""lacec store backup: a copy of a store."""

from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.commands.store.common import StoreArgument, opened


def backup_command(
    store: StoreArgument,
    to: Annotated[Path, typer.Argument(metavar="COPY", help="A folder that is not there yet.")],
) -> None:
    """Copy a store as it is at one moment; it may be in use.

    Example: lacec store backup mine mine-monday
    """
    with opened(store, read_only=True) as source:
        source.backup(to)
