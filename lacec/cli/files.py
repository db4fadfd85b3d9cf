"""Reading sources for a command: files, folders, standard input, the standard library."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import typer

from lacec.core.limits import Limits
from lacec.core.resources import LIBRARY, source_path, stdlib_names
from lacec.pipeline import Input

STDIN = "<stdin>"


def read_inputs(names: Iterable[str], limits: Limits) -> list[Input]:
    """Several sources, of which standard input may be one."""
    names = list(names)
    if names.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once")
    return [read_input(name, limits) for name in names]


def read_input(name: str, limits: Limits) -> Input:
    """A name from the command line and its bytes: no more than one over the limit."""
    return read_file(name, limits.source_bytes + 1)


def read_file(name: str, most: int) -> tuple[str, bytes]:
    """The name to show and at most so many bytes of a file, standard input or std:NAME."""
    return shown(name), b"".join(_pieces(name, most))


def read_pieces(name: str) -> Iterator[bytes]:
    """All of a file or of standard input, piece by piece."""
    return _pieces(name, sys.maxsize)


def shown(name: str) -> str:
    """What to call a file in messages."""
    return STDIN if name == "-" else name


def _pieces(name: str, most: int) -> Iterator[bytes]:
    """Piece by piece, so that a large limit alone takes no memory."""
    try:
        with _open(name) as file:
            while most > 0 and (piece := file.read(min(most, 1 << 20))):
                yield piece
                most -= len(piece)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot read {name}: {reason}") from None


def _open(name: str) -> AbstractContextManager[BinaryIO]:
    if name == "-":
        if sys.stdin is None:
            raise typer.BadParameter("standard input is closed")
        return nullcontext(sys.stdin.buffer)
    if name.startswith(LIBRARY) and name.removeprefix(LIBRARY) not in stdlib_names():
        listed = ", ".join(f"{LIBRARY}{known}" for known in stdlib_names())
        raise typer.BadParameter(f"there is no {name}; the standard library has {listed}")
    return source_path(name).open("rb")


def expand(names: Iterable[str]) -> list[str]:
    """Folders stand for the *.lace files below them; each file once."""
    found: dict[str, None] = {}
    for name in names:
        if name == "-" or not os.path.isdir(name):
            found[name] = None
            continue
        below = sorted(str(file) for file in Path(name).rglob("*.lace") if file.is_file())
        if not below:
            raise typer.BadParameter(f"the folder {name} has no *.lace files")
        found.update(dict.fromkeys(below))
    return list(found)


def replace_file(path: Path, content: bytes, hint: str | None = None) -> None:
    """Write beside the file and rename, so that an interrupted run loses nothing.

    What is there and is no file, as /dev/stdout, is written to as it is.
    """
    target = path.resolve()
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        handle, beside = tempfile.mkstemp(prefix=target.name, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(beside, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"cannot write {path}: {reason}"
        raise typer.BadParameter(message, param_hint=hint) from None


def _umask() -> int:
    """It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
