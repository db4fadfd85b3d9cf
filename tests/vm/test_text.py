"""The kernels over flat text, and the table of symbols, against plain Python."""

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lacec.vm import text
from lacec.vm.symbols import Symbols
from lacec.vm.text import Bytes, Offsets, Words

Slices = tuple[Bytes, Offsets, Offsets]

# Few letters, so that values begin and end alike; NUL, and one to four bytes a letter.
LETTERS = "ab/\0é日👩"
short = st.text(LETTERS, max_size=4)
# Lengths around the windows of eight bytes.
long = st.builds(
    lambda letter, count, tail: letter * count + tail,
    st.sampled_from("ab\0é"),
    st.integers(0, 34),
    short,
)
values = st.one_of(short, long)
encoded = values.map(lambda value: value.encode("utf-8"))
many = settings(max_examples=300, deadline=None)


def slices(parts: Sequence[bytes], filler: bytes = b"\xff") -> Slices:
    """The parts in one buffer, with bytes around each that must not matter."""
    starts, ends = [], []
    data = filler
    for part in parts:
        starts.append(len(data))
        data += part
        ends.append(len(data))
        data += filler
    data += b"\xfe" * text.PADDING
    return np.frombuffer(data, np.uint8), np.array(starts, np.int64), np.array(ends, np.int64)


def pairs_of(parts: Sequence[tuple[bytes, bytes]]) -> tuple[Slices, Slices]:
    """Two lists of slices of one buffer."""
    data, starts, ends = slices([part for pair in parts for part in pair])
    return (data, starts[::2], ends[::2]), (data, starts[1::2], ends[1::2])


@given(st.lists(encoded))
@many
def test_first_words(parts: list[bytes]) -> None:
    found = text.first_words(*slices(parts))
    assert found.tolist() == [int.from_bytes(part[:8], "little") for part in parts]


@pytest.mark.parametrize("count", range(12))
def test_low_bytes(count: int) -> None:
    assert int(text.low_bytes(count)) == int.from_bytes(b"\xff" * min(count, 8), "little")


@given(st.lists(encoded))
@many
def test_equal_slices_have_equal_hashes_wherever_they_stand(parts: list[bytes]) -> None:
    one = text.hash_slices(*slices(parts)).tolist()
    other = text.hash_slices(*slices(parts, b"filler ")).tolist()
    assert one == other


def test_values_of_everyday_have_hashes_of_their_own() -> None:
    parts = [f"{start * n}{n}".encode() for start in ("r", "links/", "日") for n in range(1, 201)]
    assert len(set(text.hash_slices(*slices(parts)).tolist())) == len(set(parts)) == 600


@given(st.lists(st.tuples(encoded, encoded)))
@example([(b"a", b"a\0"), (b"", b"\0"), (b"a" * 8, b"a" * 8 + b"\0")])
@many
def test_equal_slices(parts: list[tuple[bytes, bytes]]) -> None:
    (data, starts, ends), (other, others, other_ends) = pairs_of(parts)
    found = text.equal_slices(data, starts, ends, other.copy(), others, other_ends)
    assert found.tolist() == [one == two for one, two in parts]


@given(st.lists(st.tuples(encoded, encoded)))
@example([(b"a", b"a\0"), (b"a" * 8, b"a" * 8 + b"\0"), (b"a" * 16, b"a" * 8), (b"", b"")])
@many
def test_compare_slices(parts: list[tuple[bytes, bytes]]) -> None:
    (data, starts, ends), (_, others, other_ends) = pairs_of(parts)
    found = text.compare_slices(data, starts, ends, data, others, other_ends)
    assert found.tolist() == [(one > two) - (one < two) for one, two in parts]


@given(st.lists(st.tuples(encoded, encoded)))
@example([(b"a", b"a\0"), (b"", b""), (b"a" * 9, b"a" * 8), (b"a" * 8, b"a" * 9)])
@many
def test_begins_and_finishes(parts: list[tuple[bytes, bytes]]) -> None:
    parts = [*parts, *((one + two, one) for one, two in parts), *((a + b, b) for a, b in parts)]
    (data, starts, ends), (_, others, other_ends) = pairs_of(parts)
    begins = text.begins(data, starts, ends, data, others, other_ends)
    assert begins.tolist() == [one.startswith(two) for one, two in parts]
    finishes = text.finishes(data, starts, ends, data, others, other_ends)
    assert finishes.tolist() == [one.endswith(two) for one, two in parts]


@given(st.lists(encoded), st.sets(st.sampled_from(b"ab/\0")), st.sampled_from((1, 7, 1 << 22)))
@many
def test_free_of(parts: list[bytes], marked: set[int], chunk: int) -> None:
    table = np.zeros(256, bool)
    table[list(marked)] = True
    with patch.object(text, "_CHUNK", chunk):
        found = text.free_of(*slices(parts), table)
    assert found.tolist() == [marked.isdisjoint(part) for part in parts]


@given(st.lists(encoded, unique=True))
@example([b"a" * n for n in range(20)])
@example([b"\0" * n for n in range(20)])
@example([b"", b"\0", b"\0" * 8, b"\0" * 9, b"a"])
@many
def test_lex_ranks(parts: list[bytes]) -> None:
    check_ranks(parts)


@given(st.binary(min_size=1, max_size=20), st.lists(encoded, unique=True, max_size=30))
@many
def test_lex_ranks_after_a_common_beginning(start: bytes, parts: list[bytes]) -> None:
    check_ranks([start + part for part in parts])


def check_ranks(parts: Sequence[bytes]) -> None:
    ranks = text.lex_ranks(*slices(parts))
    ordered = sorted(parts)
    assert ranks.tolist() == [ordered.index(part) for part in parts]


# Symbols. The model is a dict from value to id.


def weak_hash(words: Words) -> Words:
    """A hash of the first eight bytes alone: longer values collide at will."""
    return words[:, 0].copy()


Steps = list[tuple[str, list[str]]]
steps: st.SearchStrategy[Steps] = st.lists(
    st.tuples(
        st.sampled_from(("intern", "intern_all", "intern_slices", "find")),
        st.lists(values, max_size=12),
    ),
    max_size=8,
)


def play(table: Symbols, model: dict[str, int], step: str, texts: Sequence[str]) -> None:
    """One step on the table, checked against the model."""
    if step == "find":
        assert [table.find(value) for value in texts] == [model.get(v, -1) for v in texts]
        return
    if step == "intern":
        ids = [table.intern(value) for value in texts]
    elif step == "intern_all":
        ids = table.intern_all(iter(texts)).tolist()
    else:
        ids = table.intern_slices(*slices([v.encode("utf-8") for v in texts])).tolist()
    for value, id in zip(texts, ids, strict=True):
        assert model.setdefault(value, id) == id, value


def play_all(steps: Steps) -> None:
    table, model = Symbols(), dict[str, int]()
    for step, texts in steps:
        play(table, model, step, texts)
        check_table(table, model)


def check_table(table: Symbols, model: dict[str, int]) -> None:
    """Every value has one id from a dense range, and the table knows its text."""
    assert sorted(model.values()) == list(range(len(table)))
    ids = np.array(list(model.values()), np.int32)
    assert table.texts(ids) == list(model)
    assert [table.text(id) for id in model.values()] == list(model)
    data = [value.encode("utf-8") for value in model]
    assert [table.length(id) for id in model.values()] == [len(value) for value in data]
    assert table.heads(ids).tolist() == [int.from_bytes(v[:8], "little") for v in data]
    starts, ends = table.offsets[ids].tolist(), table.offsets[ids + 1].tolist()
    raw = table.buffer.tobytes()
    assert [raw[s:e] for s, e in zip(starts, ends, strict=True)] == data
    assert len(raw) == table.offsets[-1] + text.PADDING


@given(steps)
@many
def test_symbols(plays: Steps) -> None:
    play_all(plays)


@given(steps)
@example(
    [
        ("intern_slices", ["a" * 8 + "b"]),
        ("intern_slices", ["a" * 8, "a" * 8 + "b"]),
        ("find", ["a" * 8 + "b"]),
    ]
)
@many
def test_symbols_whose_hashes_collide(plays: Steps) -> None:
    with patch.object(text, "_hash", weak_hash):
        play_all(plays)


def test_many_symbols_in_bulk() -> None:
    """More than one block, more than one size of every array."""
    texts = [f"value {n % 30_000}" for n in range(50_000)]
    table, model = Symbols(), dict[str, int]()
    play(table, model, "intern_slices", texts[:20_000])
    play(table, model, "intern_all", ["x", *texts[10_000:40_000]])
    play(table, model, "intern_slices", texts)
    check_table(table, model)
    assert len(table) == 30_001


def test_new_values_are_numbered_as_they_come() -> None:
    table = Symbols()
    assert table.intern_slices(*slices([b"b", b"a", b"b", b""])).tolist() == [0, 1, 0, 2]
    assert table.intern_all(["", "c", "a", "d"]).tolist() == [2, 3, 1, 4]
    assert table.texts(np.array([4, 0, 4], np.int32)) == ["d", "b", "d"]
    assert table.texts(np.empty(0, np.int32)) == []
