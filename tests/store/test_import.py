"""Import: the good are admitted, the bad are named, and a crash loses nothing that was said."""

import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import lacec
from lacec.records.record import Record, build_seal
from lacec.store.importing import Batch, Stream, import_streams, open_files
from lacec.store.signatures import Signatures
from lacec.store.store import Store
from tests.store.samples import SECRET, facts_in, facts_of, plex, samples


def stream_of(records: list[Record]) -> bytes:
    return b"".join(record.data + b"\n" for record in records)


def imported(store: Store, *streams: tuple[str, bytes], workers: int = 0) -> list[Batch]:
    batches: list[Batch] = []
    opened: list[Stream] = [(name, io.BytesIO(data)) for name, data in streams]
    import_streams(store, opened, batches.append, workers=workers)
    return batches


def forged() -> bytes:
    """A Seal whose bytes fit its digests, and whose signature is another's."""
    from blake3 import blake3

    from lacec.records import b64a

    one, two = (build_seal(plex(n), SECRET, b"\1" * 32) for n in (1, 2))
    assert one.signature is not None
    assert two.signature is not None
    body = one.data.split(b"\n", 1)[1].replace(one.signature.encode(), two.signature.encode())
    return f"🖧: S.{b64a.encode(blake3(body).digest())}.H3\n".encode() + body


def test_the_good_are_admitted_and_the_bad_are_named(tmp_path: Path) -> None:
    good = list(samples())
    changed = good[3].data[:-1] + b"?" if good[3].data_length else good[4].data[:-1] + b"?"
    data = stream_of(good[:5]) + changed + b"\n" + forged() + b"\n" + stream_of(good[5:])
    with Store.create(tmp_path / "store") as store:
        batches = imported(store, ("one", data), ("two", good[0].data + b"\nrubbish"))
        assert [hash for batch in batches for hash in batch.admitted] == [r.hash for r in good]
        assert [hash for batch in batches for hash in batch.known] == [good[0].hash]
        refused = {each.name: each for batch in batches for each in batch.refused}
        assert set(refused) == {"wrong-digest", "wrong-signature", "not-a-record"}
        start = len(stream_of(good[:5])) + len(changed) + 1
        at = start + forged().index(b"\nSignature: ") + len("\nSignature: ")
        assert (refused["wrong-signature"].source, refused["wrong-signature"].offset) == ("one", at)
        assert refused["not-a-record"].source == "two"
        assert refused["not-a-record"].offset == len(good[0].data) + 1
        assert facts_in(store.snapshot()) == facts_of(good)
        assert store.stats().tail == 0  # an import ends with a segment


def test_processes_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records are admitted and refused, in the same order, with workers or without."""
    from lacec.store import signatures

    monkeypatch.setattr(signatures, "_FEW", 1)
    monkeypatch.setattr(signatures, "BATCH_RECORDS", 3)
    data = stream_of(list(samples())) + forged() + b"\n" + stream_of([plex(1)])
    outcomes = []
    for workers in (0, 2):
        with Store.create(tmp_path / f"store{workers}") as store:
            outcomes.append(imported(store, ("one", data), workers=workers))
    assert outcomes[0] == outcomes[1]
    assert [r.name for batch in outcomes[1] for r in batch.refused] == ["wrong-signature"]


def test_a_process_that_dies_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    from lacec.store import signatures

    monkeypatch.setattr(signatures, "_FEW", 1)
    batches = [[(n, record)] for n, record in enumerate(samples()) if record.type == "S"]
    with Signatures(1) as checker:
        checked = checker.checked(batches)
        found = [next(checked)]
        process = checker._idle.get()
        process._process.kill()
        process._process.wait()
        checker._idle.put(process)
        found += checked
    assert [[each for each, _ in batch] for batch in found] == batches
    assert all(error is None for batch in found for _, error in batch)


def test_where_no_process_can_start_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing stays open, nor a process that did start."""
    from lacec.store import signatures

    monkeypatch.setattr(signatures, "_FEW", 1)
    batches = [[(n, record)] for n, record in enumerate(samples()) if record.type == "S"]
    before = len(os.listdir("/dev/fd"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Enough for one process and its pipes, but not for a hundred.
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/dev/fd"))) + 20, hard))
    try:
        with Signatures(100) as checker:
            found = list(checker.checked(batches))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [[each for each, _ in batch] for batch in found] == batches
    assert all(error is None for batch in found for _, error in batch)
    assert len(os.listdir("/dev/fd")) <= before


_UNREADABLE = """
import os, sys
from pathlib import Path
from lacec.store.importing import import_streams, open_files
from lacec.store.store import Store
folder = Path(sys.argv[1])
with Store.create(folder / "store") as store:
    if os.geteuid() == 0:  # whom no mode stops
        os.setegid(65534); os.seteuid(65534)
    streams = list(open_files([folder / "records", folder / "records" / "own" / "a"]))
    print(*(name[len(sys.argv[1]):] for name, found in streams if isinstance(found, OSError)))
"""


@pytest.mark.usefixtures("usual_umask")
def test_files_and_folders_that_may_not_be_read_are_named() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        for name in ("own/a", "open/b", "listed/c"):
            (folder / "records" / name).parent.mkdir(parents=True)
            (folder / "records" / name).write_bytes(samples()[0].data)
        (folder / "records" / "own").chmod(0)
        (folder / "records" / "open" / "b").chmod(0)
        (folder / "records" / "listed").chmod(0o444)
        done = subprocess.run(
            [sys.executable, "-c", _UNREADABLE, str(folder)],
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        for path in ("own", "listed"):
            (folder / "records" / path).chmod(0o755)
        shutil.rmtree(folder)
    assert done.stdout.split() == [
        "/records/listed/c",
        "/records/open/b",
        "/records/own",
        "/records/own/a",
    ]


def test_a_file_of_nothing_is_refused_like_one_cut_short(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store") as store:
        batches = imported(store, ("one", b""), ("two", samples()[0].data))
    assert [hash for batch in batches for hash in batch.admitted] == [samples()[0].hash]
    assert [each for batch in batches for each in batch.refused] == [
        ("one", 0, "truncated", "there is nothing to read")
    ]


class _Failing(io.BytesIO):
    """A disk that fails after some bytes."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() == len(self.getvalue()):
            raise OSError(5, "Input/output error")
        return super().read(size)


def test_what_was_read_before_a_disk_failed_is_admitted(tmp_path: Path) -> None:
    one, two = samples()[:2]
    batches: list[Batch] = []
    streams: list[Stream] = [
        ("one", _Failing(one.data + b"\n" + two.data[:9])),
        ("two", io.BytesIO(two.data)),
    ]
    with Store.create(tmp_path / "store") as store:
        import_streams(store, streams, batches.append)
    assert [hash for batch in batches for hash in batch.admitted] == [one.hash, two.hash]
    assert [each for batch in batches for each in batch.refused] == [
        ("one", len(one.data), "unreadable", "it cannot be read: input/output error")
    ]


_CHECK_FORGED = """
import os, sys
from lacec.records.record import parse_record
from lacec.records.signature import verify
from lacec.store import signatures
signatures._FEW = 1
if sys.argv[1] == "-m":  # what `python -m lacec` puts there
    sys.path.insert(0, os.getcwd())
record = parse_record(sys.stdin.buffer.read(), verify=False)
with signatures.Signatures(1) as checker:
    ((_, error),) = next(checker.checked([[(0, record)]]))
print(error.name)
"""


@pytest.mark.parametrize("started", ["-m", "as a script"])
def test_nothing_is_loaded_from_the_current_folder(tmp_path: Path, started: str) -> None:
    """Whoever can write there could run code, and have forged Seals admitted."""
    hostile = "open('ran', 'w')\n"
    (tmp_path / "_btclib_libsecp256k1.py").write_text(hostile)
    (tmp_path / "lacec").mkdir()
    (tmp_path / "lacec" / "__init__.py").write_text(hostile)
    done = subprocess.run(
        [sys.executable, "-P", "-c", _CHECK_FORGED, started],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(lacec.__file__).parents[1])},
        input=forged(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"wrong-signature\n"
    assert done.stderr == b""
    assert not (tmp_path / "ran").exists()


def test_folders_are_read_whole(tmp_path: Path) -> None:
    below = tmp_path / "records" / "deep"
    below.mkdir(parents=True)
    for number, record in enumerate(samples()):
        (below if number % 2 else below.parent).joinpath(f"{number}").write_bytes(record.data)
    with Store.create(tmp_path / "store") as store:
        batches: list[Batch] = []
        import_streams(store, open_files([tmp_path / "records"]), batches.append)
        assert facts_in(store.snapshot()) == facts_of(samples())


# Crashes.

# One process forks the importers and kills them: starting Python takes longer than they do.
_IMPORTERS = """
import os, signal, sys, time
from pathlib import Path
from lacec.store import signatures, store as module
from lacec.store.importing import Batch, import_streams, open_files
signatures.BATCH_RECORDS, module.MOST_TAIL, module.MANY = 5, 12, 4

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

for line in sys.stdin:
    delay, path = line[:-1].split(" ", 1)
    child = os.fork()
    if child == 0:
        with module.Store.open(sys.argv[1]) as store:
            import_streams(store, open_files([Path(path)]), lambda b: say("has", *b.admitted))
        os._exit(0)
    time.sleep(float(delay))
    os.kill(child, signal.SIGKILL)
    say("ended", os.waitpid(child, 0)[1])
"""
KILLS = 200


def test_a_killed_import_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """SIGKILL at random moments, 200 times, one store: it opens, it is sound, and it goes on."""
    chosen = random.Random(7)
    folder, source = tmp_path / "store", tmp_path / "records"
    Store.create(folder).close()
    killed = total = 0
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _IMPORTERS, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as importers:
        assert importers.stdin is not None
        assert importers.stdout is not None
        for step in range(KILLS):
            records = {r.hash: r for r in (plex(100 * step + n) for n in range(40))}
            source.write_bytes(stream_of(list(records.values())))
            importers.stdin.write(f"{chosen.uniform(0, 0.04)} {source}\n")
            importers.stdin.flush()
            lines = [importers.stdout.readline().split()]
            while lines[-1][0] != "ended":
                lines.append(importers.stdout.readline().split())
            killed += lines[-1][1] == str(int(signal.SIGKILL))
            said = {hash for word, *hashes in lines if word == "has" for hash in hashes}
            with Store.open(folder) as store:
                stored = {hash: store.get(hash) for hash in records}
                there = {hash for hash, data in stored.items() if data is not None}
                assert said <= there
                assert all(stored[hash] == records[hash].data for hash in there)
                assert len(there) % 5 == 0  # a batch is there or not
                total += len(there)
                assert store.snapshot().count() == total
                if step % 25 == 0:
                    assert store.verify() == []
                    assert store.stats().tail <= 12 + 5
        importers.stdin.close()
    assert killed > KILLS // 4  # the others were done before
    with Store.open(folder) as store:
        assert store.verify() == []


# Two processes.

_WRITER = """
import io, sys
from lacec.store import signatures, store as module
from lacec.store.importing import import_streams
from tests.store.samples import plex
signatures.BATCH_RECORDS, module.MOST_TAIL, module.MANY = 2, 16, 2
with module.Store.open(sys.argv[1]) as store:
    for n in range(150):
        pair = [plex(n, "left"), plex(n, "right")]
        stream = io.BytesIO(b"".join(record.data + bytes([10]) for record in pair))
        import_streams(store, [("pair", stream)], lambda batch: None)
        if n % 10 == 9:
            store.remove([plex(n - 5, group).hash for group in ("left", "right")])
        if n % 50 == 49:
            store.compact()
"""


def test_a_reader_never_sees_half_an_import(tmp_path: Path) -> None:
    """One process imports pairs, removes pairs and compacts; another evaluates all the while."""
    from lacec.core.predicates import Predicate
    from lacec.engine.evaluation import evaluate

    module = lacec.compile(
        "Left(N) :- Have(P), Field(P,'Group',_,'left'), Field(P,'Name',_,N).\n"
        "Right(N) :- Have(P), Field(P,'Group',_,'right'), Field(P,'Name',_,N).\n"
        "Half(N) :- Left(N), not Right(N).\nHalf(N) :- Right(N), not Left(N).\n"
        "Whole(N) :- Left(N), Right(N)."
    )
    half, whole = Predicate("Half", 1), Predicate("Whole", 1)
    folder = tmp_path / "store"
    Store.create(folder).close()
    counts: list[int] = []
    with (
        subprocess.Popen([sys.executable, "-c", _WRITER, str(folder)]) as writer,
        Store.open(folder, read_only=True) as store,
    ):
        while writer.poll() is None:
            snapshot = store.snapshot()
            result = evaluate(module, snapshot.database(), [half, whole])
            assert result.facts(half) == []
            assert snapshot.count() == 2 * result.count(whole)
            counts.append(result.count(whole))
        assert writer.returncode == 0
        assert evaluate(module, store.snapshot().database()).count(whole) == 135
    assert len(set(counts)) > 10  # it did look while the other wrote
