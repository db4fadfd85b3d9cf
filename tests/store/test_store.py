"""The store as a user of its API sees it: what is durable, what is refused, what is said."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import lacec
from lacec.core.errors import FactError, RecordError, StoreError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import evaluate
from lacec.records.coordinates import Coordinate, HashAddress
from lacec.records.facts import HAVE
from lacec.records.record import build_plex, build_seal
from lacec.store import files, upkeep
from lacec.store.listing import list_records
from lacec.store.segment import Array
from lacec.store.segments import FileGoneError
from lacec.store.store import Store
from lacec.vm.sources import DatabaseSource
from tests.store.samples import SECRET, facts_in, facts_of, plex, samples


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.create(tmp_path / "store") as made:
        yield made


def segment_names(store: Store) -> list[str]:
    return sorted(path.name for path in (store.folder / "segments").iterdir())


# Records.


def test_what_is_committed_is_synced(store: Store) -> None:
    """WAL, and FULL: a commit returns when the log is on the disk."""
    (journal,) = store.connection.execute("PRAGMA journal_mode").fetchone()
    (synchronous,) = store.connection.execute("PRAGMA synchronous").fetchone()
    assert (journal, synchronous) == ("wal", 2)


def test_bytes_are_validated_before_they_are_admitted(store: Store) -> None:
    good, other = samples()[0].data, samples()[-1].data
    forged = other[:-1] + bytes([other[-1] ^ 1])
    with pytest.raises(RecordError, match="wrong-digest"):
        store.add([good, forged])
    assert store.add([]) == ([], [])
    assert store.get(samples()[0].hash) is None  # all or none
    assert store.last_id() == 0


def test_embedded_records_are_not_have_020(store: Store) -> None:
    """020 Have: only what was admitted in its own right."""
    seal = samples()[-1]
    store.add([seal])
    have = DatabaseSource(store.snapshot().database()).iterate(HAVE)
    assert list(have) == [(seal.hash,)]
    assert seal.plex_hash is not None
    assert not store.has(seal.plex_hash)
    assert not store.has(seal.blob_hash)
    store.add([seal.blob])
    assert store.snapshot().count() == 2


def test_ids_grow_by_one_and_none_is_given_twice(store: Store) -> None:
    one, two, three, four = (plex(n) for n in range(4))
    store.add([one, two])
    store.add([one, three, two])
    assert [(id, hash) for id, hash, _ in store.after()] == [
        (1, one.hash),
        (2, two.hash),
        (3, three.hash),
    ]
    store.remove([three.hash, two.hash])
    store.compact()
    assert store.last_id() == 3
    store.add([four, two])
    assert [(id, hash) for id, hash, _ in store.after(1)] == [(4, four.hash), (5, two.hash)]
    assert [data for _, _, data in store.records(most=1)] == [one.data, four.data, two.data]


def test_few_large_records_are_held_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from lacec.store import store as module

    large = [plex(n, data=bytes(600)) for n in range(5)]
    store.add(large)
    monkeypatch.setattr(module, "MANY_BYTES", 1000)
    assert [id for id, _, _ in store.after(0)] == [1, 2]
    assert [data for _, _, data in store.records()] == [record.data for record in large]


def test_an_add_that_fails_uses_up_no_id(store: Store) -> None:
    store.add([plex(0)])
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError):
        store.add([plex(1), plex(2, data=bytes(50_000))])
    store.connection.execute("PRAGMA max_page_count = 1000000")
    store.add([plex(1)])
    assert store.last_id() == 2


def test_compacting_leaves_no_byte_of_what_was_removed(store: Store) -> None:
    secret = build_plex("u", "ding", "secret-name", "1640995200:000000000", [], b"secret-data")
    store.add([secret, plex(1)])
    store.settle()
    store.remove([secret.hash])
    store.compact()
    store.close()
    for path in store.folder.rglob("*"):
        if path.is_file():
            assert b"secret-name" not in path.read_bytes()
            assert b"secret-data" not in path.read_bytes()


# Snapshots.


def test_runtime_facts_do_not_change_a_snapshot(store: Store) -> None:
    store.add(samples())
    snapshot = store.snapshot()
    database = snapshot.database()
    here = Predicate("Here", 1)
    database.add(here, [database.symbols.intern_all(["V.me"])])
    database.add(HAVE, [database.symbols.intern_all(["S.extra"])])
    module = lacec.compile("Both(P,V) :- Have(P), Here(V).")
    result = evaluate(module, database)
    assert result.count(Predicate("Both", 2)) == len(samples()) + 1
    assert facts_in(snapshot) == facts_of(samples())
    assert evaluate(module, snapshot.database()).count(Predicate("Both", 2)) == 0


def test_snapshots_share_what_is_loaded(store: Store) -> None:
    store.add(samples())
    first, second = store.snapshot(), store.snapshot()
    assert first.database().relation(HAVE) is second.database().relation(HAVE)
    store.add([plex(100)])
    assert store.snapshot().database().relation(HAVE) is not first.database().relation(HAVE)


def test_a_program_reads_only_the_names_it_uses(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other column of the file is touched, and none of its text where heads are enough."""
    store.add(samples())
    store.settle()
    read: list[str] = []
    true_slice = files.Mapped.slice

    def spy(self: files.Mapped, name: str, low: int, high: int | None) -> Array:
        read.append(name)
        return true_slice(self, name, low, high)

    monkeypatch.setattr(files.Mapped, "slice", spy)
    with Store.open(store.folder, read_only=True) as again:
        module = lacec.compile(
            "S(P) :- Field(P,'Group',_,'u'), Field(P,'Name',_,K), TextShape(K,'link','','')."
        )
        assert evaluate(module, again.snapshot().database()).count(Predicate("S", 1)) > 0
    assert {name for name in read if not name.startswith("strings.")} == {
        *("Field.names", "Field.starts", "Field.0", "Field.2", "Field.3")
    }


def test_a_value_over_the_limit_of_the_evaluation_is_refused_020(store: Store) -> None:
    long = build_plex("u", "ding", "n", "1640995200:000000000", [("X", "x" * 900)], b"")
    store.add([long, plex(1)])
    with pytest.raises(FactError, match="900 bytes, over the limit value_bytes of 500"):
        store.snapshot().database(Limits(value_bytes=500))
    store.remove([long.hash])
    assert store.snapshot().database(Limits(value_bytes=500)).relation(HAVE).size == 1


# Segments.


def test_a_segment_is_listed_after_it_is_synced_and_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write, sync, rename, sync the folder, list: in this order, whatever power does."""
    calls: list[str] = []
    true_fsync, true_replace, true_write = os.fsync, os.replace, files.write_segment

    def fsync(descriptor: int) -> None:
        target = os.readlink(f"/proc/self/fd/{descriptor}")
        calls.append("sync folder" if os.path.isdir(target) else "sync file")
        true_fsync(descriptor)

    def replace(source: Path, target: Path) -> None:
        calls.append("rename")
        true_replace(source, target)

    def write(*arguments: Any) -> Any:
        calls.append("write")
        return true_write(*arguments)

    def trace(statement: str) -> None:
        for start, what in (("INSERT INTO segments", "list"), ("COMMIT", "commit")):
            if statement.startswith(start):
                calls.append(what)

    store.add(samples())
    store.snapshot()
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(upkeep, "write_segment", write)
    store.connection.set_trace_callback(trace)
    store.settle()
    store.connection.set_trace_callback(None)
    assert calls[calls.index("write") :] == [
        *("write", "sync file", "rename", "sync folder", "list", "commit")
    ]


def test_there_are_few_segments(store: Store) -> None:
    for step in range(64):
        store.add(plex(4 * step + n) for n in range(4))
        store.settle()
    assert len(segment_names(store)) <= 8
    assert store.verify() == []  # merged segments are those that the records give
    assert facts_in(store.snapshot()) == facts_of(plex(n) for n in range(256))


def test_a_record_that_comes_back_has_its_facts_once(store: Store) -> None:
    """Removed and added again within what becomes one segment, and across two."""
    one, two = samples()[4], samples()[-1]
    store.add([one, two])
    store.remove([one.hash, two.hash])
    store.add([two])
    assert facts_in(store.snapshot()) == facts_of([two])
    store.settle()
    store.remove([two.hash])
    store.add([one, two])
    with Store.open(store.folder, read_only=True) as again:
        assert facts_in(again.snapshot()) == facts_of([one, two])
    store.settle()
    assert len(segment_names(store)) == 1
    assert facts_in(store.snapshot()) == facts_of([one, two])
    assert store.verify() == []


def test_files_that_were_merged_go_and_readers_look_again(store: Store) -> None:
    store.add([plex(n) for n in range(8)])
    store.settle()
    with Store.open(store.folder, read_only=True) as reader:
        with reader.reading():
            listing = reader.segments.read()
        before = segment_names(store)
        store.add([plex(n) for n in range(8, 16)])
        store.settle()
        assert len(segment_names(store)) == 1
        assert segment_names(store) != before
        with pytest.raises(FileGoneError):
            reader.segments.load(listing)
        assert reader.snapshot().count() == 16


def test_the_tail_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lacec.store import store as module

    monkeypatch.setattr(module, "MOST_TAIL", 10)
    with Store.create(tmp_path / "other") as store:
        for n in range(100):
            store.add([plex(n)])
            assert store.stats().tail <= 10
        assert (
            store.stats().tail
            + sum(
                last - first + 1
                for first, last in store.connection.execute("SELECT first, last FROM segments")
            )
            == 100
        )


@pytest.mark.parametrize("how", ["flip each", "truncate", "delete", "empty", "header"])
def test_a_damaged_segment_is_rebuilt_with_the_same_ids(store: Store, how: str) -> None:
    """Before its facts are used, and from the record bytes; the file is then as it was."""
    store.add(samples())
    store.settle()
    (name,) = segment_names(store)
    path = store.folder / "segments" / name
    sound = path.read_bytes()
    symbols = store.snapshot().database().symbols
    texts = [symbols.text(id) for id in range(len(symbols))]
    damages: dict[str, list[bytes | None]] = {
        "flip each": [_flipped(sound, at) for at in range(0, len(sound), len(sound) // 60)],
        "truncate": [sound[:-1], sound[: len(sound) // 2], sound[:3]],
        "empty": [b""],
        "header": [_flipped(sound, 3), _flipped(sound, 9), _flipped(sound, 30)],
        "delete": [None],
    }
    for damaged in damages[how]:
        path.unlink()
        if damaged is not None:
            path.write_bytes(damaged)
        with Store.open(store.folder) as again:
            snapshot = again.snapshot()
            assert facts_in(snapshot) == facts_of(samples())
            found = snapshot.database().symbols
            assert [found.text(id) for id in range(len(found))] == texts
        if how != "flip each":  # a flip may be in the padding between arrays
            assert path.read_bytes() == sound


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


def test_a_reader_can_use_a_damaged_store_that_it_may_not_mend(store: Store) -> None:
    store.add(samples())
    store.settle()
    (path,) = (store.folder / "segments").iterdir()
    path.unlink()
    with Store.open(store.folder, read_only=True) as again:
        assert facts_in(again.snapshot()) == facts_of(samples())
    assert not path.exists()
    assert [problem.name for problem in store.verify()] == ["damaged-segment"]


def test_files_of_an_interrupted_writer_are_removed(store: Store) -> None:
    for name in ("1-5-abc.seg", ".1-5-abc.seg.77"):
        (store.folder / "segments" / name).write_bytes(b"half")
    store.add(samples())
    store.settle()
    assert len(segment_names(store)) == 1


def test_the_folder_of_segments_may_be_lost(store: Store, tmp_path: Path) -> None:
    """A writer makes it again, with what it needs."""
    store.add(samples()[:8])
    store.settle()

    def settle(store: Store) -> None:
        store.add(samples()[8:])
        store.settle()

    for use in (Store.snapshot, settle, Store.compact):
        shutil.rmtree(store.folder / "segments")
        with Store.open(store.folder) as again:
            use(again)
            assert again.verify() == []
    shutil.rmtree(store.folder / "segments")
    store.backup(tmp_path / "copy")
    with Store.open(tmp_path / "copy") as copy:
        assert facts_in(copy.snapshot()) == facts_of(samples())


def test_a_list_that_names_other_files_is_refused(store: Store, tmp_path: Path) -> None:
    """A store from elsewhere could have them read, copied or removed."""
    store.add(samples())
    store.settle()
    other = tmp_path / "other.seg"
    other.write_bytes(b"mine")
    for name in ("../../other.seg", str(other), "1-5-0123456789abcdef.seg\n", b"x"):
        store.connection.execute("UPDATE segments SET name = ?", (name,))
        for use in (store.snapshot, store.compact, lambda: store.backup(tmp_path / "copy")):
            with pytest.raises(StoreError, match="no name of a segment"):
                use()
        store.add([plex(len(name))])
        with pytest.raises(StoreError, match="no name of a segment"):
            store.settle()
    assert other.read_bytes() == b"mine"
    assert not (tmp_path / "copy").exists()


def test_stats_are_of_one_moment(store: Store) -> None:
    """Whatever another process does between two looks: here, before each but the first."""
    store.add([plex(0)])
    with Store.open(store.folder, read_only=True) as reader:
        records = count(1)

        def write(statement: str) -> None:
            if statement != "BEGIN":
                store.add([plex(next(records))])
                store.settle()

        reader.connection.set_trace_callback(write)
        stats = reader.stats()
        reader.connection.set_trace_callback(None)
        assert next(records) > 3
    assert stats.records == stats.last_id == stats.facts["Have/1"]


def test_a_file_that_goes_meanwhile_does_not_fail_the_stats(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add(samples())
    before = store.stats().disk_bytes
    listed = Path.rglob

    def rglob(folder: Path, pattern: str) -> list[Path]:
        return [*listed(folder, pattern), folder / "gone"]

    monkeypatch.setattr(Path, "rglob", rglob)
    assert store.stats().disk_bytes == before


# Verify, backup, list.


def test_verify_finds_damaged_records(store: Store) -> None:
    store.add(samples())
    store.connection.execute("UPDATE records SET data = ? WHERE id = 3", (b"rubbish",))
    store.connection.execute("UPDATE records SET hash = ? WHERE id = 4", (plex(5).hash,))
    seal = samples()[-1]
    other = build_seal(plex(9), SECRET, b"\2" * 32)
    assert seal.signature is not None
    assert other.signature is not None
    data = _resealed(seal.data, seal.signature, other.signature)
    last = store.last_id()
    store.connection.execute("UPDATE records SET data = ? WHERE id = ?", (data, last))
    assert [(problem.where, problem.name) for problem in store.verify()] == [
        ("record 3", "not-a-record"),
        ("record 4", "wrong-hash"),
        (f"record {last}", "wrong-hash"),
        (f"record {last}", "wrong-signature"),
    ]
    with pytest.raises(StoreError, match="record 3 are damaged"):
        store.snapshot()


@pytest.mark.parametrize("bytes_now", [b"rubbish", plex(9).data])
def test_a_damaged_record_is_mended_when_it_comes_again(store: Store, bytes_now: bytes) -> None:
    """Also in the tail, whose facts cannot be read before, and after many others."""
    records = [plex(n) for n in range(600)]
    store.add(records[:300])
    with Store.open(store.folder, read_only=True) as reader:
        store.connection.execute("UPDATE records SET data = ? WHERE id = 7", (bytes_now,))
        with suppress(StoreError):
            reader.snapshot()
        assert len(store.add(records[300:]).admitted) == 300
        assert store.add(records) == ([], [record.hash for record in records])
        assert store.get(records[6].hash) == records[6].data
        for each in (store, reader):
            assert facts_in(each.snapshot()) == facts_of(records)
    store.settle()
    assert store.verify() == []


def test_verify_finds_a_damaged_index(store: Store) -> None:
    """The records are as they were, and one of them is not found by its hash."""
    store.add(samples())
    store.close()
    hash = samples()[2].hash.encode()
    file = store.folder / "records.sqlite"
    data = bytearray(file.read_bytes())
    places = [match.start() for match in re.finditer(re.escape(hash), data)]
    damaged = [bytes(data[:at]) + b"S" + bytes(data[at + 1 :]) for at in places]
    found = []
    for each in damaged:
        file.write_bytes(each)
        with Store.open(store.folder) as again:
            found += [p for p in again.verify() if p.name == "damaged-database"]
    assert found
    assert {problem.where for problem in found} == {"records.sqlite"}
    assert all("restore a backup, or export the records" in p.message for p in found)


def _resealed(data: bytes, signature: str, other: str) -> bytes:
    """A seal with another's signature, and the digest that then fits."""
    from blake3 import blake3

    from lacec.records import b64a

    body = data.split(b"\n", 1)[1].replace(signature.encode(), other.encode())
    return f"🖧: S.{b64a.encode(blake3(body).digest())}.H3\n".encode() + body


def test_a_backup_is_a_store_of_its_own(store: Store, tmp_path: Path) -> None:
    store.add(samples()[:8])
    store.settle()
    store.add(samples()[8:])
    store.backup(tmp_path / "copy")
    store.add([plex(1)])
    with Store.open(tmp_path / "copy") as copy:
        assert facts_in(copy.snapshot()) == facts_of(samples())
        assert copy.verify() == []
        copy.add([plex(2)])
        assert copy.last_id() == store.last_id()
    with pytest.raises(StoreError, match="there is a store already"):
        store.backup(tmp_path / "copy")


def test_list_takes_coordinates_d2(store: Store) -> None:
    tai = "1640995200:000000000"
    names = ["links/a", "links/b", "linksx", "notes/it's"]
    records = [build_plex("u", app, name, tai, [], b"") for app in ("x", "y") for name in names]
    store.add([*records, build_plex("ux", "x", "links/a", tai, [], b""), samples()[1]])
    snapshot = store.snapshot()

    def found(*parts: str) -> list[str]:
        return [f"{each.app}//{each.name}" for each in list_records(snapshot, Coordinate(*parts))]

    assert found("u") == [f"{app}//{name}" for app in ("x", "y") for name in names]
    assert found("u", "y") == [f"y//{name}" for name in names]
    assert found("u", "y", "links/") == ["y//links/a", "y//links/b"]
    assert found("u", "y", "links") == []
    assert found("u", "y", "notes/it's") == ["y//notes/it's"]
    assert found("none") == []
    assert len(list_records(snapshot)) == 10
    blob = samples()[1].hash
    assert [each.type for each in list_records(snapshot, HashAddress(blob))] == ["B"]


# What cannot be used is refused in plain words, and stays as it is.


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(StoreError) as info:
        Store.open(path, **options)
    return str(info.value)


def test_what_is_not_a_store_is_refused(tmp_path: Path) -> None:
    assert "there is no store" in refused(tmp_path / "none")
    assert "it has no records.sqlite" in refused(tmp_path)
    file = tmp_path / "records.sqlite"
    file.write_bytes(b"")
    assert "is a file, and a store is a folder" in refused(file)
    assert "never finished" in refused(tmp_path)
    file.write_bytes(b"something else entirely" * 10)
    assert "is no database" in refused(tmp_path)
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE other (a)")
    connection.close()
    assert "belongs to something else" in refused(tmp_path)
    with pytest.raises(StoreError, match="there is a store already"):
        Store.create(tmp_path)
    file.rename(tmp_path / "notes")
    with pytest.raises(StoreError, match="there is something else already"):
        Store.create(tmp_path)


def test_a_store_of_another_version_is_refused_and_not_touched(store: Store) -> None:
    store.add(samples())
    store.connection.execute("PRAGMA user_version = 2")
    store.close()
    before = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    assert "a store of version 2, and this lacec knows version 1" in refused(store.folder)
    after = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    assert after == before


def test_a_store_may_be_made_in_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    Store.create(tmp_path / "store").close()
    Store.open(tmp_path / "store").close()
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_second_writer_waits_and_then_says_why_it_cannot(store: Store) -> None:
    waited: list[str] = []
    with Store.open(store.folder, patience=0.2, on_wait=lambda: waited.append("waiting")) as second:
        with store.writing():
            with pytest.raises(StoreError, match="another process is writing to it"):
                second.add([plex(1)])
            assert second.snapshot().count() == 0  # reading does not wait
        assert waited == ["waiting"]
        second.add([plex(1)])
    assert store.has(plex(1).hash)


_ADD = """
import sys
from lacec.store.store import Store
with Store.open(sys.argv[1]) as store:
    store.add([bytes.fromhex(sys.argv[2])])
"""


def test_opened_twice_in_one_process_a_store_keeps_what_is_written(store: Store) -> None:
    """Another process that writes and goes must see that it is not the last to go."""

    def add_elsewhere(number: int) -> None:
        add = [sys.executable, "-c", _ADD, str(store.folder), plex(number).data.hex()]
        subprocess.run(add, check=True)

    store.add([plex(0)])
    with Store.open(store.folder, read_only=True) as second:
        assert second.snapshot().count() == 1
        add_elsewhere(1)
        store.add([plex(2)])
        add_elsewhere(3)
    store.close()
    with Store.open(store.folder) as again:
        assert [hash for _, hash, _ in again.records()] == [plex(n).hash for n in range(4)]


def test_a_store_opened_for_reading_is_not_written_to(store: Store) -> None:
    with (
        Store.open(store.folder, read_only=True) as reader,
        pytest.raises(StoreError, match="for reading alone"),
    ):
        reader.add([plex(1)])


_READ_ONLY = """
import os, sys
from lacec.core.errors import StoreError
from lacec.store.store import Store
if os.geteuid() == 0:  # whom no mode stops
    os.setgid(65534); os.setuid(65534)
with Store.open(sys.argv[1], read_only=True) as store:
    print(store.snapshot().count())
try:
    with Store.open(sys.argv[1]) as store:
        store.remove([store.after()[0][1]])
except StoreError as error:
    print(error)
"""


def test_a_folder_that_may_not_be_written_to_can_be_read() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        with Store.create(folder / "store") as store:
            store.add(samples())
            store.settle()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        done = subprocess.run(
            [sys.executable, "-c", _READ_ONLY, str(folder / "store")],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for path in (folder, folder / "store", folder / "store" / "segments"):
            path.chmod(0o755)
        shutil.rmtree(folder)
    assert done.stderr == ""
    count, message = done.stdout.splitlines()
    assert count == str(len(samples()))
    assert "it may not be written to" in message


_OTHER_USER = """
import os, sys
from lacec.core.errors import StoreError
from lacec.store.store import Store
if os.geteuid() == 0:  # whom no mode stops
    os.setgid(65534); os.setuid(65534)

def wait(*said):
    print(*said, flush=True)
    sys.stdin.readline()

with Store.open(sys.argv[1], read_only=True) as store:
    wait(store.snapshot().count(), len(list(store.records())))
    wait(store.snapshot().count(), len(list(store.records())))  # the owner has it open
    wait(store.snapshot().count(), len(list(store.records())), len(store.verify()))
try:
    Store.open(sys.argv[1], read_only=True)
except StoreError as error:
    wait(error)
with Store.open(sys.argv[2], read_only=True) as store:
    try:
        with store.reading():
            wait("reading")
            store.connection.execute("SELECT count(hash) FROM records").fetchone()
    except StoreError as error:
        wait(error)
    print(store.snapshot().count())
"""


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """A folder that may be written to meanwhile, and only be read at other times."""
    folder.chmod(0o755)
    try:
        yield
    finally:
        folder.chmod(0o555)


@pytest.mark.usefixtures("usual_umask")
def test_a_reader_without_permission_sees_what_the_owner_writes() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        for name in ("one", "two"):
            with Store.create(folder / name) as store:
                store.add([plex(n, data=bytes(3000)) for n in range(300)])
                store.settle()
            (folder / name).chmod(0o555)
        folder.chmod(0o755)
        with subprocess.Popen(
            [sys.executable, "-c", _OTHER_USER, str(folder / "one"), str(folder / "two")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None

            def said() -> str:
                assert reader.stdout is not None
                return reader.stdout.readline().strip()

            def go_on() -> None:
                assert reader.stdin is not None
                reader.stdin.write("\n")
                reader.stdin.flush()

            assert said() == "300 300"
            with _writable(folder / "one"), Store.open(folder / "one") as store:
                store.remove([plex(n, data=bytes(3000)).hash for n in range(250)])
                store.compact()
                store.add([plex(n, "v", bytes(2000)) for n in range(1000)])
                (folder / "one").chmod(0o555)
                go_on()
                assert said() == "1050 1050"
                (folder / "one").chmod(0o755)
                store.remove([plex(0, "v", bytes(2000)).hash])
                store.compact()
            go_on()
            assert said() == "1049 1049 0"
            with _writable(folder / "one"):
                for end in ("-wal", "-shm"):
                    (folder / "one" / f"records.sqlite{end}").unlink(missing_ok=True)
                (folder / "one" / "records.sqlite-wal").write_bytes(b"half")
            go_on()
            assert "let its owner open it once" in said()
            go_on()
            assert said() == "reading"
            with _writable(folder / "two"), Store.open(folder / "two") as store:
                store.remove([plex(n, data=bytes(3000)).hash for n in range(250)])
                store.compact()
            go_on()
            assert "another user is writing to it" in said()
            go_on()
            assert said() == "50"
    finally:
        for name in ("one", "two"):
            (folder / name).chmod(0o755)
        shutil.rmtree(folder)


_FULL = """
import resource, sys
from pathlib import Path
from lacec.core.errors import StoreError
from lacec.store.store import Store
from tests.store.samples import plex
with Store.open(sys.argv[1]) as store:
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for n in range(1000):
        try:
            added = store.add([plex(n, data=bytes(5000))])
            store.settle(8)
        except StoreError as error:
            print(error, file=sys.stderr)
            break
        print(*added.admitted, flush=True)
"""


@pytest.mark.parametrize("limit", [20_000, 150_000, 700_000])
def test_a_full_disk_is_an_error_and_the_store_stays_intact(store: Store, limit: int) -> None:
    """Files cannot grow beyond a limit: the log, the database or a segment meets it."""
    store.close()
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(store.folder), str(limit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "the store " in done.stderr
    assert "Traceback" not in done.stderr
    acknowledged = done.stdout.split()
    with Store.open(store.folder) as again:
        assert again.verify() == []
        assert [hash for hash in acknowledged if not again.has(hash)] == []
        assert again.snapshot().count() <= len(acknowledged) + 1
        again.add([plex(2000)])


def test_a_full_database_is_an_error(store: Store) -> None:
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(StoreError, match="the disk is full"):
        store.add(plex(n, data=bytes(5000)) for n in range(50))
    assert store.last_id() == 0
    store.connection.execute("PRAGMA max_page_count = 1000000")
    store.add([plex(1)])
    assert store.verify() == []
