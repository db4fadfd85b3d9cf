"""Text values and their ids: flat UTF-8 text in layers.

In: values, one at a time or as slices of bytes in bulk. Out: dense ids from 0.
A value keeps its id. The layers below never change and may be shared; what is new goes
into a layer of the table's own, on top. Bulk values are found by hash (64 bits, checked
byte by byte), so that a million values make no Python strings; values added one at a
time go into a dict, and so do those whose hash is another value's, made on purpose.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from lacec.vm.arrays import Rows, unique_inverse
from lacec.vm.layers import Ids, Layer, common_count, freeze
from lacec.vm.text import (
    PADDING,
    Bytes,
    Offsets,
    Words,
    blocks,
    copy_slices,
    equal_slices,
    first_words,
    hash_and_match,
    hash_slices,
    join_values,
    slice_texts,
)

Slices = tuple[Bytes, Offsets, Offsets]

# Up to this many values, keeping them as Python strings costs less than adding them in bulk.
_MODEST, _FEW = 1 << 10, 8  # fewer ids than that are looked at one by one
# In place of an id: the hash is that of another value.
_COLLIDES = -2


class Symbols:
    def __init__(self, below: Sequence[Layer] = ()) -> None:
        self._below = tuple(below)
        self._first = sum(layer.count for layer in below)
        self._firsts = [*(layer.first for layer in below), self._first]
        self._count = 0  # of its own values, as all that follows
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
        self._universe = 0
        for layer in below:
            others = layer.others
            self._dict.update(zip(self.texts(others), others.tolist(), strict=True))

    def __len__(self) -> int:
        return self._first + self._count

    def universe(self) -> int:
        """A number that ids stay below, which seldom changes, so that indexes stay valid."""
        if len(self) > self._universe:
            self._universe = len(self) + len(self) // 8 + 64
        return self._universe

    def shared(self, other: "Symbols") -> int:
        """Up to which id, that one not included, ids mean the same here as there."""
        return len(self) if self is other else common_count(self._below, other._below)

    @property
    def offsets(self) -> Offsets:
        """Where each value of its own begins in the buffer; one more than there are."""
        return self._offsets[: self._count + 1]

    @property
    def buffer(self) -> Bytes:
        """The bytes of its own values, one after the other, then padding."""
        return self._buffer[: self._bytes + PADDING]

    def _heads_of(self, place: int) -> Words:
        if place < len(self._below):
            return self._below[place].heads
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

    def _parts(self, ids: Ids) -> list[tuple[int, Rows]]:
        """The layers that have these ids, and which rows are theirs; its own is the last."""
        places = np.searchsorted(self._firsts, ids, "right") - 1
        counts = np.bincount(places, minlength=len(self._firsts))
        return [(n, np.flatnonzero(places == n)) for n in np.flatnonzero(counts).tolist()]

    def _one_layer(self, ids: Ids) -> int | None:
        """The layer of all the ids, if there is one."""
        if not self._below or not len(ids):
            return len(self._below)
        place = bisect_right(self._firsts, int(ids.min())) - 1
        above = self._firsts[place + 1] if place < len(self._below) else len(self)
        return place if ids.max() < above else None

    def _flat(self, place: int) -> tuple[Bytes, Offsets]:
        if place == len(self._below):
            return self.buffer, self.offsets
        return self._below[place].buffer, self._below[place].offsets

    def heads(self, ids: Ids) -> Words:
        """The first eight bytes of each value as a little-endian word, zeros after its end."""
        place = self._one_layer(ids)
        if place is not None:
            return self._heads_of(place)[ids - self._firsts[place] if place else ids]
        found = np.empty(len(ids), np.uint64)
        for place, rows in self._parts(ids):
            found[rows] = self._heads_of(place)[ids[rows] - self._firsts[place]]
        return found

    def slices(self, ids: Ids) -> Slices:
        """Where the values are: a buffer, their starts and ends in it.

        Values of one layer stay where they are; those of several are copied together.
        """
        place = self._one_layer(ids)
        if place is None:
            return self._gather(ids)
        data, offsets = self._flat(place)
        local = ids - self._firsts[place] if place else ids
        return data, offsets[local], offsets[1:][local]

    def _gather(self, ids: Ids) -> Slices:
        parts = self._parts(ids)
        starts, ends = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        for place, rows in parts:
            offsets, local = self._flat(place)[1], ids[rows] - self._firsts[place]
            starts[rows], ends[rows] = offsets[local], offsets[1:][local]
        total = np.cumsum(ends - starts)
        if total[-1] > sum(len(self._flat(place)[0]) for place, _ in parts):
            # More bytes than there are: some values occur often, and are copied once.
            wanted, inverse = unique_inverse(ids)
            data, starts, ends = self._gather(wanted)
            return data, starts[inverse], ends[inverse]
        out = np.zeros(int(total[-1]) + PADDING, np.uint8)
        at = total - (ends - starts)
        for place, rows in parts:
            data = self._flat(place)[0]
            for block in blocks(len(rows)):
                some = rows[block]
                copy_slices(data, starts[some], ends[some], out, at[some])
        return out, at, total

    def _bytes_of(self, id: int) -> Bytes:
        place = bisect_right(self._firsts, id) - 1 if self._below else 0
        data, offsets = self._flat(place)
        local = id - self._firsts[place]
        return data[offsets[local] : offsets[local + 1]]

    def text(self, id: int) -> str:
        return self._bytes_of(id).tobytes().decode("utf-8")

    def length(self, id: int) -> int:
        """How many bytes a value has."""
        return len(self._bytes_of(id))

    def texts(self, ids: Ids) -> list[str]:
        """The values of many ids; one Python string for each id that occurs."""
        if len(ids) < _FEW:
            return [self.text(id) for id in ids.tolist()]
        wanted, inverse = unique_inverse(ids)
        data, starts, ends = self.slices(wanted)
        raw, strings = data.data, np.empty(len(wanted), object)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        strings[:] = [str(raw[start:end], "utf-8") for start, end in spans]
        return strings[inverse].tolist()  # type: ignore[no-any-return]

    def frozen(self) -> Layer:
        """Its own values as a layer that others can stand on."""
        heads = self._heads_of(len(self._below))
        return freeze(self.buffer.copy(), self.offsets.copy(), heads.copy(), self._below)

    def _is_all_in_dict(self) -> bool:
        return not self._runs and not self._below

    def find(self, text: str) -> int:
        """The id of a value, or -1 when it was never added."""
        return self.find_all([text])[0]

    def find_all(self, texts: Sequence[str]) -> list[int]:
        """The ids of values, -1 for each that was never added; one look-up finds all."""
        known = self._dict
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        if unknown and not self._is_all_in_dict():
            data, starts, ends = join_values([text.encode("utf-8") for text in unknown])
            ids, equal = self._look_up(data, starts, ends, hash_slices(data, starts, ends))
            found = zip(unknown, ids.tolist(), equal.tolist(), strict=True)
            known.update((text, id) for text, id, is_equal in found if is_equal)
        return [known.get(text, -1) for text in texts]

    def intern(self, text: str) -> int:
        """The id of a value, which is added if it is new."""
        found = self.find(text)
        return self._append(text) if found < 0 else found

    def intern_all(self, texts: Iterable[str]) -> Ids:
        """The ids of values from Python, each added if it is new."""
        known, texts = self._dict, list(texts)
        if not self._is_all_in_dict():
            return self._intern_among_bulk(texts)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            joined = "".join(new).encode("utf-8")
            sizes = [len(text if text.isascii() else text.encode("utf-8")) for text in new]
            self._reserve(len(new), len(joined))
            self._buffer[self._bytes : self._bytes + len(joined)] = np.frombuffer(joined, np.uint8)
            ends = self._bytes + np.cumsum(np.array(sizes, np.int64))
            self._offsets[self._count + 1 : self._count + 1 + len(new)] = ends
            self._bytes += len(joined)
            numbers = range(len(self), len(self) + len(new))
            self._count += len(new)
            known.update(zip(new, numbers, strict=True))
            self._unhashed.extend(numbers)
        return np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))

    def _intern_among_bulk(self, texts: list[str]) -> Ids:
        known = self._dict
        new = list(dict.fromkeys([text for text in texts if text not in known]))
        if len(new) > _MODEST:
            ids = self.intern_slices(*join_values([text.encode("utf-8") for text in new]))
            known.update(zip(new, ids.tolist(), strict=True))
        for text, id in zip(new, self.find_all(new), strict=True):
            if id < 0:
                self._append(text)
        return np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))

    def intern_slices(self, data: Bytes, starts: Offsets, ends: Offsets) -> Ids:
        """The ids of slices of `data`, each added if it is new.

        `data` has PADDING bytes after the last slice. New values are numbered in the
        order they first occur.
        """
        if not len(starts):
            return np.empty(0, np.int32)
        if len(starts) <= _MODEST and self._is_all_in_dict():
            return self.intern_all(slice_texts(data, starts, ends))
        firsts: list[Rows] = []
        hashes: list[Words] = []
        among = np.empty(len(starts), np.intp)
        total = 0
        for block in blocks(len(starts)):
            hashed, same_as = hash_and_match(data, starts[block], ends[block])
            first = np.flatnonzero(same_as == np.arange(len(same_as)))
            number = np.empty(len(same_as), np.intp)
            number[first] = np.arange(total, total + len(first))
            among[block] = number[same_as]
            firsts.append(first + block.start)
            hashes.append(hashed[first])
            total += len(first)
        rows = np.concatenate(firsts)
        if total <= _MODEST and self._is_all_in_dict():
            return self.intern_all(slice_texts(data, starts[rows], ends[rows]))[among]
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
        ids = np.empty(len(order), np.int32)
        ids[first] = known
        fresh = first[known < 0]
        # What has the hash of another value is none of these.
        ids[first[~found & (known >= 0)]] = _COLLIDES
        ids = ids[same_as]
        ids[later[~equal]] = _COLLIDES
        rows, texts = self._colliding(data, starts, ends, hashes, ids)
        unknown: dict[str, int] = {}
        for row, text in zip(rows.tolist(), texts, strict=True):
            if text not in self._dict:
                unknown.setdefault(text, row)
        new = np.sort(np.concatenate((fresh, np.array(list(unknown.values()), np.intp))))
        ids[new] = np.arange(len(self), len(self) + len(new), dtype=np.int32)
        self._append_slices(data, starts[new], ends[new])
        self._remember(ordered[heads[known < 0]], ids[fresh])
        self._dict.update((text, int(ids[row])) for text, row in unknown.items())
        same = np.flatnonzero(ids == -1)
        ids[same] = ids[same_as[same]]
        ids[rows] = [self._dict[text] for text in texts]
        return ids

    def _colliding(
        self, data: Bytes, starts: Offsets, ends: Offsets, hashes: Words, ids: Ids
    ) -> tuple[Rows, list[str]]:
        """The rows whose hash is another value's, and their texts; the others get their ids."""
        rows = np.flatnonzero(ids == _COLLIDES)
        if not len(rows):
            return rows, []
        known, found = self._look_up(data, starts[rows], ends[rows], hashes[rows])
        ids[rows[found]] = known[found]
        rows = rows[~found]
        return rows, slice_texts(data, starts[rows], ends[rows])

    def _look_up(
        self, data: Bytes, starts: Offsets, ends: Offsets, hashes: Words
    ) -> tuple[Ids, npt.NDArray[np.bool_]]:
        """The id that has each hash, -1 for none, and whether its value is the slice."""
        ids = np.full(len(hashes), -1, np.int32)
        for run, run_ids in (
            *((layer.hashes, layer.hash_ids) for layer in self._below),
            *self._runs,
        ):
            if not len(run):
                continue
            at = np.searchsorted(run, hashes)
            at[at == len(run)] = 0
            hit = run[at] == hashes
            ids[hit] = run_ids[at[hit]]
        rows = np.flatnonzero(ids >= 0)
        found = np.zeros(len(hashes), bool)
        found[rows] = equal_slices(data, starts[rows], ends[rows], *self.slices(ids[rows]))
        return ids, found

    def _hash_dict(self) -> None:
        """Hash what was added one at a time since, so that bulk look-ups see it."""
        if not self._unhashed:
            return
        ids = np.array(self._unhashed, np.int32)
        self._unhashed = []
        data, starts, ends = self.slices(ids)
        hashes = hash_slices(data, starts, ends)
        order = np.argsort(hashes)
        order = order[np.concatenate(([True], np.diff(hashes[order]) != 0))]
        taken = self._look_up(data, starts, ends, hashes)[0] >= 0
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
        id = len(self)
        self._dict[text] = id
        self._unhashed.append(id)
        self._count += 1
        self._offsets[self._count] = self._bytes
        return id

    def _append_slices(self, data: Bytes, starts: Offsets, ends: Offsets) -> None:
        """Add values that are new; the caller sees to it that they are found again."""
        lengths = ends - starts
        self._reserve(len(starts), int(lengths.sum()))
        offsets = self._offsets[self._count : self._count + len(starts) + 1]
        np.cumsum(lengths, out=offsets[1:])
        offsets[1:] += self._bytes
        for block in blocks(len(starts)):
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
