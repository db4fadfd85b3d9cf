"""Kernels over flat UTF-8 text: windows of eight bytes instead of Python strings.

A slice is a start and an end offset into a buffer that has PADDING bytes after
its last. All functions take arrays of slices and answer for all of them at once.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lacec.vm.parallel import in_order

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

PADDING = 8
WINDOW = 8
BLOCK = 1 << 14
_THREADED = 1 << 17  # rows that are worth a thread
_LOW = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [2**64 - 1], np.uint64)
_HIGH = ~_LOW
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def low_bytes(count: int) -> np.uint64:
    """A word that keeps the first bytes of a window."""
    return _LOW[min(count, WINDOW)]  # type: ignore[no-any-return]


def windows(data: Bytes) -> Words:
    """Eight bytes at every offset, as little-endian words; a view, not a copy."""
    return np.ndarray((max(len(data) - WINDOW + 1, 0),), "<u8", data, strides=(1,))


def first_words(data: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """The first eight bytes of each slice, zeros after its end."""
    words: Words = windows(data)[starts] & _LOW[np.minimum(ends - starts, WINDOW)]
    return words


def _by_size(lengths: Offsets) -> Iterator[tuple[int, Rows]]:
    """The rows whose slices have equally many words, and how many that is."""
    sizes = np.maximum(lengths + (WINDOW - 1) >> 3, 1)
    small = sizes.astype(np.min_scalar_type(sizes.max(initial=1)))
    order = np.argsort(small, kind="stable")  # linear, for small numbers
    counts = np.bincount(small)
    high = 0
    for size in np.flatnonzero(counts).tolist():
        low, high = high, high + int(counts[size])
        yield size, order[low:high]


def _stack(data: Bytes, starts: Offsets, lengths: Offsets, size: int) -> Words:
    """Slices of equally many words as rows. After their ends comes 0xFF, which no text has.

    NumPy fetches a long element from any offset in the time it needs for a short one.
    """
    items = len(data) - size * WINDOW + 1
    view = np.ndarray((items,), f"V{size * WINDOW}", data, strides=(1,))
    words: Words = view[starts].view("<u8").reshape(len(starts), size)
    words[:, -1] |= _HIGH.take(lengths - (size - 1) * WINDOW)
    return words


def _hash(words: Words) -> Words:
    hashes = np.zeros(len(words), np.uint64)
    for column in words.T:
        hashes ^= column
        hashes *= _ODD
        hashes ^= hashes >> _SHIFT
    return hashes


def hash_slices(data: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """A 64-bit hash of each slice. Equal slices have equal hashes; check the converse."""
    lengths = ends - starts
    hashes = np.empty(len(starts), np.uint64)
    for size, rows in _by_size(lengths):
        hashes[rows] = _hash(_stack(data, starts[rows], lengths[rows], size))
    return hashes


def hash_and_match(data: Bytes, starts: Offsets, ends: Offsets) -> tuple[Words, Rows]:
    """The hash of each slice, and the row of an equal one no later than itself.

    Each slice is looked up once in a table, no more: a rare value may so miss an
    earlier equal one and have its own row, a frequent value seldom does.
    """
    lengths = ends - starts
    hashes = np.empty(len(starts), np.uint64)
    same_as = np.empty(len(starts), np.intp)
    for size, rows in _by_size(lengths):
        words = _stack(data, starts.take(rows), lengths.take(rows), size)
        hashed = hashes[rows] = _hash(words)
        bits = len(rows).bit_length() + 2
        slots = (hashed >> np.uint64(64 - bits)).astype(np.intp)
        found = np.arange(len(rows))
        table = np.empty(1 << bits, np.intp)
        table[slots[::-1]] = found[::-1]  # of the rows with one slot the first stays
        firsts = table.take(slots)
        later = np.flatnonzero((firsts != found) & (hashed.take(firsts) == hashed))
        firsts = firsts.take(later)
        if size > 1:  # the hash of one word can be undone: no two have the same
            equal = _equal_rows(words.take(later, 0), words.take(firsts, 0))
            later, firsts = later[equal], firsts[equal]
        found[later] = firsts
        same_as[rows] = rows.take(found)
    return hashes, same_as


def equal_slices(
    data: Bytes, starts: Offsets, ends: Offsets, other: Bytes, others: Offsets, other_ends: Offsets
) -> Mask:
    """Which slices of one buffer equal, one by one, those of another."""
    equal: Mask = ends - starts == other_ends - others

    def compare(block: slice) -> None:
        candidates = np.flatnonzero(equal[block]) + block.start
        lengths = ends[candidates] - starts[candidates]
        for size, rows in _by_size(lengths):
            at = candidates[rows]
            here = _stack(data, starts[at], lengths[rows], size)
            equal[at] = _equal_rows(here, _stack(other, others[at], lengths[rows], size))

    for _ in in_order(compare, blocks(len(starts), _THREADED)):
        pass
    return equal


def _equal_rows(words: Words, others: Words) -> Mask:
    cells = words == others
    equal: Mask = np.ones(len(words), bool) if cells.all() else cells.all(axis=1)
    return equal


def copy_slices(data: Bytes, starts: Offsets, ends: Offsets, out: Bytes, at: Offsets) -> None:
    """Write each slice into another buffer, where `at` says; no byte after its end is touched."""
    lengths = ends - starts
    long = np.flatnonzero(lengths >= WINDOW)
    # Whole words, and then the last eight bytes, which may be in two of them.
    for size, rows in _by_size(lengths[long] - (WINDOW - 1)):
        _copy(data, starts[long[rows]], out, at[long[rows]], size * WINDOW)
    _copy(data, ends[long] - WINDOW, out, at[long] + lengths[long] - WINDOW, WINDOW)
    short = np.flatnonzero(lengths < WINDOW)
    for offset in range(WINDOW - 1):
        short = short[lengths[short] > offset]
        out[at[short] + offset] = data[starts[short] + offset]


def pack_slices(data: Bytes, starts: Offsets, ends: Offsets) -> tuple[Bytes, Offsets]:
    """The slices one after the other in a buffer of their own, and where each begins."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    out = np.zeros(int(offsets[-1]) + PADDING, np.uint8)
    for block in blocks(len(starts)):
        copy_slices(data, starts[block], ends[block], out, offsets[:-1][block])
    return out, offsets


def blocks(count: int, size: int = BLOCK) -> list[slice]:
    """Rows that are worked on together: the bytes of a block stay in the processor's cache."""
    return [slice(low, low + size) for low in range(0, count, size)]


def _copy(data: Bytes, starts: Offsets, out: Bytes, at: Offsets, width: int) -> None:
    here = np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))
    there = np.ndarray((len(out) - width + 1,), f"V{width}", out, strides=(1,))
    there[at] = here[starts]


def _agree(
    data: Bytes, starts: Offsets, other: Bytes, others: Offsets, lengths: Offsets, equal: Mask
) -> Mask:
    """`equal`, without the rows that differ within their first `lengths` bytes."""
    here, there = windows(data), windows(other)
    rows = np.flatnonzero(lengths > 0)
    a, b, left = starts[rows], others[rows], lengths[rows]
    while len(rows):
        same = (here[a] ^ there[b]) & _LOW[np.minimum(left, WINDOW)] == 0
        equal[rows[~same]] = False
        more = np.flatnonzero(same & (left > WINDOW))
        rows, a, b, left = rows[more], a[more] + WINDOW, b[more] + WINDOW, left[more] - WINDOW
    return equal


def compare_slices(
    data: Bytes, starts: Offsets, ends: Offsets, other: Bytes, others: Offsets, other_ends: Offsets
) -> npt.NDArray[np.int8]:
    """-1, 0 or 1 for each pair of slices, in the order of their bytes."""
    here, there = windows(data), windows(other)
    signs = np.sign((ends - starts) - (other_ends - others)).astype(np.int8)
    rows = np.arange(len(starts))
    a, b = starts, others
    left, right = ends - starts, other_ends - others
    while len(rows):
        one = here[np.minimum(a, len(here) - 1)] & _LOW[np.clip(left, 0, WINDOW)]
        two = there[np.minimum(b, len(there) - 1)] & _LOW[np.clip(right, 0, WINDOW)]
        differ = one != two
        # The first byte is the most significant once the words are swapped.
        less = one.byteswap() < two.byteswap()
        signs[rows[differ]] = np.where(less[differ], -1, 1)
        more = np.flatnonzero(~differ & (np.minimum(left, right) > WINDOW))
        rows, a, b = rows[more], a[more] + WINDOW, b[more] + WINDOW
        left, right = left[more] - WINDOW, right[more] - WINDOW
    return signs


def begins(
    data: Bytes, starts: Offsets, ends: Offsets, other: Bytes, others: Offsets, other_ends: Offsets
) -> Mask:
    """Which slices begin with the other ones."""
    lengths = other_ends - others
    fits = lengths <= ends - starts
    return _agree(data, starts, other, others, np.where(fits, lengths, 0), fits)


def finishes(
    data: Bytes, starts: Offsets, ends: Offsets, other: Bytes, others: Offsets, other_ends: Offsets
) -> Mask:
    """Which slices end with the other ones."""
    lengths = other_ends - others
    fits = lengths <= ends - starts
    return _agree(data, ends - lengths, other, others, np.where(fits, lengths, 0), fits)


# How many bytes are looked at together when segments are searched.
_CHUNK = 1 << 22


def free_of(data: Bytes, starts: Offsets, ends: Offsets, table: Mask) -> Mask:
    """Which slices have no byte that the table of 256 marks."""
    lengths = np.maximum(ends - starts, 0)
    total = np.cumsum(lengths)
    free = np.ones(len(starts), bool)
    first = 0
    while first < len(starts):
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + _CHUNK, "right")))
        counts = lengths[first:last]
        rows = np.repeat(np.arange(first, last), counts)
        offsets = (
            np.arange(len(rows))
            + (starts[first:last] - (total[first:last] - counts - done))[rows - first]
        )
        free[rows[table[data[offsets]]]] = False
        first = last
    return free


def lex_ranks(data: Bytes, starts: Offsets, ends: Offsets) -> npt.NDArray[np.int64]:
    """The place of each slice, all of them different, in the order of their bytes.

    Sorted by the eight bytes after what all have in common; those that tie by the
    next eight, and so on.
    """
    words = windows(data)
    last = len(words) - 1
    ranks = np.zeros(len(starts), np.int64)
    rows, at = np.arange(len(starts)), _common(words, starts, ends)
    first = True
    while len(rows):
        # What is left may be negative: where all bytes are the same, the shorter comes first.
        left = np.minimum(ends[rows] - starts[rows] - at, WINDOW + 1)
        word = words[np.minimum(starts[rows] + at, last)] & _LOW[np.clip(left, 0, WINDOW)]
        word = word.byteswap()
        order = np.argsort(word) if first else np.lexsort((left, word, ranks[rows]))
        rows, left, word, group = rows[order], left[order], word[order], ranks[rows[order]]
        began = np.ones(len(rows), bool)
        began[1:] = group[1:] != group[:-1]
        new = began.copy()
        new[1:] |= word[1:] != word[:-1]
        if not first:
            new[1:] |= left[1:] != left[:-1]
        heads = np.flatnonzero(new)
        sizes = np.diff(np.append(heads, len(rows)))
        # The rank of a tie is the place of its first among those that tied before.
        places = np.arange(len(rows))
        before = np.maximum.accumulate(np.where(began, places, 0))
        ranks[rows] = group + np.repeat(heads, sizes) - before
        rows = rows[np.repeat(sizes > 1, sizes)]
        at, first = at + WINDOW, False
    return ranks


def _common(words: Words, starts: Offsets, ends: Offsets) -> int:
    """How many bytes all slices begin with in common, or fewer."""
    shortest = int((ends - starts).min()) if len(starts) else 0
    for at in range(0, shortest - WINDOW + 1, WINDOW):
        word = words[starts + at]
        differ = int(np.bitwise_or.reduce(word ^ word[0]))
        if differ:
            return at + ((differ & -differ).bit_length() - 1) // 8
    return shortest // WINDOW * WINDOW


def slice_texts(data: Bytes, starts: Offsets, ends: Offsets) -> list[str]:
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


def join_values(values: list[bytes]) -> tuple[Bytes, Offsets, Offsets]:
    """Values as slices of one buffer."""
    data = np.frombuffer(b"".join(values) + bytes(PADDING), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, values), np.int64, len(values)))
    return data, np.concatenate((np.zeros(1, np.int64), ends[:-1])), ends
