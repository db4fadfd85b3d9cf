"""Waiting for files to change: their times and sizes are looked at a few times a second."""

import os
import time
from collections.abc import Iterable

SECONDS = 0.2
State = dict[str, tuple[int, int] | None]


def state_of(paths: Iterable[str]) -> State:
    """When each file changed last, and its size; None for one that is not there."""
    return {path: _state(path) for path in paths}


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def pause() -> None:
    time.sleep(SECONDS)
