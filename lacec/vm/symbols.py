"""Text values and their ids: one flat UTF-8 buffer with offsets.

In: values, one at a time or as slices of bytes in bulk. Out: dense ids from 0.
A value has one id for as long as the table lives. Bulk values are found by hash
(64 bits, checked byte by byte), so that a million values make no Python strings;
values added one at a time go into a dict on top. A hash belongs to one value: others
that have it, which somebody must have made on purpose, are known to the dict alone.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from lacec.vm.arrays import unique_inverse
from lacec.vm.text import (
    PADDING,
    Words,
    copy_slices,
    equal_slices,
    first_words,
    hash_and_match,
    hash_slices,
)

Ids = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

# How many slices are thinned out together: their bytes stay in the processor's cache.
_BLOCK = 1 << 14
# Up to this many values, looking each up costs less than preparing a bulk look-up.
_FEW = 8
# Up to this many slices, making Python strings of them costs less than hashing in bulk.
_MODEST = 1 << 10


class Symbols:
    def __init__(self) -> None:
        self._count = 0
        self._bytes = 0
        self._buffer: Bytes = np.zeros(1024, np.uint8)
        self._offsets: Offsets = np.zeros(128, np.int64)
        self._dict: dict[str, int] = {}
        # Sorted hashes and the id of each, in runs of falling size, so that adding a
        # few values does not sort all the others again.
        self._runs: list[tuple[Words, Ids]] = []
        self._unhashed: list[int] = []
        self._heads: Words = np.zeros(0, np.uint64)
        self._headed = 0

    def __len__(self) -> int:
        return self._count

    @property
    def offsets(self) -> Offsets:
        """Where each value begins in the buffer; one more than there are values."""
        return self._offsets[: self._count + 1]

    @property
    def buffer(self) -> Bytes:
        """The bytes of all values, one after the other, then padding."""
        return self._buffer[: self._bytes + PADDING]

    @property
    def heads(self) -> Words:
        """The first eight bytes of each value as a little-endian word, zeros after its end."""
        done = self._headed
        if done < self._count:
            if len(self._heads) < self._count:
                heads = np.zeros(len(self._offsets), np.uint64)
                heads[:done] = self._heads[:done]
                self._heads = heads
            offsets = self._offsets[done : self._count + 1]
            self._heads[done : self._count] = first_words(self.buffer, offsets[:-1], offsets[1:])
            self._headed = self._count
        return self._heads[: self._count]

    def text(self, id: int) -> str:
        start, end = self._offsets[id], self._offsets[id + 1]
        return self._buffer[start:end].tobytes().decode("utf-8")

    def length(self, id: int) -> int:
        """How many bytes a value has."""
        return int(self._offsets[id + 1] - self._offsets[id])

    def texts(self, ids: Ids) -> list[str]:
        """The values of many ids; one Python string for each id that occurs."""
        wanted, inverse = unique_inverse(ids)
        starts, ends = self._offsets[wanted].tolist(), self._offsets[wanted + 1].tolist()
        raw = self._buffer.data
        strings = np.empty(len(wanted), object)
        strings[:] = [str(raw[s:e], "utf-8") for s, e in zip(starts, ends, strict=True)]
        return strings[inverse].tolist()  # type: ignore[no-any-return]

    def find(self, text: str) -> int:
        """The id of a value, or -1 when it was never added."""
        found = self._dict.get(text, -1)
        if found >= 0 or not self._runs:
            return found
        data, starts, ends = _joined([text.encode("utf-8")])
        ids, equal = self._look_up(data, starts, ends, hash_slices(data, starts, ends))
        if not equal[0]:
            return -1
        return self._dict.setdefault(text, int(ids[0]))

    def intern(self, text: str) -> int:
        """The id of a value, which is added if it is new."""
        found = self.find(text)
        return self._append(text) if found < 0 else found

    def intern_all(self, texts: Iterable[str]) -> Ids:
        """The ids of values from Python, each added if it is new."""
        known, texts = self._dict, list(texts)
        if self._runs:
            return self._intern_among_bulk(texts)
        # With nothing added in bulk the dict knows all.
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            encoded = [text.encode("utf-8") for text in new]
            joined = b"".join(encoded)
            self._reserve(len(new), len(joined))
            self._buffer[self._bytes : self._bytes + len(joined)] = np.frombuffer(joined, np.uint8)
            ends = self._bytes + np.cumsum(np.fromiter(map(len, encoded), np.int64, len(new)))
            first = self._count
            self._offsets[first + 1 : first + 1 + len(new)] = ends
            self._bytes += len(joined)
            self._count += len(new)
            known.update(zip(new, range(first, self._count), strict=True))
            self._unhashed.extend(range(first, self._count))
        return np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))

    def _intern_among_bulk(self, texts: list[str]) -> Ids:
        known = self._dict
        new = list(dict.fromkeys([text for text in texts if text not in known]))
        if len(new) > _FEW:
            ids = self.intern_slices(*_joined([text.encode("utf-8") for text in new]))
            known.update(zip(new, ids.tolist(), strict=True))
        return np.fromiter(map(self.intern, texts), np.int32, len(texts))

    def intern_slices(self, data: Bytes, starts: Offsets, ends: Offsets) -> Ids:
        """The ids of slices of `data`, each added if it is new.

        `data` has PADDING bytes after the last slice. New values are numbered in the
        order they first occur, except that one whose hash is another's comes later.
        """
        if not len(starts):
            return np.empty(0, np.int32)
        if len(starts) <= _MODEST and not self._runs:
            return self.intern_all(_texts(data, starts, ends))
        firsts: list[Rows] = []
        hashes: list[Words] = []
        among = np.empty(len(starts), np.intp)
        total = 0
        for block in _blocks(len(starts)):
            hashed, same_as = hash_and_match(data, starts[block], ends[block])
            first = np.flatnonzero(same_as == np.arange(len(same_as)))
            number = np.empty(len(same_as), np.intp)
            number[first] = np.arange(total, total + len(first))
            among[block] = number[same_as]
            firsts.append(first + block.start)
            hashes.append(hashed[first])
            total += len(first)
        rows = np.concatenate(firsts)
        if total <= _MODEST and not self._runs:
            return self.intern_all(_texts(data, starts[rows], ends[rows]))[among]
        return self.intern_hashed(data, starts[rows], ends[rows], np.concatenate(hashes))[among]

    def intern_hashed(self, data: Bytes, starts: Offsets, ends: Offsets, hashes: Words) -> Ids:
        """The same for slices whose hashes are known, best without many that are equal."""
        if not len(starts):
            return np.empty(0, np.int32)
        self._hash_dict()
        order = np.argsort(hashes)
        ordered = hashes[order]
        heads = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        first = np.minimum.reduceat(order, heads)
        same_as = np.empty(len(order), np.intp)
        same_as[order] = np.repeat(first, np.diff(heads, append=len(order)))
        later = np.flatnonzero(same_as != np.arange(len(order)))
        firsts = same_as[later]
        equal = equal_slices(data, starts[later], ends[later], data, starts[firsts], ends[firsts])
        known, found = self._look_up(data, starts[first], ends[first], ordered[heads])
        fresh = np.sort(first[known < 0])
        ids = np.empty(len(order), np.int32)
        ids[first] = known
        ids[fresh] = np.arange(self._count, self._count + len(fresh), dtype=np.int32)
        self._append_slices(data, starts[fresh], ends[fresh])
        self._remember(ordered[heads[known < 0]], ids[first[known < 0]])
        # What has the hash of another value is none of these.
        ids[first[~found & (known >= 0)]] = -1
        ids = ids[same_as]
        ids[later[~equal]] = -1
        rows = np.flatnonzero(ids < 0)
        if len(rows):
            ids[rows] = self._intern_colliding(data, starts[rows], ends[rows], hashes[rows])
        return ids

    def _intern_colliding(self, data: Bytes, starts: Offsets, ends: Offsets, hashes: Words) -> Ids:
        """The same for slices whose hashes all belong to values; perhaps to these very ones."""
        ids, found = self._look_up(data, starts, ends, hashes)
        others = np.flatnonzero(~found)
        texts = _texts(data, starts[others], ends[others])
        for row, text in zip(others.tolist(), texts, strict=True):
            known = self._dict.get(text, -1)
            ids[row] = self._append(text) if known < 0 else known
        return ids

    def _look_up(
        self, data: Bytes, starts: Offsets, ends: Offsets, hashes: Words
    ) -> tuple[Ids, npt.NDArray[np.bool_]]:
        """The id that has each hash, -1 for none, and whether its value is the slice."""
        ids = np.full(len(hashes), -1, np.int32)
        for run, run_ids in self._runs:
            at = np.searchsorted(run, hashes)
            at[at == len(run)] = 0
            hit = run[at] == hashes
            ids[hit] = run_ids[at[hit]]
        rows = np.flatnonzero(ids >= 0)
        known = ids[rows]
        found = np.zeros(len(hashes), bool)
        found[rows] = equal_slices(
            data,
            starts[rows],
            ends[rows],
            self.buffer,
            self._offsets[known],
            self._offsets[known + 1],
        )
        return ids, found

    def _hash_dict(self) -> None:
        """Hash what was added one at a time since, so that bulk look-ups see it."""
        if not self._unhashed:
            return
        ids = np.array(self._unhashed, np.int32)
        self._unhashed = []
        starts, ends = self._offsets[ids], self._offsets[ids + 1]
        hashes = hash_slices(self.buffer, starts, ends)
        order = np.argsort(hashes)
        order = order[np.concatenate(([True], np.diff(hashes[order]) != 0))]
        taken = self._look_up(self.buffer, starts, ends, hashes)[0] >= 0
        order = order[~taken[order]]
        self._remember(hashes[order], ids[order])

    def _remember(self, hashes: Words, ids: Ids) -> None:
        """Add a run; one that is no longer than twice the next is merged with it."""
        while self._runs and len(self._runs[-1][0]) <= 2 * len(hashes):
            run, run_ids = self._runs.pop()
            hashes, ids = np.concatenate((run, hashes)), np.concatenate((run_ids, ids))
            order = np.argsort(hashes, kind="stable")
            hashes, ids = hashes[order], ids[order]
        if len(hashes):
            self._runs.append((hashes, ids))

    def _append(self, text: str) -> int:
        """Add a value that is new, one the bulk look-up need not know yet."""
        data = text.encode("utf-8")
        self._reserve(1, len(data))
        self._buffer[self._bytes : self._bytes + len(data)] = np.frombuffer(data, np.uint8)
        self._bytes += len(data)
        self._dict[text] = self._count
        self._unhashed.append(self._count)
        self._count += 1
        self._offsets[self._count] = self._bytes
        return self._count - 1

    def _append_slices(self, data: Bytes, starts: Offsets, ends: Offsets) -> None:
        """Add values that are new; the caller sees to it that they are found again."""
        lengths = ends - starts
        self._reserve(len(starts), int(lengths.sum()))
        offsets = self._offsets[self._count : self._count + len(starts) + 1]
        np.cumsum(lengths, out=offsets[1:])
        offsets[1:] += self._bytes
        for block in _blocks(len(starts)):
            copy_slices(data, starts[block], ends[block], self._buffer, offsets[:-1][block])
        self._bytes = int(offsets[-1])
        self._count += len(starts)

    def _reserve(self, values: int, size: int) -> None:
        """Room for more; capacity doubles, so that adding a value costs what the value holds."""
        if self._count + values + 1 > len(self._offsets):
            offsets = np.zeros(max(2 * len(self._offsets), self._count + values + 1), np.int64)
            offsets[: self._count + 1] = self._offsets[: self._count + 1]
            self._offsets = offsets
        if self._bytes + size + PADDING > len(self._buffer):
            buffer = np.zeros(max(2 * len(self._buffer), self._bytes + size + PADDING), np.uint8)
            buffer[: self._bytes] = self._buffer[: self._bytes]
            self._buffer = buffer


def _blocks(count: int) -> list[slice]:
    return [slice(low, low + _BLOCK) for low in range(0, count, _BLOCK)]


def _texts(data: Bytes, starts: Offsets, ends: Offsets) -> list[str]:
    """Slices as Python strings."""
    if not len(starts):
        return []
    low = int(starts.min())
    raw = data[low : ends.max()].tobytes()
    spans = zip((starts - low).tolist(), (ends - low).tolist(), strict=True)
    if raw.isascii():
        text = raw.decode("ascii")
        return [text[start:end] for start, end in spans]
    return [raw[start:end].decode("utf-8") for start, end in spans]


def _joined(values: list[bytes]) -> tuple[Bytes, Offsets, Offsets]:
    """Values as slices of one buffer."""
    data = np.frombuffer(b"".join(values) + bytes(PADDING), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, values), np.int64, len(values)))
    return data, np.concatenate((np.zeros(1, np.int64), ends[:-1])), ends
