"""lacec store import: records from files into a store."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lacec.cli.commands.store.common import StoreArgument, opened, refuse_store, show_refused
from lacec.cli.files import STDIN, read_file
from lacec.cli.options import JsonOption, RecordLimitOption, read_record_limits
from lacec.cli.render.output import write, write_json
from lacec.core.errors import StoreError
from lacec.store.importing import (
    Batch,
    Stream,
    files_below,
    import_streams,
    open_files,
)


def import_command(
    store: StoreArgument,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Files of records, folders of them, or - for standard input."
        ),
    ],
    limit: RecordLimitOption = None,
    json: JsonOption = False,
) -> None:
    """Admit the valid records of files, and say what is wrong with the others.

    A file holds one record, or several, each followed by one LF. Records come into sight
    in batches of some thousand, each whole. An import that was interrupted can be run
    again. The exit code is 1 if a record is refused, or a file cannot be read.

    Example: lacec store import mine records/ more.records
    """
    if paths.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once")
    if "-" in paths:
        read_file("-", 0)  # refused if it is closed
    if "" in paths:
        raise typer.BadParameter("a PATH is empty: write . for the current folder")
    limits = read_record_limits(limit)
    total = Batch()
    counts = [0, 0]
    failure: StoreError | None = None
    with opened(store, json) as target, _progress(_size(paths)) as show:

        def on_batch(batch: Batch) -> None:
            counts[0] += len(batch.admitted)
            counts[1] += len(batch.known)
            total.refused.extend(batch.refused)
            if json:
                total.admitted.extend(batch.admitted)
                total.known.extend(batch.known)
            show(batch.bytes, f"{counts[0]:,} admitted, {counts[1]:,} known")

        workers = (os.cpu_count() or 1) - 1
        try:
            import_streams(target, _streams(paths), on_batch, limits=limits, workers=workers)
        except StoreError as error:  # what was admitted before stays so, and is reported
            failure = error
    if json:
        refused = [each._asdict() for each in total.refused]
        document = {"admitted": total.admitted, "known": total.known, "refused": refused}
        write_json(document if failure is None else {**document, "error": str(failure)})
    else:
        write(show_refused(total.refused), sys.stderr)
        said = f"{counts[0]} admitted, {counts[1]} known, {len(total.refused)} refused\n"
        write([(said, "")])
        if failure is not None:
            refuse_store(failure, json)
    if total.refused or failure is not None:
        raise typer.Exit(1)


def _streams(paths: list[str]) -> Iterator[Stream]:
    for path in paths:
        if path == "-":
            yield STDIN, sys.stdin.buffer
        else:
            yield from open_files([Path(path)])


def _size(paths: list[str]) -> int | None:
    """How many bytes there are to read, if that can be known and is of interest."""
    if "-" in paths or not sys.stderr.isatty():
        return None
    size = 0
    for path in paths:
        for file in files_below(Path(path), lambda _: None):
            with suppress(OSError):  # the import says what cannot be read
                size += file.stat().st_size
    return size


@contextmanager
def _progress(size: int | None) -> Iterator[Callable[[int, str], None]]:
    """Say how far it is, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _size, _text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns: tuple[Any, ...] = (BarColumn(), DownloadColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=size)
        yield lambda more, text: progress.update(task, advance=more, description=text)
