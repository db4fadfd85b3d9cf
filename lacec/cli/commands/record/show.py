"""lacec record show: what is in records."""

import sys
from collections.abc import Iterator
from typing import Any

import typer

from lacec.cli.commands.record.common import Refusal, records_in, refusal_json, refusal_text
from lacec.cli.files import shown
from lacec.cli.options import (
    JsonOption,
    RecordFileArgument,
    RecordLimitOption,
    read_record_limits,
)
from lacec.cli.render.output import Segment, write, write_json
from lacec.core.diagnostics import visible
from lacec.core.errors import RecordError
from lacec.records.facts import FIELD, RECORD_LINK, record_facts
from lacec.records.record import Record, check_signature
from lacec.records.tai import to_utc

_FORMS = {"B": "Blob", "P": "Plex", "S": "Seal"}


def show_command(
    file: RecordFileArgument, limit: RecordLimitOption = None, json: JsonOption = False
) -> None:
    """Print the fields, the links and the sizes of records, and whether they are valid.

    A record whose signature is wrong is shown and refused; one whose bytes do not fit its
    hash, or that cannot be read, is refused. The exit code is 1 if any is.

    Example: lacec record show one
    """
    limits, source = read_record_limits(limit), shown(file)
    refusals: list[Refusal] = []
    documents: list[dict[str, Any]] = []
    for offset, item in records_in(file, limits, verify=False):
        if isinstance(item, RecordError):
            refusals.append((source, item))
            continue
        forged = _forged(item, offset)
        if forged is not None:
            refusals.append((source, forged))
        if json:
            documents.append(_document(item, offset, forged is None))
        else:
            write(_table(item, offset, forged is None))
    if json:
        refused = [refusal_json(source, error) for source, error in refusals]
        write_json({"records": documents, "refused": refused})
    else:
        write(refusal_text(refusals), sys.stderr)
    if refusals:
        raise typer.Exit(1)


def _forged(record: Record, offset: int) -> RecordError | None:
    try:
        check_signature(record)
    except RecordError as error:
        return error.moved(offset)
    return None


def _document(record: Record, offset: int, valid: bool) -> dict[str, Any]:
    """The record as JSON; a field that its form does not have is null."""
    own = len(record.extras)
    fields = [values for predicate, values in record_facts(record) if predicate == FIELD]
    return {
        "hash": record.hash,
        "type": record.type,
        "valid": valid,
        "offset": offset,
        "size": len(record.data),
        "data_length": record.data_length,
        "group": record.group,
        "app": record.app,
        "name": record.name,
        "tai": record.tai,
        "utc": _utc(record),
        "signed_by": record.signed_by,
        "signature": record.signature,
        "extras": [
            {"name": name, "index": int(index), "value": value}
            for _, name, index, value in (fields[-own:] if own else ())
        ],
        "links": [
            {"name": name, "index": int(index), "data": data, "target": target}
            for _, name, index, data, target in _links(record)
        ],
        "plex_hash": record.plex_hash,
        "blob_hash": record.blob_hash,
    }


def _links(record: Record) -> list[tuple[str, ...]]:
    return [values for predicate, values in record_facts(record) if predicate == RECORD_LINK]


def _utc(record: Record) -> str | None:
    """The time as people write it; a TAI may be out of the range of UTC."""
    try:
        return None if record.tai is None else to_utc(record.tai)
    except (ValueError, OverflowError):
        return None


def _table(record: Record, offset: int, valid: bool) -> Iterator[Segment]:
    yield record.hash, "bold"
    yield f"  {_FORMS[record.type]}, ", ""
    yield ("valid\n", "green") if valid else ("not valid\n", "bold red")
    utc = _utc(record)
    rows = [
        ("Group", record.group),
        ("App", record.app),
        ("Name", record.name),
        ("TAI", f"{record.tai}  {utc}" if utc else record.tai),
        ("Signed-By", record.signed_by),
        ("Signature", record.signature),
        *record.extras,
        *(("link", f"{values[3]} -> {values[4]}") for values in _links(record)),
        ("embedded Plex", record.plex_hash if record.type == "S" else None),
        ("embedded Blob", record.blob_hash if record.type != "B" else None),
        ("data", f"{record.data_length} bytes"),
        ("size", f"{len(record.data)} bytes, from byte {offset}"),
    ]
    shown = [(visible(name), visible(value)) for name, value in rows if value is not None]
    width = max(len(name) for name, _ in shown)
    for name, value in shown:
        yield f"  {name:{width}}  ", "dim"
        yield f"{value}\n", ""
