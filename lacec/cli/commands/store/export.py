"""lacec store export: all records of a store as one stream."""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.commands.store.common import StoreArgument, is_sound, opened
from lacec.cli.render.output import write_bytes

_BYTES = 1 << 20


def export_command(
    store: StoreArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file.")
    ] = None,
) -> None:
    """Write every record, each followed by one LF, in the order in which they came.

    `lacec store import` reads it. A record whose stored bytes are damaged is left out and
    named, and the exit code is then 1.

    Example: lacec store export mine -o mine.records
    """
    if output is None and sys.stdout.isatty():
        raise typer.BadParameter("records are bytes: write them to a file with -o, or to a pipe")
    with opened(store, read_only=True) as source, contextlib.ExitStack() as stack:
        put: Callable[[bytes], object] = write_bytes
        if output is not None:
            try:
                put = stack.enter_context(output.open("wb")).write
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise typer.BadParameter(f"cannot write {output}: {reason}") from None
        waiting = bytearray()
        damaged = False
        for _, hash, data in source.records():
            if not is_sound(hash, data):
                damaged = True
                continue
            waiting += data + b"\n"
            if len(waiting) >= _BYTES:
                put(bytes(waiting))
                waiting.clear()
        put(bytes(waiting))
    if damaged:
        raise typer.Exit(1)
