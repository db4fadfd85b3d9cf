"""lacec store list: which records a store has."""

import sys
from typing import Annotated

import typer

from lacec.cli.commands.store.common import StoreArgument, opened
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json
from lacec.core.diagnostics import visible
from lacec.records.coordinates import CoordinateError, read_coordinate
from lacec.store.listing import Listed, list_records


def list_command(
    store: StoreArgument,
    coordinate: Annotated[
        str | None,
        typer.Argument(
            metavar="COORDINATE", help="As //group//app//name, or cut short; or ////HASH."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List records: all, those of a coordinate, or those below a prefix of one.

    A coordinate without a name, or without app and name, is a prefix; so is a name that
    ends in a slash.

    Example: lacec store list mine //u//ding//links/
    """
    try:
        where = None if coordinate is None else read_coordinate(coordinate)
    except CoordinateError as error:
        raise typer.BadParameter(str(error)) from None
    with opened(store, json, read_only=True) as source:
        found = list_records(source.snapshot(), where)
    if json:
        write_json({"records": [_document(each) for each in found]})
        return
    for each in found:
        place = f"//{each.group}//{each.app}//{each.name}" if each.group else ""
        write([(each.hash, "bold"), (f"  {each.tai:20}  {visible(place)}".rstrip() + "\n", "")])
    write([(f"{len(found)} record{'' if len(found) == 1 else 's'}\n", "dim")], sys.stderr)


def _document(each: Listed) -> dict[str, str | None]:
    return {name: value or None for name, value in each._asdict().items()}
