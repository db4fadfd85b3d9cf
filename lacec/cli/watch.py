"""Waiting for files to change: their times and sizes are looked at a few times a second."""

import time
from collections.abc import Iterable

from lacec.project.sources import FileState, file_state

SECONDS = 0.2
State = dict[str, FileState]


def state_of(paths: Iterable[str]) -> State:
    return {path: file_state(path) for path in paths}


def pause() -> None:
    time.sleep(SECONDS)
