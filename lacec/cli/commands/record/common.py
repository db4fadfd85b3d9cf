"""What the commands on records share: how they end, and where a record goes."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import typer

from lacec.cli.files import read_pieces
from lacec.cli.render.output import Segment, write, write_bytes, write_json
from lacec.core.diagnostics import visible
from lacec.core.errors import RecordError
from lacec.records.limits import RecordLimits
from lacec.records.record import Record, read_some_records

Refusal = tuple[str, RecordError]
"""The name of a file, and what is wrong in it."""


def refusal_json(source: str, error: RecordError) -> dict[str, Any]:
    return {
        "source": source,
        "offset": error.offset,
        "name": error.name,
        "message": error.message,
        "help": error.help,
    }


def refusal_text(refusals: Iterable[Refusal]) -> Iterator[Segment]:
    for source, error in refusals:
        yield "error", "bold red"
        yield f"[{error.name}]: {error.message}\n", "bold"
        yield f" --> {visible(source)}, byte {error.offset}\n  = help: {error.help}\n", ""


def refuse_record(source: str, error: RecordError, json: bool) -> NoReturn:
    """The record is wrong: exit code 1."""
    if json:
        write_json({"refused": [refusal_json(source, error)]})
    else:
        write(refusal_text([(source, error)]), sys.stderr)
    raise typer.Exit(1)


def records_in(
    name: str, limits: RecordLimits, *, verify: bool = True
) -> Iterator[tuple[int, Record | RecordError]]:
    """Each record of a file and its place, or what is wrong there; there must be one."""
    return read_some_records(read_pieces(name), limits, verify=verify)


def check_output(output: Path | None, json: bool) -> None:
    """Refuse to write a record where it cannot be kept."""
    if output is None and json:
        raise typer.BadParameter("--json prints a document: name a file for the record with -o")
    if output is None and sys.stdout.isatty():
        raise typer.BadParameter("a record is bytes: write it to a file with -o, or to a pipe")


def hand_over(record: Record, output: Path | None, json: bool) -> None:
    """Write a record to a file and print its hash, or write it to standard output."""
    if output is None:
        write_bytes(record.data)
        return
    try:
        output.write_bytes(record.data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot write {output}: {reason}") from None
    if json:
        write_json({"hash": record.hash, "type": record.type, "size": len(record.data)})
    else:
        write([(f"{record.hash}\n", "")])
