"""The pins in constraints.txt: the newest versions that work on each Python that is claimed.

`make pins` refreshes them. Each Python is resolved for itself, with wheels wherever there are any,
and versions that differ get a marker. In: pyproject.toml. Out: constraints.txt.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
HEAD = "# The versions that the targets of the Makefile install: `make pins` refreshes them.\n"

# What has no wheel, and installs from its source without a compiler.
SOURCE_ONLY = frozenset({"pydatalog", "pylint-sarif-unofficial", "pyspark"})
SOURCE_ONLY_ON = {"3.15": frozenset({"pyyaml"})}  # its C part is left out where it has no wheel

# pip builds these from source, so what builds them is pinned as well.
BUILDERS = ("cython", "setuptools")

Pins = dict[str, str]
"""A version for each package."""


class NoIndexError(Exception):
    """The package index does not answer."""


def claimed() -> list[str]:
    """Return the Pythons of the classifiers, as in `3.11`, the oldest first."""
    classifiers = project()["project"]["classifiers"]
    found = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(classifiers))
    return sorted(found, key=version_key)


def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)


def extras() -> list[str]:
    return [*project()["project"]["optional-dependencies"]]


def version_key(python: str) -> int:
    return int(python.partition(".")[2])


def from_source(python: str) -> frozenset[str]:
    """Return the packages that are installed from source on a Python."""
    return SOURCE_ONLY | SOURCE_ONLY_ON.get(python, frozenset())


def read() -> dict[str, Pins]:
    """Return what constraints.txt pins for each Python that is claimed."""
    pins: dict[str, Pins] = {python: {} for python in claimed()}
    for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        pin, _, marker = line.partition(" ; ")
        name, _, version = pin.partition("==")
        for python, own in pins.items():
            if holds(marker, python):
                assert name not in own, f"{name} has two versions on {python}"
                own[name] = version
    return pins


def holds(marker: str, python: str) -> bool:
    """Return whether a marker, one that `write` makes, is true for a Python."""
    for part in filter(None, marker.split(" and ")):
        match = re.fullmatch(r"python_version (>=|<) '(3\.\d+)'", part)
        assert match, f"{part} is no marker of the pins"
        later = version_key(python) >= version_key(match[2])
        if later != (match[1] == ">="):
            return False
    return True


def resolve(python: str) -> Pins:
    """Return the newest versions for a Python, of which all but a few have wheels."""
    found: Pins = {}
    while True:
        # A package is known to be wanted only once it was found: then ask again, for its wheels.
        wheels = set(found) - from_source(python)
        text = compiled(python, ["--all-extras", "pyproject.toml", "-"], wheels, _build_needs())
        before, found = set(found), parsed(text)
        if set(found) <= before:
            return found


def _build_needs() -> str:
    return "\n".join([*project()["build-system"]["requires"], *BUILDERS])


def without_wheels(python: str, pins: Pins) -> str | None:
    """Return what the resolver says of the pins that have no wheel; None if each has one."""
    wanted = {name: version for name, version in pins.items() if name not in from_source(python)}
    lines = "\n".join(f"{name}=={version}" for name, version in wanted.items())
    try:
        compiled(python, ["--no-deps", "-"], set(wanted), lines)
    except LookupError as error:
        return str(error)
    return None


def compiled(python: str, options: list[str], wheels: set[str], given: str) -> str:
    """Return what `uv pip compile` prints; LookupError if there is no solution."""
    only = [word for name in sorted(wheels) for word in ("--only-binary", name)]
    command = f"""-m uv pip compile -q --no-config --no-header --no-annotate
        --cache-dir build/uv --upgrade
        --python-version {python} --python-platform x86_64-manylinux_2_28"""
    done = subprocess.run(
        [sys.executable, *command.split(), *only, *options],
        cwd=ROOT,
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode == 0:
        return done.stdout
    if "No solution found" in done.stderr:
        raise LookupError(done.stderr)
    raise NoIndexError(done.stderr)


def parsed(text: str) -> Pins:
    lines = [line.partition(" ;")[0] for line in text.splitlines() if "==" in line]
    return dict(line.split("==") for line in lines)


def merged(pins: dict[str, Pins]) -> str:
    """Return the text of constraints.txt: one line a version, with a marker where it needs one."""
    pythons = sorted(pins, key=version_key)
    lines = []
    for name in sorted({name for each in pins.values() for name in each}):
        runs: list[tuple[str | None, int, int]] = []  # a version, and from where to where
        for n, python in enumerate(pythons):
            version = pins[python].get(name)
            if runs and runs[-1][0] == version:
                runs[-1] = (version, runs[-1][1], n)
            else:
                runs.append((version, n, n))
        for version, first, last in runs:
            if version is None:
                continue
            bounds = []
            if first > 0:
                bounds.append(f"python_version >= '{pythons[first]}'")
            if last + 1 < len(pythons):
                bounds.append(f"python_version < '{pythons[last + 1]}'")
            marker = " and ".join(bounds)
            lines.append(f"{name}=={version}" + (f" ; {marker}" if marker else ""))
    return HEAD + "".join(f"{line}\n" for line in lines)


def main() -> None:
    pins = {}
    for python in claimed():
        print(f"Python {python} …", file=sys.stderr, flush=True)
        pins[python] = resolve(python)
    CONSTRAINTS.write_text(merged(pins), encoding="utf-8")


if __name__ == "__main__":
    main()
