"""lacec record verify: whether records are valid."""

import sys
from typing import Any

import typer

from lacec.cli.commands.record.common import Refusal, records_in, refusal_json, refusal_text
from lacec.cli.files import shown
from lacec.cli.options import (
    JsonOption,
    RecordLimitOption,
    RecordsArgument,
    read_record_limits,
)
from lacec.cli.render.output import write, write_json
from lacec.core.errors import RecordError


def verify_command(
    files: RecordsArgument, limit: RecordLimitOption = None, json: JsonOption = False
) -> None:
    """Check the form, the digests and the signature of records.

    A file holds one record, or several, each followed by one LF. The exit code is 1 if
    any record is not valid.

    Example: lacec record verify one two
    """
    limits = read_record_limits(limit)
    valid: list[dict[str, Any]] = []
    refusals: list[Refusal] = []
    for file in files:
        source = shown(file)
        for offset, item in records_in(file, limits):
            if isinstance(item, RecordError):
                refusals.append((source, item))
            else:
                valid.append({"source": source, "offset": offset, "hash": item.hash})
    if json:
        refused = [refusal_json(source, error) for source, error in refusals]
        write_json({"valid": valid, "refused": refused})
    else:
        write([(f"{each['hash']}\n", "") for each in valid])
        write(refusal_text(refusals), sys.stderr)
        write([(f"{len(valid)} valid, {len(refusals)} refused\n", "")], sys.stderr)
    if refusals:
        raise typer.Exit(1)
