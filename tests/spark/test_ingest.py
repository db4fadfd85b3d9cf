"""Ingest: it refuses what a store refuses, adds what is new, and is there whole or not at all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lacec.core.errors import SparkError
from lacec.records.limits import RecordLimits
from lacec.records.record import Record, parse_record
from lacec.spark import sources
from lacec.spark.ingest import Ingested, ingest
from lacec.spark.rows import row_of
from lacec.spark.tables import batches, read_records, read_refused, writing
from lacec.store.importing import Batch, import_streams, open_files
from lacec.store.store import Store
from tests.cli.run import lacec
from tests.records import made
from tests.spark.samples import (
    environment_without_java,
    hashes,
    hostile_streams,
    refused_in,
    rows_in,
    write_streams,
    write_table,
)
from tests.store.samples import plex, samples
from tests.store.test_import import forged, stream_of

Ingest = Callable[..., Ingested]


@pytest.fixture
def run(spark: SparkSession) -> Ingest:
    """Ingest by the session that is open."""

    def opened() -> AbstractContextManager[SparkSession]:
        return nullcontext(spark)

    return lambda paths, out, **options: ingest(paths, out, spark=opened, **options)


def imported(store: Path, *paths: Path) -> Batch:
    """What a store says of the same files."""
    total = Batch()

    def on_batch(batch: Batch) -> None:
        total.admitted.extend(batch.admitted)
        total.refused.extend(batch.refused)

    with Store.create(store) as target:
        import_streams(target, open_files(paths), on_batch)
    return total


def test_what_a_store_refuses_is_refused_and_nothing_else(
    run: Ingest, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Source, offset, name and message; the rest is admitted, with the facts that it has (020)."""
    monkeypatch.setattr(sources, "UNIT_BYTES", 100_000)  # a file in parts
    monkeypatch.setattr(sources, "MOST_UNITS", 6)
    folder = write_streams(tmp_path / "records", hostile_streams())
    (folder / "large").write_bytes(stream_of([plex(n) for n in range(900)]) + forged())
    missing = tmp_path / "missing"
    expected = imported(tmp_path / "store", folder, missing)
    found = run([folder, missing], tmp_path / "out")
    assert refused_in(tmp_path / "out") == sorted(set(expected.refused))
    assert found.refused == len(expected.refused)
    assert found.refusals == sorted(expected.refused)[:20]
    with Store.open(tmp_path / "store", read_only=True) as store:
        rows = sorted(row_of(parse_record(data)) for _, _, data in store.records())
    assert rows_in(tmp_path / "out") == rows
    assert (found.admitted, found.known) == (len(rows), 0)
    assert {each.name for each in expected.refused} > {"wrong-digest", "wrong-signature"}
    assert read_refused(spark, tmp_path / "out").count() == len(set(expected.refused))


def test_a_store_a_file_and_a_table_give_the_same_rows(
    run: Ingest, spark: SparkSession, tmp_path: Path
) -> None:
    records = list(samples())
    (tmp_path / "file").write_bytes(stream_of(records))
    imported(tmp_path / "store", tmp_path / "file")
    values: list[bytes | None] = [record.data for record in records]
    table = write_table(tmp_path / "some.parquet", [*values, forged()], rows=10)
    expected = sorted(map(row_of, records))
    for number, source in enumerate((tmp_path / "file", tmp_path / "store", table)):
        out = tmp_path / f"out [{number}] {{a,b}} ?*%20"  # names are no patterns
        found = run([source], out)
        assert rows_in(out) == expected
        assert (found.admitted, found.batch) == (len(records), 1)
        assert read_records(spark, out).count() == len(records)
    at = forged().index(b"\nSignature: ") + len("\nSignature: ")
    assert [tuple(each)[:3] for each in refused_in(out)] == [
        (f"{table}, row {len(records) + 1}", at, "wrong-signature")
    ]


def test_a_damaged_record_of_a_store_is_named(run: Ingest, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store") as store:
        store.add(list(samples()))
        with store.writing():
            change = "UPDATE records SET data = ? WHERE id = ?"
            store.connection.execute(change, (samples()[4].data[:-1] + b"?", 5))
            store.connection.execute(change, (samples()[0].data, 6))
            store.connection.execute(change, (forged(), 7))
        problems = sorted((each.where, each.name, each.message) for each in store.verify())
    found = run([tmp_path / "store"], tmp_path / "out")
    told = [
        (each.source.removeprefix(f"{tmp_path / 'store'}, "), each.name, each.message)
        for each in found.refusals
    ]
    assert sorted(told)[:2] == problems[:2]
    assert len(told) == 3
    assert found.admitted == len(samples()) - 3


def test_equal_records_count_once_and_only_new_ones_are_added(
    run: Ingest, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "UNIT_BYTES", 3000)
    out = tmp_path / "out"
    many = [plex(n) for n in range(60)]
    for name, some in (("a", many[:30]), ("b", many[20:40]), ("c", many[:5] + many[:5])):
        (tmp_path / name).write_bytes(stream_of(some))
    bad = tmp_path / "bad"
    bad.write_bytes(b"rubbish")
    files = [tmp_path / "a", tmp_path / "b", tmp_path / "c", bad]
    first = run(files, out)
    assert (first.admitted, first.known, first.refused, first.batch) == (40, 0, 1, 1)
    # Nothing is new: no batch.
    again = run(files, out)
    assert (again.admitted, again.known, again.refused, again.batch) == (0, 40, 1, None)
    (tmp_path / "d").write_bytes(stream_of(many[35:] + many[50:]))
    third = run([tmp_path / "d", tmp_path / "a"], out)
    assert (third.admitted, third.known, third.batch, third.batches) == (20, 35 - 5 + 5, 2, 2)
    assert rows_in(out) == sorted(map(row_of, many))
    assert [
        each.hash for each in read_records(spark, out).select("hash").orderBy("hash").collect()
    ] == hashes(many)
    assert len(refused_in(out)) == 1
    # A third batch is compared with both before it.
    fourth = run([tmp_path / "d", tmp_path / "b"], out)
    assert (fourth.admitted, fourth.known, fourth.batch) == (0, 40, None)


def test_nothing_to_read_is_no_batch(run: Ingest, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run([tmp_path / "empty"], tmp_path / "out") == Ingested()
    assert read_records(spark, tmp_path / "out").count() == 0


def test_limits_are_those_that_are_given(run: Ingest, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(made.blob(b"x" * 100).data)
    found = run([tmp_path / "one"], tmp_path / "out", limits=RecordLimits(blob_bytes=99))
    assert [each.name for each in found.refusals] == ["blob-too-large"]


def test_a_large_record_is_one_of_many(run: Ingest, tmp_path: Path) -> None:
    large = made.blob(bytes(32 * 2**20))
    values: list[bytes | None] = [made.seal().data, large.data, made.plex().data]
    found = run([write_table(tmp_path / "some.parquet", values)], tmp_path / "out")
    assert (found.admitted, found.refused) == (3, 0)
    assert max(row.size for row in rows_in(tmp_path / "out")) == len(large.data)


# Folders.


def test_one_process_at_a_time_writes(run: Ingest, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(made.seal().data)
    with writing(tmp_path / "out"), pytest.raises(SparkError, match="another process"):
        run([tmp_path / "one"], tmp_path / "out")
    assert run([tmp_path / "one"], tmp_path / "out").batch == 1


def test_a_folder_of_something_else_is_left_alone(run: Ingest, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(made.seal().data)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SparkError, match="is not empty, and has no ingested records"):
        run([tmp_path / "one"], tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(SparkError, match="cannot be written: "):
        run([tmp_path / "one"], tmp_path / "one")


def test_folders_that_cannot_be_read_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SparkError, match="is not there: run `lacec spark ingest` first"):
        read_records(spark, tmp_path / "missing")
    with pytest.raises(SparkError, match="has no ingested records"):
        read_records(spark, tmp_path)
    for text, said in (
        ('{"layout": 2}', "has the layout 2, and this lacec reads 1"),
        ("{", "cannot be read: "),
        ("[]", "cannot be read: "),
    ):
        (tmp_path / "lacec.json").write_text(text)
        with pytest.raises(SparkError, match=said):
            read_records(spark, tmp_path)
        with pytest.raises(SparkError, match=said), writing(tmp_path):
            pass


# Faults.


def _workers() -> list[int]:
    """The processes in which executors of this one run Python."""
    parents, commands = {}, {}
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                stat = (each / "stat").read_text().rpartition(")")[2].split()
                commands[int(each.name)] = (each / "cmdline").read_bytes()
            except OSError:  # it has just ended
                continue
            parents[int(each.name)] = int(stat[1])
    daemons = {n for n, command in commands.items() if b"pyspark.daemon" in command}

    def ours(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return [n for n in daemons if parents.get(n) in daemons and ours(n)]


def _many(folder: Path) -> tuple[Path, list[Record]]:
    """Many records in many files, and some that are refused."""
    records = [made.seal(data=b"%d" % n) for n in range(200)]
    streams = [stream_of(records[n : n + 10]) + b"rubbish" for n in range(0, 200, 10)]
    return write_streams(folder, streams), records


def test_a_worker_that_is_killed_is_not_missed(
    run: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "UNIT_BYTES", 10_000)
    monkeypatch.setattr("lacec.spark.ingest._LOOK", 0.01)
    folder, records = _many(tmp_path / "records")
    killed: list[int] = []

    def on_progress(stage: str, done: int, total: int) -> None:
        if stage == "checking records" and 0 < done < total / 2 and not killed:
            for process in _workers():
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    found = run([folder], tmp_path / "out", on_progress=on_progress)
    assert killed
    assert (found.admitted, found.refused) == (200, 20)
    assert rows_in(tmp_path / "out") == sorted(map(row_of, records))
    assert len(refused_in(tmp_path / "out")) == 20


_SMALL_UNITS = """
import sys
from lacec.spark import sources
sources.UNIT_BYTES = 10_000
from lacec.__main__ import main
main()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing_that_is_seen(
    run: Ingest, spark: SparkSession, tmp_path: Path, how: signal.Signals
) -> None:
    """And from a machine without Java; running again gives the tables of an undisturbed run."""
    folder, records = _many(tmp_path / "records")
    out = tmp_path / "out"
    command = [sys.executable, "-c", _SMALL_UNITS, "spark", "ingest", str(folder)]
    with subprocess.Popen(
        [*command, "--out", str(out), "--memory", "512m"],
        env=environment_without_java(tmp_path / "bin"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while process.poll() is None and not list(out.glob(".staging-*/*.done")):
            time.sleep(0.01)
        process.send_signal(how)
        said = process.communicate()
    assert said == (b"", b"")
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    assert batches(out) == []
    assert read_records(spark, out).count() == 0
    assert bool(list(out.glob(".staging-*"))) == (how == signal.SIGKILL)
    found = run([folder], out)
    assert (found.admitted, found.refused, found.batch) == (200, 20, 1)
    assert rows_in(out) == sorted(map(row_of, records))
    assert list(out.glob(".staging-*")) == []


# The command.


def test_the_command_says_what_became_of_the_records(spark: SparkSession, tmp_path: Path) -> None:
    assert spark.getActiveSession() is not None  # which the command uses
    (tmp_path / "records").write_bytes(stream_of(list(samples())) + b"rubbish")
    arguments = ("spark", "ingest", str(tmp_path / "records"), "--out", str(tmp_path / "out"))
    first = lacec(*arguments)
    at = len(stream_of(list(samples())))
    assert first.code == 1
    assert first.out == f"{len(samples())} admitted, 0 known, 1 refused\n"
    assert first.err.splitlines()[0].startswith("error[not-a-record]: ")
    assert first.err.splitlines()[1] == f" --> {tmp_path / 'records'}, byte {at}"
    second = lacec(*arguments, "--json")
    assert second.code == 1
    assert [(each["source"], each["offset"]) for each in second.document["refusals"]] == [
        (str(tmp_path / "records"), at)
    ]
    counts = {name: value for name, value in second.document.items() if name != "refusals"}
    assert counts == {
        "admitted": 0,
        "known": len(samples()),
        "refused": 1,
        "batch": None,
        "batches": 1,
    }


def test_what_is_wrong_is_said_in_a_line(spark: SparkSession, tmp_path: Path) -> None:
    table = write_table(tmp_path / "some.parquet", [made.seal().data])
    arguments = ("spark", "ingest", str(table), "--out", str(tmp_path / "out"))
    found = lacec(*arguments, "--column", "number")
    assert (found.code, found.out) == (1, "")
    assert found.err == f"error: {table}: the column `number` is int64, and must be bytes\n"
    assert lacec(*arguments, "--column", "z", "--json").document == {
        "error": f"{table}: there is no column `z`"
    }
    assert lacec(*arguments, "--master", "local", "--remote", "sc://here").code == 2
    assert lacec("spark", "ingest", "", "--out", "x").code == 2
    assert spark.range(1).count() == 1  # the session is still there
