"""Signatures of many records, on all cores: batches in, the same batches out in order.

Verifying is a mix of C and Python, so it is processes that help, each with a thread here
that talks to it. A bounded number of batches is under way. A process that fails is not
missed: its batches are verified here.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Self, TypeVar

from lacec.core.errors import RecordError
from lacec.records.record import Record, check_signature

Key = TypeVar("Key")
Answer = Future[bytes | None]

# Fewer signatures are verified here in less time than a process takes to start.
_FEW = 256
# A batch has so many records, or fewer when they are large.
BATCH_RECORDS = 4096
BATCH_BYTES = 16 * 2**20


def batches(records: Iterable[tuple[Key, Record]]) -> Iterator[list[tuple[Key, Record]]]:
    batch: list[tuple[Key, Record]] = []
    size = 0
    for each in records:
        batch.append(each)
        size += len(each[1].data)
        if len(batch) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Signatures:
    """`workers` is how many processes may help; none: all is done here."""

    def __init__(self, workers: int = 0) -> None:
        self._workers = workers
        self._threads: ThreadPoolExecutor | None = None
        self._idle: SimpleQueue[_Process] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            for _ in range(self._workers):
                self._idle.get().close()

    def checked(
        self, batches: Iterable[list[tuple[Key, Record]]]
    ) -> Iterator[list[tuple[tuple[Key, Record], RecordError | None]]]:
        """Each batch again, with what is wrong with the signature of each record."""
        waiting: deque[tuple[list[tuple[Key, Record]], Answer | None]] = deque()
        for batch in batches:
            waiting.append((batch, self._start([record for _, record in batch])))
            if len(waiting) > 2 * self._workers:
                yield _finish(*waiting.popleft())
        while waiting:
            yield _finish(*waiting.popleft())

    def _start(self, records: list[Record]) -> Answer | None:
        lines = [
            f"{record.plex_hash} {record.signed_by} {record.signature}\n"
            for record in records
            if record.signed_by is not None
        ]
        if not self._workers or (self._threads is None and len(lines) < _FEW):
            return None
        if self._threads is None:
            try:
                for process in _start_processes(self._workers):
                    self._idle.put(process)
            except OSError:  # no more processes, or files, than there are: all is done here
                self._workers = 0
                return None
            self._threads = ThreadPoolExecutor(self._workers)
        return self._threads.submit(self._ask, "".join(lines).encode("ascii"), len(lines))

    def _ask(self, lines: bytes, count: int) -> bytes | None:
        process = self._idle.get()
        try:
            return process.ask(lines, count)
        finally:
            self._idle.put(process)


class _Process:
    """One that verifies, and the pipes to it."""

    def __init__(self) -> None:
        """OSError if no process can be started; nothing is then left open."""
        # -P: nothing is loaded from the current folder, since anybody may write there.
        command = [sys.executable, "-P", "-m", "lacec.store.verifier"]
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # what interrupts an import does not reach it
            env={**os.environ, "PYTHONPATH": os.pathsep.join(module_folders())},
        )

    def ask(self, lines: bytes, count: int) -> bytes | None:
        """A byte for each signature; None if the process does not answer."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        request = memoryview(b"%d\n%s" % (count, lines))
        answer = b""
        try:
            while request:
                request = request[requests.write(request) or 0 :]
            while len(answer) < count and (piece := answers.read(count - len(answer))):
                answer += piece
        except OSError:
            return None
        return answer if len(answer) == count else None

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()


def _start_processes(count: int) -> list[_Process]:
    """So many; or none, and an OSError."""
    with ExitStack() as started:
        processes = []
        for _ in range(count):
            processes.append(_Process())
            started.callback(processes[-1].close)
        started.pop_all()
    return processes


def module_folders() -> list[str]:
    """Where this process has its modules from, but for the current folder."""
    package = str(Path(__file__).absolute().parents[2])
    others = [folder for folder in sys.path if os.path.isabs(folder) and not _is_current(folder)]
    # A separator in a name would make two folders of it, and a relative one of the second.
    return [folder for folder in (package, *others) if os.pathsep not in folder]


def _is_current(folder: str) -> bool:
    try:
        return os.path.samefile(folder, os.curdir)
    except OSError:
        return False


def _finish(
    batch: list[tuple[Key, Record]], answer: Answer | None
) -> list[tuple[tuple[Key, Record], RecordError | None]]:
    found = None if answer is None else answer.result()
    valid = None if found is None else iter(found)
    result: list[tuple[tuple[Key, Record], RecordError | None]] = []
    for each in batch:
        # What is not valid is looked at again, to say what is wrong.
        known = valid is not None and (each[1].signed_by is None or next(valid) == 1)
        result.append((each, None if known else _problem(each[1])))
    return result


def _problem(record: Record) -> RecordError | None:
    try:
        check_signature(record)
    except RecordError as error:
        return error
    return None
