"""Failures of Spark in one line: Java's traces and Python's become a SparkError."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lacec.core.errors import SparkError

_VERSIONS = re.compile(r"PYTHON_VERSION_MISMATCH\] (.*)")
# What an exception of Python says at the end of its trace, within one of Java; or one of Java.
_RAISED = re.compile(r"^(?:: )?(?:[a-z_]\w*\.)*([A-Z]\w*(?:Error|Exception)): (.*)$", re.MULTILINE)


@contextmanager
def clear_errors(failed: str = "the work on Spark failed") -> Iterator[None]:
    """Let what is done with Spark fail with a SparkError that has one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise SparkError(f"{failed}: {_reason(str(error))}") from None
    except (ConnectionRefusedError, ConnectionResetError) as error:
        raise SparkError(f"Spark has ended: {error}") from None


def _was_interrupted(error: BaseException) -> bool:
    """Whether it came of an interrupt, after which Spark says one thing more to the JVM."""
    cause = error.__context__
    return cause is not None and (isinstance(cause, KeyboardInterrupt) or _was_interrupted(cause))


def _reason(text: str) -> str:
    """The one line that says most."""
    if found := _VERSIONS.search(text):
        return found.group(1)
    raised = _RAISED.findall(text)
    inner = [f"{name}: {message}" for name, message in raised if message.strip()]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (inner[-1] if inner else lines[0] if lines else "nothing was said")[:500]
