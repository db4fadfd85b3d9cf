"""Options that several commands share, and what they turn into."""

from pathlib import Path
from typing import Annotated

import typer

from lacec.facets import Facet
from lacec.limits import DEFAULT_LIMITS, LIMIT_NAMES, Limits
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RECORD_LIMIT_NAMES, RecordLimits

FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A source file, or - for standard input.")
]
FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="Source files, folders of *.lace files, or - for standard input."
    ),
]
FacetOption = Annotated[
    Facet, typer.Option("--facet", help="What the module is for; it decides the reserved names.")
]
WithOption = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="FILE", help="Link a further source, or std:NAME. Repeatable."),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help=f"Change a limit: {', '.join(LIMIT_NAMES)}. Repeatable.",
    ),
]
RecordLimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help=f"Change a limit: {', '.join(RECORD_LIMIT_NAMES)}. Repeatable.",
    ),
]
FactsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="FILE",
        help="Facts: a file of fact lines, NAME.csv or NAME.parquet, or - . Repeatable.",
    ),
]
StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="STORE", help="Facts of the records in a store."),
]
RecordsArgument = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Files of records, or - for standard input."),
]
RecordOutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the record to a file."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="Write the results to files."),
]


def read_limits(given: list[str] | None) -> Limits:
    return Limits(**_changed(given, LIMIT_NAMES)) if given else DEFAULT_LIMITS


def read_record_limits(given: list[str] | None) -> RecordLimits:
    return RecordLimits(**_changed(given, RECORD_LIMIT_NAMES)) if given else DEFAULT_RECORD_LIMITS


def _changed(given: list[str] | None, names: tuple[str, ...]) -> dict[str, int]:
    """The limits that NAME=VALUE texts change."""
    values = {}
    for item in given or ():
        name, _, text = item.partition("=")
        if name not in names or not text.isdecimal() or len(text) > 18:
            raise typer.BadParameter(
                f"{item!r} is not a limit; write NAME=VALUE with one of {', '.join(names)}",
                param_hint="--limit",
            )
        values[name] = int(text)
    return values
