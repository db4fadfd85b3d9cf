"""What the commands on Spark share, without Spark: progress, and failures in one line."""

import os
import pty
import sys
from contextlib import suppress

import pytest

from lacec.cli.commands.spark.common import progress
from lacec.core.errors import SparkError
from lacec.spark.failures import clear_errors


def test_progress_shows_the_stage_and_how_much_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    master, terminal = pty.openpty()
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with progress() as tell:
            tell("starting Spark", 0, 0)
            tell("checking records", 0, 4_000_000)
            tell("checking records", 1_000_000, 4_000_000)
    shown = b""
    with suppress(OSError):  # as a terminal says that nobody has it open any more
        while piece := os.read(master, 1 << 16):
            shown += piece
    os.close(master)
    assert b"checking records" in shown
    assert b"1.0/4.0 MB" in shown


def test_there_is_no_progress_where_there_is_no_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with progress() as tell:
        tell("checking records", 1, 2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in "
            "driver: 3.11.\nPlease check environment variables.\n\tat org.apache.spark.Thing",
            "Python in worker has different version: 3.12 than that in driver: 3.11.",
        ),
        (
            "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
            '  File "x.py", line 1\nlacec.errors.StoreError: it is gone\n\tat java.base/Thread.run',
            "StoreError: it is gone",
        ),
        ("[PATH_NOT_FOUND] Path does not exist: file:/x.\nJVM stacktrace:\norg.apache", None),
        ("", "nothing was said"),
    ],
)
def test_a_failure_of_spark_is_one_line(text: str, said: str | None) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(SparkError) as caught, clear_errors():
        raise PySparkException(text)
    expected = said or "[PATH_NOT_FOUND] Path does not exist: file:/x."
    assert str(caught.value) == f"the work on Spark failed: {expected}"


def test_a_spark_that_has_ended_is_named() -> None:
    with pytest.raises(SparkError, match="Spark has ended: refused"), clear_errors():
        raise ConnectionRefusedError("refused")


def test_who_stops_reading_what_is_printed_is_not_spark() -> None:
    """As in `lacec spark evaluate … | head -1`."""
    with pytest.raises(BrokenPipeError), clear_errors():
        raise BrokenPipeError("Broken pipe")


def test_an_interrupt_stays_one_whatever_spark_makes_of_it() -> None:
    from py4j.protocol import Py4JError

    error = Py4JError("Answer from Java side is empty")
    error.__context__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), clear_errors():
        raise error
