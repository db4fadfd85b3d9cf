"""Looking at a whole store: is it sound, and what is in it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from lacec.core.errors import RecordError, StoreError
from lacec.records.limits import NO_RECORD_LIMITS
from lacec.records.record import Record, parse_record
from lacec.store.files import Mapped, segment_digest
from lacec.store.segment import PREDICATES, DamagedError
from lacec.store.signatures import Signatures, batches
from lacec.store.sqlite import FILE
from lacec.vm.layers import Layer

if TYPE_CHECKING:
    from lacec.store.store import Store


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a record, by its StoreRecordId, or with a file."""

    where: str
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Stats:
    """How much there is of what. Removed records are those whose bytes are still there."""

    records: int
    removed: int
    record_bytes: int
    last_id: int
    facts: dict[str, int]
    strings: int
    segments: list[int]
    tail: int
    disk_bytes: int


def verify(store: "Store", workers: int = 0) -> list[Problem]:
    """Validate every record as if it came from outside, and every segment against the records."""
    problems: list[Problem] = []
    with store.reading(), Signatures(workers) as signatures:
        problems += _check_database(store)
        for batch in signatures.checked(batches(_stored(store, problems))):
            for (id, _), wrong in batch:
                if wrong is not None:
                    problems.append(Problem(f"record {id}", wrong.name, wrong.message))
        if not problems:
            problems += _check_segments(store)
    return problems


def _check_database(store: "Store") -> Iterator[Problem]:
    """What SQLite finds wrong with its tables and indexes."""
    for (said,) in store.connection.execute("PRAGMA integrity_check"):
        if said != "ok":
            message = f"{said}: restore a backup, or export the records into a new store"
            yield Problem(FILE, "damaged-database", message)


def _stored(store: "Store", problems: list[Problem]) -> Iterator[tuple[int, Record]]:
    """Every record that can be read; removed ones too, since segments need them."""
    for id, hash, data in store.connection.execute(
        "SELECT id, hash, data FROM records ORDER BY id"
    ):
        record, wrong = read_stored(hash, data)
        if wrong is not None:
            problems.append(Problem(f"record {id}", *wrong))
        if record is not None:
            yield id, record


def read_stored(hash: str, data: bytes) -> tuple[Record | None, tuple[str, str] | None]:
    """The record that stored bytes are, and what is wrong with it but for its signature.

    What is wrong is a name and a message.
    """
    try:
        record = parse_record(data, NO_RECORD_LIMITS, verify=False)
    except RecordError as error:
        return None, (error.name, error.message)
    if record.hash != hash:
        return record, ("wrong-hash", f"it is listed as {hash} and is {record.hash}")
    return record, None


def _check_segments(store: "Store") -> Iterator[Problem]:
    """Each file against its digests, and against what its records give."""
    below: list[Layer] = []
    listing = store.segments.read()
    next_id = 1
    for file in listing.files:
        try:
            Mapped(store.segments.folder / file.name, file.size, file.digest).check_all()
        except FileNotFoundError:
            yield _damaged(file.name, "the file is missing")
        except OSError as error:
            yield _damaged(
                file.name, f"it cannot be read: {(error.strerror or str(error)).lower()}"
            )
        except DamagedError as error:
            yield _damaged(file.name, str(error))
        if file.first != next_id:
            yield Problem(file.name, "wrong-range", f"record {next_id} is in no segment")
        next_id = file.last + 1
        try:
            segment = store.segments.build(file.first, file.last, below)
        except StoreError as error:
            yield Problem(file.name, "damaged-segment", str(error))
            return
        if segment_digest(segment) != file.digest:
            message = "its records give another segment: run `lacec store compact`"
            yield Problem(file.name, "wrong-segment", message)
        below.append(segment.layer)


def _damaged(name: str, what: str) -> Problem:
    return Problem(name, "damaged-segment", f"{what}: run `lacec store compact` to write it anew")


def stats(store: "Store") -> Stats:
    with store.reading():
        snapshot = store.snapshot()
        execute = store.connection.execute
        records, size = execute(
            "SELECT count(*), coalesce(sum(length(data)), 0) FROM records WHERE removed = 0"
        ).fetchone()
        (removed,) = execute("SELECT count(*) FROM records WHERE removed = 1").fetchone()
        listing = store.segments.read()
    return Stats(
        records,
        removed,
        size,
        listing.last,
        {str(predicate): snapshot.count(predicate) for predicate in PREDICATES},
        sum(segment.layer.count for segment in snapshot.segments),
        [file.size for file in listing.files],
        listing.last - (listing.files[-1].last if listing.files else 0),
        sum(_size(path) for path in store.folder.rglob("*")),
    )


def _size(path: Path) -> int:
    """The bytes of a file; none if it goes just now, as it may while another process writes."""
    with suppress(FileNotFoundError):
        status = path.stat()
        return status.st_size if S_ISREG(status.st_mode) else 0
    return 0
