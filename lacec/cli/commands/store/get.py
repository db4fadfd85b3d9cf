"""lacec store get: the bytes of a record."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.commands.store.common import StoreArgument, is_sound, opened, read_hash
from lacec.cli.options import RecordOutputOption
from lacec.cli.render.output import write, write_bytes


def get_command(
    store: StoreArgument,
    hash: Annotated[
        str, typer.Argument(metavar="HASH", help="A hash, or a hash address ////HASH.")
    ],
    output: RecordOutputOption = None,
) -> None:
    """Write the bytes of a record, as they are.

    The exit code is 1 if it is not there, or its stored bytes are damaged.

    Example: lacec store get mine S.rQ1VgQKd1GcQ2wbs~AIm0yEnhEQXvTYQU9xmRPY5L~G.H3 -o one
    """
    wanted = read_hash(hash)
    if output is None and sys.stdout.isatty():
        raise typer.BadParameter("a record is bytes: write it to a file with -o, or to a pipe")
    with opened(store, read_only=True) as source:
        data = source.get(wanted)
    if data is None:
        write([("error", "bold red"), (f": the store has no record {wanted}\n", "")], sys.stderr)
        raise typer.Exit(1)
    if not is_sound(wanted, data):
        raise typer.Exit(1)
    if output is None:
        write_bytes(data)
    else:
        _write(output, data)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot write {path}: {reason}") from None
