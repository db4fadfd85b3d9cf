"""Signatures of many records, on all cores: batches in, the same batches out in order.

Workers are processes, because verifying is a mix of C and Python; they see digests,
verifiers and signatures only. A bounded number of batches is under way.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Self, TypeVar

from lacec.errors import RecordError
from lacec.records import b64a
from lacec.records.record import Record, check_signature

Key = TypeVar("Key")
Signed = tuple[str, str, str]

# Fewer signatures are verified here in less time than a process takes to start.
_FEW = 256


class Signatures:
    """`workers` is how many processes may help; none: all is done here."""

    def __init__(self, workers: int = 0) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def checked(
        self, batches: Iterable[list[tuple[Key, Record]]]
    ) -> Iterator[list[tuple[tuple[Key, Record], RecordError | None]]]:
        """Each batch again, with what is wrong with the signature of each record."""
        waiting: deque[tuple[list[tuple[Key, Record]], Future[list[bool]] | None]] = deque()
        for batch in batches:
            waiting.append((batch, self._start([record for _, record in batch])))
            if len(waiting) > 2 * self._workers:
                yield _finish(*waiting.popleft())
        while waiting:
            yield _finish(*waiting.popleft())

    def _start(self, records: list[Record]) -> "Future[list[bool]] | None":
        signed = [
            (record.plex_hash, record.signed_by, record.signature)
            for record in records
            if record.plex_hash and record.signed_by and record.signature
        ]
        if not self._workers or (self._pool is None and len(signed) < _FEW):
            return None
        if self._pool is None:
            # Not by forking: whoever calls may have threads.
            self._pool = ProcessPoolExecutor(self._workers, get_context("spawn"))
        return self._pool.submit(are_valid, signed)


def _finish(
    batch: list[tuple[Key, Record]], future: "Future[list[bool]] | None"
) -> list[tuple[tuple[Key, Record], RecordError | None]]:
    valid = iter(future.result()) if future is not None else None
    found: list[tuple[tuple[Key, Record], RecordError | None]] = []
    for each in batch:
        is_sealed = each[1].signed_by is not None
        # What a worker found invalid is looked at again, to say what is wrong.
        known = valid is not None and (not is_sealed or next(valid))
        found.append((each, None if known else _problem(each[1])))
    return found


def _problem(record: Record) -> RecordError | None:
    try:
        check_signature(record)
    except RecordError as error:
        return error
    return None


def are_valid(signed: list[Signed]) -> list[bool]:
    """Which signatures are valid: the work of a process."""
    from lacec.records.signature import verify

    return [
        verify(b64a.decode(plex_hash[2:-3]), verifier, signature)
        for plex_hash, verifier, signature in signed
    ]
