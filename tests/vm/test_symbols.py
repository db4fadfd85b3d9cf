"""Symbols against a dict: values one at a time, as lists and in bulk, and hashes that collide."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacec.vm import symbols as module
from lacec.vm import text
from lacec.vm.layers import ARRAYS, Layer, merge_layers
from lacec.vm.symbols import Symbols
from lacec.vm.text import PADDING, Bytes, Offsets, Words, copy_slices, equal_slices, hash_and_match

values = st.one_of(
    st.sampled_from(["", "a", "a\0", "a" * 7, "a" * 8, "a" * 9, "a" * 16, "b" * 16, "日本" * 9]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
ways = st.sampled_from(["one", "all", "bulk"])
batches = st.lists(st.tuples(ways, st.lists(values)), max_size=8)
# What becomes of a table between two batches: its values become a layer, or join the last one.
layerings = st.lists(st.sampled_from(["go on", "freeze", "merge"]), min_size=8, max_size=8)


def slices_of(texts: list[str], between: bytes = b"") -> tuple[Bytes, Offsets, Offsets]:
    encoded = [value.encode() for value in texts]
    data = np.frombuffer(b"".join(value + between for value in encoded) + bytes(PADDING), np.uint8)
    lengths = np.array([len(value) for value in encoded], np.int64)
    starts = np.cumsum(lengths + len(between)) - lengths - len(between)
    return data, starts, starts + lengths


@contextmanager
def settings_of(block: int, modest: int, few_hashes: bool) -> Iterator[None]:
    """Small blocks, bulk look-ups for few values, and hashes that are equal for many values."""
    true_hash = text._hash
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        patch.setattr(module, "_MODEST", modest)
        if few_hashes:  # the hash of one word is never that of another
            patch.setattr(
                text,
                "_hash",
                lambda w: true_hash(w) & np.uint64(2**64 - 1 if w.shape[1] == 1 else 3),
            )
        yield


@settings(max_examples=300, deadline=None)
@given(
    batches,
    layerings,
    st.sampled_from([1, 3, 1000]),
    st.sampled_from([0, 2, 1000]),
    st.booleans(),
)
def test_a_value_has_one_id(
    batches: list[tuple[str, list[str]]],
    layerings: list[str],
    block: int,
    modest: int,
    few_hashes: bool,
) -> None:
    """In the order the values first occur, whatever the ways, the layers and the hashes."""
    table = Symbols()
    layers: list[Layer] = []
    known: dict[str, int] = {}
    with settings_of(block, modest, few_hashes):
        for layering, (way, texts) in zip(layerings, batches, strict=False):
            if layering != "go on":
                layers.append(table.frozen())
                if layering == "merge" and len(layers) > 1:
                    layers[-2:] = [merge_layers(*layers[-2:])]
                table = Symbols(layers)
            if way == "one":
                ids = [table.intern(value) for value in texts]
            elif way == "all":
                ids = table.intern_all(iter(texts)).tolist()
            else:
                ids = table.intern_slices(*slices_of(texts, b"','")).tolist()
            for value, id in zip(texts, ids, strict=True):
                assert known.setdefault(value, id) == id
            assert list(known.values()) == list(range(len(known)))
        assert len(table) == len(known)
        for value, id in known.items():
            assert table.text(id) == value
            assert table.find(value) == id
        assert table.find("never added") == -1
        ids_of_all = np.array([*known.values(), *known.values()], np.int32)
        assert table.texts(ids_of_all) == [*known, *known]
        encoded = [value.encode() for value in (*known, *known)]
        data, starts, ends = table.slices(ids_of_all)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        assert [data[start:end].tobytes() for start, end in spans] == encoded
        heads = [int.from_bytes(value[:8], "little") for value in encoded]
        assert table.heads(ids_of_all).tolist() == heads


@settings(max_examples=200, deadline=None)
@given(st.lists(values, min_size=1), st.lists(values, min_size=1))
def test_kernels_agree_with_python(texts: list[str], others: list[str]) -> None:
    data, starts, ends = slices_of(texts)
    hashes, same_as = hash_and_match(data, starts, ends)
    for row, first in enumerate(same_as.tolist()):
        assert first <= row
        assert texts[first] == texts[row]
    by_text: dict[str, int] = {}
    for value, hashed in zip(texts, hashes.tolist(), strict=True):
        assert by_text.setdefault(value, hashed) == hashed
    count = min(len(texts), len(others))
    other, other_starts, other_ends = slices_of(others, b"?")
    equal = equal_slices(
        data, starts[:count], ends[:count], other, other_starts[:count], other_ends[:count]
    )
    assert equal.tolist() == [texts[i] == others[i] for i in range(count)]
    out = np.full(len(data) + 3, ord("-"), np.uint8)
    order = np.argsort(starts * 7 % 11, kind="stable")  # any order will do
    copy_slices(data, starts[order], ends[order], out, starts[order] + 3)
    assert out.tobytes() == b"---" + data[:-PADDING].tobytes() + b"-" * PADDING


def test_values_made_to_collide() -> None:
    """Two words each, the second chosen so that the hashes are equal; no hash is monkeypatched."""

    def after_one_word(word: int) -> int:
        return int(text._hash(np.array([[word]], np.uint64))[0])

    texts: list[str] = []
    target = 0
    for number in range(100_000):
        first = f"{number:08}".encode()
        second = after_one_word(int.from_bytes(first, "little")) ^ target
        if not texts:
            target = second ^ int.from_bytes(b"        ", "little")
            second ^= target
        value = first + second.to_bytes(8, "little")
        if value.isascii():
            texts.append(value.decode())
    assert len(texts) > 50
    hashes: Words = text.hash_slices(*slices_of(texts))
    assert len(set(hashes.tolist())) == 1
    for modest in (0, 1 << 10):
        with settings_of(16, modest, few_hashes=False):
            table = Symbols()
            ids = table.intern_slices(*slices_of(texts + texts)).tolist()
            assert sorted(ids[: len(texts)]) == list(range(len(texts)))
            assert ids[: len(texts)] == ids[len(texts) :]
            assert table.intern_all(texts).tolist() == ids[: len(texts)]
            assert [table.find(value) for value in texts] == ids[: len(texts)]
            # The value that has the hash may come after one that has not.
            table = Symbols()
            known = table.intern_slices(*slices_of(texts[:1])).tolist()
            assert table.intern_slices(*slices_of(texts[1::-1])).tolist()[1:] == known
            assert len(table) == 2


def test_values_of_one_layer_are_not_copied() -> None:
    low = Symbols()
    low.intern_all(["a", "b"])
    layer = low.frozen()
    table = Symbols([layer])
    assert table.intern_all(["c", "a"]).tolist() == [2, 0]
    data, starts, ends = table.slices(np.array([1, 0, 1], np.int32))
    assert data is layer.buffer
    assert (starts.tolist(), ends.tolist()) == ([1, 0, 1], [2, 1, 2])
    # Of several layers only what is asked for is, and what is asked for often once.
    data, starts, _ = table.slices(np.array([2, 0] * 1000, np.int32))
    assert len(data) == 2 + PADDING
    assert set(starts.tolist()) == {0, 1}


def test_a_layer_is_the_same_however_it_came_about() -> None:
    """One table, or several that are merged: the arrays are equal."""
    texts = [f"value {n % 700}" for n in range(1000)]
    whole = Symbols()
    whole.intern_slices(*slices_of(texts))
    low = Symbols()
    low.intern_all(texts[:300])
    high = Symbols([low.frozen()])
    high.intern_slices(*slices_of(texts[300:]))
    merged = merge_layers(low.frozen(), high.frozen())
    for name in ARRAYS:
        assert merged.load(name).tolist() == whole.frozen().load(name).tolist()


def test_adding_few_values_to_many_is_cheap() -> None:
    """The runs of hashes stay few, and the long ones are left alone."""
    table = Symbols()
    table.intern_slices(*slices_of([f"value {n}" for n in range(50_000)]))
    long = table._runs[0][0]
    for step in range(200):
        table.intern_slices(*slices_of([f"new {step} {n}" for n in range(10)]))
    assert table._runs[0][0] is long
    assert len(table._runs) < 12
    assert len(table) == 52_000
