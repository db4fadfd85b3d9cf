"""Import: records from files, folders and streams into a store.

Good records are admitted and bad ones reported, some thousand a transaction. A record
that is there already is known, so that an import that was interrupted is run again.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lacec.errors import RecordError
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RecordLimits
from lacec.records.record import Record, read_records
from lacec.runtime.store.signatures import Signatures, batches
from lacec.runtime.store.store import Store

_PIECE = 1 << 20


class Place(NamedTuple):
    source: str
    offset: int


class Refused(NamedTuple):
    """Where a record was to begin or went wrong, and why it is not admitted."""

    source: str
    offset: int
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of some records; the admitted ones are durable."""

    admitted: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    bytes: int = 0


def import_streams(
    store: Store,
    streams: Iterable[tuple[str, BinaryIO]],
    on_batch: Callable[[Batch], None],
    *,
    limits: RecordLimits = DEFAULT_RECORD_LIMITS,
    workers: int = 0,
) -> None:
    """Import open streams, each with its name; `on_batch` hears of a batch once it is durable.

    A stream ends at an error that is fatal.
    """
    refused: list[Refused] = []
    with Signatures(workers) as signatures:
        for checked in signatures.checked(batches(_read(streams, limits, refused))):
            good: list[Record] = []
            for (place, record), error in checked:
                if error is None:
                    good.append(record)
                else:
                    offset = place.offset + error.offset
                    refused.append(Refused(place.source, offset, error.name, error.message))
            added = store.add(good)
            size = sum(len(record.data) for _, record in (each for each, _ in checked))
            reported = refused[:]
            refused.clear()
            on_batch(Batch(added.admitted, added.known, reported, size))
    store.settle()
    if refused:
        on_batch(Batch(refused=refused))


def files_below(path: Path) -> list[Path]:
    """All files in a folder and the folders in it; or the one file that a path names."""
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def open_files(paths: Iterable[Path]) -> Iterator[tuple[str, BinaryIO]]:
    """The streams of files, and of the files in folders; OSError at one that cannot be read."""
    for path in paths:
        for file in files_below(path):
            with open(file, "rb") as stream:
                yield str(file), stream


def _read(
    streams: Iterable[tuple[str, BinaryIO]], limits: RecordLimits, refused: list[Refused]
) -> Iterator[tuple[Place, Record]]:
    """The records of all streams, whose signatures are not checked yet."""
    for name, stream in streams:
        pieces = iter(lambda stream=stream: stream.read(_PIECE), b"")  # type: ignore[misc]
        for offset, found in read_records(pieces, limits, verify=False):
            if isinstance(found, RecordError):
                refused.append(Refused(name, offset, found.name, found.message))
            else:
                yield Place(name, offset), found
