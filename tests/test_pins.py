"""The pins: exact versions, in order, with a wheel for each Python that is claimed."""

import re
import sys

import pytest

from tests import pins

PIN = re.compile(
    r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==[0-9.]+(?:b[0-9]+)?"
    r"(?: ; (?P<marker>python_version (?:>=|<) '3\.\d+'(?: and python_version < '3\.\d+')?))?"
)


def test_constraints_pin_versions_and_nothing_else() -> None:
    lines = pins.CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    matches = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    assert matches
    assert None not in matches
    names = [match["name"] for match in matches if match]
    assert names == sorted(names)


def test_what_is_pinned_is_what_the_command_writes() -> None:
    text = pins.CONSTRAINTS.read_text(encoding="utf-8")
    assert pins.merged(pins.read()) == text


def test_this_python_is_claimed() -> None:
    assert f"3.{sys.version_info.minor}" in pins.claimed()


def test_versions_that_differ_get_a_marker() -> None:
    found = {
        "3.11": {"a": "1", "b": "1", "c": "1"},
        "3.12": {"a": "1", "b": "2", "c": "1"},
        "3.13": {"a": "1", "b": "2", "d": "1"},
    }
    assert pins.merged(found).splitlines()[1:] == [
        "a==1",
        "b==1 ; python_version < '3.12'",
        "b==2 ; python_version >= '3.12'",
        "c==1 ; python_version < '3.13'",
        "d==1 ; python_version >= '3.13'",
    ]


@pytest.mark.parametrize("python", pins.claimed())
def test_each_pin_has_a_wheel(python: str) -> None:
    try:
        missing = pins.without_wheels(python, pins.read()[python])
    except pins.NoIndexError as error:
        pytest.skip(f"the package index cannot be asked for Python {python}: {error}")
    assert missing is None, missing


def test_a_pin_without_a_wheel_is_found() -> None:
    """numpy 1.26.4 is years older than Python 3.15."""
    try:
        said = pins.without_wheels("3.15", {"numpy": "1.26.4", "rich": "15.0.0"})
    except pins.NoIndexError as error:
        pytest.skip(f"the package index cannot be asked: {error}")
    assert said is not None
    assert "numpy==1.26.4" in said
    assert "rich" not in said
