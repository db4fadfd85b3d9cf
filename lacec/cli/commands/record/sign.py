"""lacec record sign: seal a Plex."""

from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.commands.record.common import check_output, hand_over, refuse_record
from lacec.cli.files import read_file
from lacec.cli.keys import load_secret
from lacec.cli.options import (
    JsonOption,
    RecordLimitOption,
    RecordOutputOption,
    read_record_limits,
)
from lacec.core.errors import RecordError
from lacec.records.record import build_seal, parse_record


def sign_command(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A file of a Plex or Seal, or - for standard input."),
    ],
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="Sign with the secret in this file.")
    ],
    limit: RecordLimitOption = None,
    output: RecordOutputOption = None,
    json: JsonOption = False,
) -> None:
    """Seal a Plex with a key. Of a Seal the Plex is sealed anew, without its first seal.

    Example: lacec record sign draft --key alice.key -o sealed
    """
    limits = read_record_limits(limit)
    check_output(output, json)
    secret = load_secret(key)
    source, data = read_file(file, limits.head_bytes + limits.blob_bytes + 1)
    try:
        sealed = build_seal(parse_record(data, limits), secret)
    except RecordError as error:
        refuse_record(source, error, json)
    hand_over(sealed, output, json)
