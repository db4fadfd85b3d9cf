"""What the commands on stores share: opening one, and what they say when that fails."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from lacec.cli.render.output import Segment, write, write_json
from lacec.core.diagnostics import visible
from lacec.core.errors import StoreError
from lacec.records.coordinates import CoordinateError, HashAddress, read_coordinate
from lacec.records.links import is_record_hash
from lacec.store.check import read_stored
from lacec.store.importing import Refused
from lacec.store.store import Store

StoreArgument = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store.")]
HashesArgument = Annotated[
    list[str], typer.Argument(metavar="HASH...", help="Hashes, or hash addresses ////HASH.")
]


@contextmanager
def opened(path: Path, json: bool = False, *, read_only: bool = False) -> Iterator[Store]:
    """A store; what is wrong with it ends the command with exit code 1."""
    try:
        with Store.open(path, read_only=read_only, on_wait=say_waiting) as store:
            yield store
    except StoreError as error:
        refuse_store(error, json)


def refuse_store(error: StoreError, json: bool) -> NoReturn:
    if json:
        write_json({"error": str(error)})
    else:
        write([("error", "bold red"), (f": {error}\n", "")], sys.stderr)
    raise typer.Exit(1)


def is_sound(hash: str, data: bytes) -> bool:
    """Whether stored bytes are those of the record; if not, that is said."""
    _, wrong = read_stored(hash, data)
    if wrong is None:
        return True
    name, message = wrong
    said = f": the stored bytes of {hash} are damaged ({name}: {message}): "
    help = "restore a backup, or import the record again\n"
    write([("error", "bold red"), (said + help, "")], sys.stderr)
    return False


def say_waiting() -> None:
    write([("waiting for another process that writes to the store\n", "dim")], sys.stderr)


def read_hash(text: str) -> str:
    """A hash, written alone or as an address."""
    if text.startswith("////"):
        try:
            address = read_coordinate(text)
        except CoordinateError as error:
            raise typer.BadParameter(str(error)) from None
        if isinstance(address, HashAddress):
            return address.hash
    if not is_record_hash(text):
        raise typer.BadParameter(f"{text!r} is not the hash of a record: write S.<b64a>.H3")
    return text


def show_refused(refused: Iterable[Refused]) -> Iterator[Segment]:
    for each in refused:
        yield "error", "bold red"
        yield f"[{each.name}]: {each.message}\n", "bold"
        yield f" --> {visible(each.source)}, byte {each.offset}\n", ""
