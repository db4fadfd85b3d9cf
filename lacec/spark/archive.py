"""Our code in executors: as it is in local ones, from an archive in those of others.

In: a session. Out: functions for `mapInArrow` that run one of ours, once it has been seen
that executors have the same Python, can import what we send, and see the same folders.
Compiled packages cannot be imported from a zip, so Spark unpacks the archive; what is sent
by value puts it on the path, and imports lacec only then.
"""

import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, finalize

from lacec.core.errors import SparkError
from lacec.spark.failures import clear_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What lacec/records imports from outside; Spark brings pyarrow.
_MODULES = ("lacec", "blake3", "_btclib_libsecp256k1", "_cffi_backend")
_LEFT_OUT = ("__pycache__", "_resources")

OnBatches = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class Executors:
    """Those of a session, and the archive they have unpacked; None if they need none."""

    session: "SparkSession"
    archive: str | None

    def run(self, frame: "DataFrame", function: str, schema: Any, *arguments: Any) -> "DataFrame":
        """A function of a module of ours over the batches of a frame, as in `a.module:name`.

        It takes them and the arguments, which must be plain values.
        """
        return frame.mapInArrow(_shipped(self.archive, function, arguments), schema)


def prepare(session: "SparkSession", shared: Path) -> Executors:
    """The executors of a session, ready; SparkError if they cannot do the work.

    They must see the folder `shared` as this process does.
    """
    archive = None
    with clear_errors():
        if _are_elsewhere(session):
            archive = _send(session)
            _check(session, archive, shared)
    return Executors(session, archive)


def _are_elsewhere(session: "SparkSession") -> bool:
    """Whether executors may be other machines, or may have another Python."""
    from pyspark.sql.utils import is_remote

    master = session.conf.get("spark.master", "") or ""
    return is_remote() or not master.startswith("local") or master.startswith("local-cluster")


_SENT: "WeakKeyDictionary[SparkSession, str]" = WeakKeyDictionary()


def _send(session: "SparkSession") -> str:
    """The name of the archive that the executors of a session have; it is sent once.

    The file stays as long as the session does, for executors that start later.
    """
    if session not in _SENT:
        folder = tempfile.mkdtemp(prefix="lacec-spark-")
        finalize(session, shutil.rmtree, folder, ignore_errors=True)
        path = write_archive(Path(folder))
        session.addArtifacts(str(path), archive=True)
        _SENT[session] = path.name
    return _SENT[session]


def write_archive(folder: Path) -> Path:
    """A zip of lacec and what it needs in executors, named by its content."""
    from blake3 import blake3

    path = folder / "lacec.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _MODULES:
            spec = find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            top = Path(spec.origin)
            if spec.submodule_search_locations is not None:
                top = top.parent
            for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
                inside = file.relative_to(top.parent)
                if file.is_file() and not set(_LEFT_OUT) & set(inside.parts):
                    # Without its time: equal content is an equal archive.
                    archive.writestr(zipfile.ZipInfo(inside.as_posix()), file.read_bytes())
    digest = blake3(path.read_bytes()).hexdigest()[:16]
    return path.rename(folder / f"lacec-{digest}.zip")


def _shipped(archive: str | None, function: str, arguments: tuple[Any, ...]) -> OnBatches:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib

        if archive is not None:
            import os
            import sys

            from pyspark import SparkFiles

            folder = os.path.join(SparkFiles.getRootDirectory(), archive)
            if folder not in sys.path:
                sys.path.insert(0, folder)
        module, _, name = function.partition(":")
        yield from getattr(importlib.import_module(module), name)(batches, *arguments)

    return run


def _about() -> tuple[str, str]:
    """Which Python this is, and on what kind of machine."""
    return f"{platform.python_implementation()} {platform.python_version()}", (
        f"{sys.platform} {platform.machine()}"
    )


def _check(session: "SparkSession", archive: str, shared: Path) -> None:
    """Ask an executor who it is, and whether it can do what it will be asked for."""

    def ask(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import platform
        import sys

        import pyarrow as pa

        python = f"{platform.python_implementation()} {platform.python_version()}"
        machine = f"{sys.platform} {platform.machine()}"
        for _ in batches:
            values = [[python], [machine], [os.path.isdir(folder)]]
            yield pa.RecordBatch.from_arrays([pa.array(value) for value in values], names)

    names, folder = ["python", "machine", "sees"], str(shared.absolute())
    (found,) = (
        session.range(1).mapInArrow(ask, "python string, machine string, sees boolean").collect()
    )
    python, machine = _about()
    if found.python.rpartition(".")[0] != python.rpartition(".")[0] or found.machine != machine:
        raise SparkError(
            f"the executors have {found.python} on {found.machine}, and this is {python} on "
            f"{machine}: run lacec with the same version on the same kind of machine"
        )
    if not found.sees:
        raise SparkError(
            f"the executors do not see the folder {folder}: "
            "sources and results must be on a disk that all machines share"
        )
    loaded = Executors(session, archive).run(
        session.range(1), "lacec.spark.worker:say_version", "version string"
    )
    loaded.collect()
