"""Files of segments: written whole and synced before anybody is told, checked before use.

A file is a magic, the length of a header, the header in JSON, and the arrays. The header
says where each array is, and the BLAKE3 digest of each chunk of it. The digest of the
header stands in the list of segments. So opening a file reads its header alone, and no
byte of an array is used before its chunk was checked.
"""

import contextlib
import json
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from blake3 import blake3

from lacec.core.predicates import read_predicate
from lacec.store.segment import Array, DamagedError, Segment

_MAGIC = b"laceseg\x01"
_ALIGN = 64
_CHUNK = 1 << 20


def write_segment(folder: Path, segment: Segment) -> tuple[str, int, bytes]:
    """Write a segment; its name, its size and the digest of its header.

    When this returns, the file has its name and all its bytes, also after a loss of power.
    A folder that was lost is made again: all that was in it can be.
    """
    folder.mkdir(exist_ok=True)
    arrays = {name: np.ascontiguousarray(each) for name, each in segment.arrays().items()}
    header, places = _header(segment, arrays)
    digest = blake3(header).digest()
    name = f"{segment.first}-{segment.last}-{digest.hex()[:16]}.seg"
    temporary = folder / f".{name}.{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
            for array_name, array in arrays.items():
                file.seek(places[array_name])
                file.write(array.data)
            file.truncate(_after(places, arrays))
            file.flush()
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        os.replace(temporary, folder / name)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(folder)
    return name, size, digest


def segment_digest(segment: Segment) -> bytes:
    """The digest that a file of the segment has."""
    return blake3(_header(segment, segment.arrays())[0]).digest()


def _header(segment: Segment, arrays: dict[str, Array]) -> tuple[bytes, dict[str, int]]:
    """The header, and where in the file each array is."""
    at = 0
    sections: dict[str, Any] = {}
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).view(np.uint8).data
        sections[name] = {
            "at": at,
            "type": array.dtype.str,
            "items": len(array),
            "digests": [
                blake3(data[low : low + _CHUNK]).hexdigest() for low in range(0, len(data), _CHUNK)
            ],
        }
        at += -(-array.nbytes // _ALIGN) * _ALIGN
    document = {
        "first": segment.first,
        "last": segment.last,
        "strings": [segment.layer.first, segment.layer.count],
        "longest": segment.longest,
        "counts": {str(predicate): count for predicate, count in segment.counts.items()},
        "arrays": sections,
    }
    header = json.dumps(document, separators=(",", ":")).encode()
    start = _start(len(header))
    return header, {name: start + section["at"] for name, section in sections.items()}


def _start(header: int) -> int:
    """Where the arrays begin."""
    return -(-(len(_MAGIC) + 8 + header) // _ALIGN) * _ALIGN


def _after(places: dict[str, int], arrays: dict[str, Array]) -> int:
    return max(places[name] + array.nbytes for name, array in arrays.items())


def sync_folder(folder: Path) -> None:
    """See to it that a new name in a folder survives a loss of power.

    Windows opens no folders, so there a name is safe once the file system has written its journal.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Mapped:
    """The arrays of a file; a chunk is checked when something of it is first read."""

    def __init__(self, path: Path, size: int, digest: bytes) -> None:
        """Map a file. FileNotFoundError if it is gone, DamagedError if it is not as written."""
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size != size or size < len(_MAGIC) + 8:
                raise DamagedError(f"{path.name} has another size than it had")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(self._map[len(_MAGIC) : len(_MAGIC) + 8], "little")
        header = self._map[len(_MAGIC) + 8 : len(_MAGIC) + 8 + min(length, size)]
        if self._map[: len(_MAGIC)] != _MAGIC or blake3(header).digest() != digest:
            raise DamagedError(f"the header of {path.name} is not as it was written")
        self._name = path.name
        self._start = _start(len(header))
        self.header: dict[str, Any] = json.loads(header)
        self._checked: dict[str, bytearray] = {
            name: bytearray(len(section["digests"]))
            for name, section in self.header["arrays"].items()
        }

    def slice(self, name: str, low: int, high: int | None) -> Array:
        section = self.header["arrays"][name]
        kind = np.dtype(section["type"])
        high = section["items"] if high is None else min(high, section["items"])
        low = min(low, high)
        self._check(name, low * kind.itemsize, high * kind.itemsize)
        if low == high:
            return np.empty(0, kind)
        at = self._start + section["at"] + low * kind.itemsize
        return np.frombuffer(self._map, kind, high - low, at)

    def _check(self, name: str, low: int, high: int) -> None:
        section, checked = self.header["arrays"][name], self._checked[name]
        size = section["items"] * np.dtype(section["type"]).itemsize
        start = self._start + section["at"]
        with memoryview(self._map) as view:
            for chunk in range(low // _CHUNK, -(-high // _CHUNK)):
                if checked[chunk]:
                    continue
                end = min((chunk + 1) * _CHUNK, size)
                data = view[start + chunk * _CHUNK : start + end]
                if blake3(data).hexdigest() != section["digests"][chunk]:
                    raise DamagedError(f"{name} in {self._name} is not as it was written")
                checked[chunk] = 1

    def check_all(self) -> None:
        """DamagedError unless every byte is as it was written."""
        for name in self.header["arrays"]:
            self.slice(name, 0, None)


def mapped_segment(source: Mapped, rebuild: Any) -> Segment:
    """The segment of a file."""
    header = source.header
    return Segment(
        header["first"],
        header["last"],
        tuple(header["strings"]),
        {read_predicate(text): count for text, count in header["counts"].items()},
        header["longest"],
        source,
        rebuild,
    )
