"""Import: records from files, folders and streams into a store.

Good records are admitted and bad ones reported, some thousand a transaction. A record
that is there already is known, so that an import that was interrupted is run again.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from lacec.core.errors import RecordError
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RecordLimits
from lacec.records.record import Record, read_records, read_some_records
from lacec.store.signatures import Signatures, batches

if TYPE_CHECKING:
    from lacec.store.store import Store

_PIECE = 1 << 20

Stream = tuple[str, BinaryIO | OSError]
"""The name of a file and its bytes, or why it has none."""


class Refused(NamedTuple):
    """Where a record was to begin or went wrong, and why it is not admitted."""

    source: str
    offset: int
    name: str
    message: str


class Place(NamedTuple):
    source: str
    offset: int

    def refused(self, error: RecordError) -> Refused:
        """What is said of the record that begins there."""
        return Refused(self.source, self.offset + error.offset, error.name, error.message)


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of some records; the admitted ones are durable."""

    admitted: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    bytes: int = 0


def import_streams(
    store: "Store",
    streams: Iterable[Stream],
    on_batch: Callable[[Batch], None],
    *,
    limits: RecordLimits = DEFAULT_RECORD_LIMITS,
    workers: int = 0,
) -> None:
    """Import open streams, each with its name; `on_batch` hears of a batch once it is durable.

    A stream ends at an error that is fatal; one that cannot be read is refused. After a
    StoreError what `on_batch` heard of is in the store all the same.
    """
    refused: list[Refused] = []
    with Signatures(workers) as signatures:
        for checked in signatures.checked(batches(_read(streams, limits, refused))):
            good: list[Record] = []
            for (place, record), error in checked:
                if error is None:
                    good.append(record)
                else:
                    refused.append(place.refused(error))
            added = store.add(good)
            size = sum(len(record.data) for _, record in (each for each, _ in checked))
            reported = refused[:]
            refused.clear()
            on_batch(Batch(added.admitted, added.known, reported, size))
    if refused:
        on_batch(Batch(refused=refused))
    store.settle()


def files_below(path: Path, on_error: Callable[[OSError], object]) -> list[Path]:
    """All files in a folder and the folders in it; or the one file that a path names.

    Of a folder that cannot be listed `on_error` hears. What cannot be looked at counts as a file.
    """
    if not os.path.isdir(path):
        return [path]
    below = os.walk(path, onerror=on_error)
    found = (Path(folder, name) for folder, _, names in below for name in names)
    return sorted(file for file in found if os.path.isfile(file) or not os.path.exists(file))


def open_files(paths: Iterable[Path]) -> Iterator[Stream]:
    """The streams of files, and of the files in folders."""
    for path in paths:
        unlisted: list[OSError] = []
        for file in files_below(path, unlisted.append):
            with ExitStack() as stack:
                found: BinaryIO | OSError
                try:
                    found = stack.enter_context(open(file, "rb"))
                except OSError as error:
                    found = error
                yield str(file), found
        for each in unlisted:
            yield str(each.filename), each


def _read(
    streams: Iterable[Stream], limits: RecordLimits, refused: list[Refused]
) -> Iterator[tuple[Place, Record]]:
    """The records of all streams, whose signatures are not checked yet."""
    for name, stream in streams:
        for found in read_stream(name, stream, limits):
            if isinstance(found, Refused):
                refused.append(found)
            else:
                yield found


def read_stream(
    name: str,
    stream: BinaryIO | OSError,
    limits: RecordLimits,
    start: int = 0,
    stop: int | None = None,
) -> Iterator[tuple[Place, Record] | Refused]:
    """The records of a stream, whose signatures are not checked yet, and what is none.

    A part of it begins at `start`, where a record does, and ends with the LF before `stop`.
    """
    at = max(start - 1, 0)
    try:
        for offset, found in _records(stream, limits, start, stop):
            if isinstance(found, RecordError):
                yield Refused(name, start + offset, found.name, found.message)
            else:
                yield Place(name, start + offset), found
                at = start + offset + len(found.data)
    except OSError as error:
        message = f"it cannot be read: {(error.strerror or str(error)).lower()}"
        yield Refused(name, at, "unreadable", message)


def _records(
    stream: BinaryIO | OSError, limits: RecordLimits, start: int, stop: int | None
) -> Iterator[tuple[int, Record | RecordError]]:
    if isinstance(stream, OSError):
        raise stream
    if start:
        stream.seek(start)
    if not start and stop is None:
        return read_some_records(_pieces(stream, stop), limits, verify=False)
    return read_records(_pieces(stream, stop), limits, verify=False)


def _pieces(stream: BinaryIO, stop: int | None) -> Iterator[bytes]:
    left = _PIECE if stop is None else stop - stream.tell()
    while left and (piece := stream.read(min(left, _PIECE))):
        yield piece
        left -= 0 if stop is None else len(piece)
