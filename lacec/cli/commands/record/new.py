"""lacec record new: make a record from bytes and fields."""

from typing import Annotated

import typer

from lacec.cli.commands.record.common import check_output, hand_over, refuse_record
from lacec.cli.files import read_file
from lacec.cli.keys import KeyOption, load_secret
from lacec.cli.options import (
    JsonOption,
    RecordLimitOption,
    RecordOutputOption,
    read_record_limits,
)
from lacec.core.errors import RecordError
from lacec.records import tai as clock
from lacec.records.record import build_blob, build_plex, build_seal


def new_command(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="The data; standard input unless given.")
    ] = "-",
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="PATH", help="The group that the record belongs to."),
    ] = None,
    app: Annotated[
        str | None, typer.Option("--app", metavar="PATH", help="The app within the group.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="PATH", help="The name within the app.")
    ] = None,
    tai: Annotated[
        str | None,
        typer.Option(
            "--tai", metavar="TIME", help="TAI text or UTC like 2026-01-31T12:00:00Z; now if none."
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="'NAME: VALUE'", help="An extra header. Repeatable."),
    ] = None,
    key: KeyOption = None,
    limit: RecordLimitOption = None,
    output: RecordOutputOption = None,
    json: JsonOption = False,
) -> None:
    """Make a record: a Blob; with coordinates a Plex; with a key too, a Seal.

    With -o the record goes to a file and its hash is printed; without, it goes to
    standard output.

    Example: lacec record new photo.png --group u --app ding --name links/one --key alice.key -o one
    """
    limits = read_record_limits(limit)
    check_output(output, json)
    given = [text is not None for text in (group, app, name)]
    if any(given) and not all(given):
        raise typer.BadParameter("a Plex has all of --group, --app and --name")
    if not any(given) and (tai is not None or header or key is not None):
        raise typer.BadParameter(
            "--tai, --header and --key need the coordinates --group, --app and --name"
        )
    secret = None if key is None else load_secret(key)
    time, extras = _read_time(tai), [_read_header(text) for text in header or ()]
    source, data = read_file(file, limits.blob_bytes + 1)
    try:
        record = build_blob(data, limits)
        if group is not None and app is not None and name is not None:
            record = build_plex(group, app, name, time, extras, record, limits)
        if secret is not None:
            record = build_seal(record, secret)
    except RecordError as error:
        refuse_record(source, error, json)
    hand_over(record, output, json)


def _read_time(text: str | None) -> str:
    if text is None:
        return clock.now()
    try:
        return clock.read_time(text)
    except ValueError as error:
        message = f"{error}; or UTC, as in 2026-03-01T09:00:00Z"
        raise typer.BadParameter(message, param_hint="--tai") from None


def _read_header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(": ")
    if not separator:
        raise typer.BadParameter(f"{text!r} is not 'Name: value'", param_hint="--header")
    return name, value
