"""A Spark session: in this process unless told, on a cluster, or through Spark Connect.

In: where Spark is, and how much memory it may take. Out: a SparkSession that writes nothing
to the terminal. A local one needs no Java on the machine, listens on loopback alone, and
runs the Python that runs this.
"""

import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING
from weakref import finalize

from lacec.core.errors import SparkError
from lacec.spark.failures import clear_errors
from lacec.spark.java import find_java, make_launcher
from lacec.store.signatures import module_folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Opener = Callable[[], "AbstractContextManager[SparkSession]"]
"""What opens a session, for as long as it is used."""

MEMORY = "2g"
# How often a task is tried: a worker that was killed is not the end of a run.
TRIES = 4

# A short start: half of it is the compiler, and most runs are over before it pays. That Spark's own
# classes are well formed need not be found out each time.
_SHORT = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:MetaspaceSize=256m",  # before which nothing is collected to make room for classes
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
_LONG = ("-XX:+UseParallelGC",)

_LOG = """\
rootLogger.level = error
rootLogger.appenderRef.all.ref = all
appender.all.type = Console
appender.all.name = all
appender.all.target = SYSTEM_ERR
appender.all.layout.type = PatternLayout
appender.all.layout.pattern = %m%n
"""

# What any session has; all of it can be set while Spark runs.
_SQL: dict[str, bool | float | int | str | None] = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Otherwise each expression asks the JVM several times where in Python it was made.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
# What the Spark that we start has.
_STARTED: dict[str, bool | float | int | str | None] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    # No checksum in a file of its own beside each file, for which two processes more are started.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}
# What would lead a local session somewhere else.
_ASTRAY = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "HADOOP_CONF_DIR")


# What Spark imports from outside, and what it imports for Connect besides.
_NEEDED = ("pyspark", "pyarrow", "pandas")
_NEEDED_BY_CONNECT = ("grpc", "grpc_status", "google.rpc", "zstandard")


def check_installed() -> None:
    """SparkError unless all of `lacec[spark]` is there."""
    for name in _NEEDED:
        if not _is_installed(name):
            raise SparkError(f"{name} is not installed: install `lacec[spark]`")


def _check_connect() -> None:
    """SparkError unless a session through Connect has all it needs."""
    for name in _NEEDED_BY_CONNECT:
        if _is_installed(name):
            continue
        if name == "zstandard" and sys.version_info >= (3, 15):
            raise SparkError(
                "Spark Connect needs zstandard, which has no release for Python 3.15 and later: "
                "use Python 3.14, or a master"
            )
        raise SparkError(f"Spark Connect needs {name}: install `lacec[spark]`")


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:  # not even the package around it
        return False


def open_session(
    *,
    master: str | None = None,
    remote: str | None = None,
    memory: str | None = None,
    long: bool = False,
) -> "SparkSession":
    """A session: local, of the cluster `master`, or of the Connect server `remote`.

    `memory` is what the driver may take, as in `4g`; a local session has no other memory.
    `long` starts slower, and computes faster once it is warm. SparkError if it cannot be.
    """
    check_installed()
    from pyspark.sql import SparkSession

    if master is not None and remote is not None:
        raise SparkError("give a master or a Connect server, not both")
    if remote is not None:
        _check_connect()
    # On Python 3.15 there is no older one. Columns go to Spark by Arrow, and none by pandas.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    builder = SparkSession.Builder().appName("lacec").config(map=_SQL)
    if remote is not None and not remote.startswith("local"):
        return _opened(builder.remote(remote), {})
    local = remote or master or f"local[*,{TRIES}]"
    started = {**_STARTED, "spark.driver.memory": memory or MEMORY}
    if local.startswith("local"):
        started |= {**_LOCAL, "spark.sql.shuffle.partitions": str(os.cpu_count() or 1)}
    builder = builder.config(map=started)
    if remote is not None:
        builder = builder.remote(remote)
    else:
        builder = builder.config("spark.api.mode", "classic").master(local)
    return _start(builder, local, long)


def _start(builder: "SparkSession.Builder", master: str, long: bool) -> "SparkSession":
    """The session of a new JVM, for which everything is in place as long as it starts."""
    local = master.startswith("local")
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="lacec-spark-"))
        folder = Path(name)
        log, settings = folder / "log", folder / "log4j2.properties"
        settings.write_text(_LOG, encoding="utf-8")
        options = [f"-Dlog4j2.configurationFile={settings.as_uri()}"]
        options += _LONG if long or not local else _SHORT
        make_launcher(folder, find_java(), options, log)
        changed: dict[str, str | None] = {"JAVA_HOME": name, "SPARK_REMOTE": None}
        if local:
            changed |= dict.fromkeys(_ASTRAY)
            changed |= {
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
                "PYSPARK_DRIVER_PYTHON": sys.executable,
                # Workers load nothing from the current folder: who knows who writes there.
                "PYTHONSAFEPATH": "1",
                "PYTHONPATH": os.pathsep.join(module_folders()),
            }
        try:
            session = _opened(builder, changed)
        except SparkError as error:
            said = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
            # The lines of a trace begin with white space.
            last = [line for line in said if line[:1].strip()][-1:] or [str(error)]
            raise SparkError(f"Spark does not start: {last[0]}") from None
        if master.startswith("local-cluster"):
            # Executors are processes that the JVM starts whenever it needs one.
            finalize(session, stack.pop_all().close)
        return session


def _opened(
    builder: "SparkSession.Builder", environment: Mapping[str, str | None]
) -> "SparkSession":
    try:
        with (
            clear_errors("Spark cannot be used"),
            _environment(environment),
            _interrupts(),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            return builder.getOrCreate()
    except (OSError, RuntimeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise SparkError(f"Spark cannot be used: {lines[0]}") from None


@contextmanager
def _interrupts() -> Iterator[None]:
    """Leave an interrupt what it was.

    The handler of Spark talks to the JVM in the middle of whatever is being said to it.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and current_thread() is main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _environment(changed: Mapping[str, str | None]) -> Iterator[None]:
    """The variables changed for a while; None: not there."""
    before = {name: os.environ.get(name) for name in changed}
    _set(changed)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def session(
    *,
    master: str | None = None,
    remote: str | None = None,
    memory: str | None = None,
    long: bool = False,
) -> "Iterator[SparkSession]":
    """The session that is open already; or one that ends with this."""
    check_installed()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    opened = open_session(master=master, remote=remote, memory=memory, long=long)
    try:
        yield opened
    finally:
        opened.stop()
