"""lacec spark ingest: records into tables."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.commands.spark.common import (
    MasterOption,
    MemoryOption,
    RemoteOption,
    opener,
    progress,
    refusing,
)
from lacec.cli.commands.store.common import show_refused
from lacec.cli.options import JsonOption, RecordLimitOption, read_record_limits
from lacec.cli.render.output import write, write_json
from lacec.spark.session import MEMORY


def ingest_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SRC...", help="Stores, files of records, folders of them, Parquet tables."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the tables, new or not.")
    ],
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            metavar="NAME",
            help="Which column of a Parquet table has the records, if several hold bytes.",
        ),
    ] = None,
    limit: RecordLimitOption = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    memory: MemoryOption = MEMORY,
    json: JsonOption = False,
) -> None:
    """Check records on Spark, and write a row for each that is valid and new.

    Files are read as `lacec store import` reads them, and what it refuses is refused. A run
    adds one batch to DIR when all of it is complete, or nothing; it can be run again. The
    exit code is 1 if a record is refused.

    Example: lacec spark ingest mine records/ --out tables
    """
    if "" in sources:
        raise typer.BadParameter("a SRC is empty: write . for the current folder")
    limits = read_record_limits(limit)
    spark = opener(master, remote, memory)
    with refusing(json):
        from lacec.spark.ingest import ingest

        with progress() as tell:
            result = ingest(
                sources, out, spark=spark, column=column, limits=limits, on_progress=tell
            )
    if json:
        refusals = [each._asdict() for each in result.refusals]
        write_json({**asdict(result), "refusals": refusals})
    else:
        write(show_refused(result.refusals), sys.stderr)
        if result.refused > len(result.refusals):
            more = result.refused - len(result.refusals)
            write([(f"and {more} more: they are in the table `refused`\n", "")], sys.stderr)
        said = f"{result.admitted} admitted, {result.known} known, {result.refused} refused\n"
        write([(said, "")])
    if result.refused:
        raise typer.Exit(1)
