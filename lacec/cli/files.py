"""Reading sources for a command: files, folders, standard input, the standard library."""

import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from lacec.limits import Limits
from lacec.pipeline import Input
from lacec.resources import stdlib_names, stdlib_path

STDIN = "<stdin>"


def read_input(name: str, limits: Limits) -> Input:
    """A name from the command line and its bytes: no more than one over the limit."""
    most = limits.source_bytes + 1
    if name == "-":
        return STDIN, sys.stdin.buffer.read(most)
    path = Path(name)
    if name.startswith("std:"):
        path = stdlib_path(name[4:])
        if name[4:] not in stdlib_names():
            listed = ", ".join(f"std:{known}" for known in stdlib_names())
            raise typer.BadParameter(f"there is no {name}; the standard library has {listed}")
    try:
        with path.open("rb") as file:
            return name, file.read(most)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot read {name}: {reason}") from None


def expand(names: Iterable[str]) -> list[str]:
    """Folders stand for the *.lace files below them; each file once."""
    found: dict[str, None] = {}
    for name in names:
        path = Path(name)
        if name == "-" or not path.is_dir():
            found[name] = None
            continue
        below = sorted(str(file) for file in path.rglob("*.lace"))
        if not below:
            raise typer.BadParameter(f"the folder {name} has no *.lace files")
        found.update(dict.fromkeys(below))
    return list(found)
