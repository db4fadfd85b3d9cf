"""The stream reader and hostile bytes: the same however they come, bounded, no other errors."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import StreamError
from lacec.core.limits import DEFAULT_LIMITS
from lacec.runtime.iltp.framing.items import ItemReader
from lacec.runtime.iltp.framing.reader import StreamReader
from lacec.runtime.iltp.framing.rules import PREFACE
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.messages import Setup
from lacec.runtime.interlace.reasons import REASONS
from tests.helpers import examples
from tests.runtime.iltp.streams import seen, single_bytes
from tests.simulation.policies import COMPLEMENT, EVERYTHING, GROUP_U, operand
from tests.spec.test_060 import BAD, BLOB, GOOD, PIECE

parts = st.sampled_from([data for data, _ in GOOD.values()] + [data for data, _, _ in BAD.values()])
streams = st.lists(parts, max_size=6).map(b"".join).map(PREFACE.__add__)
mutations = st.lists(
    st.tuples(st.integers(0, 2**12), st.integers(0, 3), st.binary(max_size=4)), max_size=4
)


def mutated(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for place, removed, added in changes:
        at = place % (len(data) + 1)
        data = data[:at] + added + data[at + removed :]
    return data


@examples(200)
@given(streams, mutations, st.lists(st.integers(0, 2**12), max_size=8))
def test_any_bytes_are_read_the_same_however_they_are_cut(
    data: bytes, changes: list[tuple[int, int, bytes]], places: list[int]
) -> None:
    data = mutated(data, changes)
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    expected = seen([data])
    assert seen(data[a:b] for a, b in pairwise(edges)) == expected
    assert seen(single_bytes(data)) == expected


@examples(200)
@given(streams, mutations, st.sampled_from(Reading))
def test_any_bytes_give_messages_or_one_named_error(
    data: bytes, changes: list[tuple[int, int, bytes]], reading: Reading
) -> None:
    reader, reason = StreamReader({}, DEFAULT_LIMITS), None
    reader.feed(mutated(data, changes))
    try:
        while reader.take(reading, 2**20) is not None:
            pass
    except StreamError as error:
        reason = error.reason
    assert reason in {None, *REASONS}


def test_no_more_than_one_record_is_held() -> None:
    """Records are taken as they arrive: a long batch needs no more memory than a short one."""
    reader, piece = ItemReader(), BLOB.data + b"\n"
    reader.feed(PREFACE)
    reader.take()
    tracemalloc.start()
    for _ in range(5000):
        reader.feed(piece)
        while reader.take() is not None:
            assert reader.held == 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_nothing_is_allocated_for_what_is_only_promised() -> None:
    reader = ItemReader()
    tracemalloc.start()
    reader.feed(PREFACE + f"🖧: B.{'0' * 43}.H3\nData-Length: 33554432\n\n".encode())
    while reader.take() is not None:
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reader.held == 78
    assert peak < 100_000


def test_resources_are_counted_as_held() -> None:
    """D29: what a peer makes a link keep is part of what the link holds."""
    reader = StreamReader({}, DEFAULT_LIMITS)
    reader.feed(PREFACE + PIECE)
    assert reader.held == len(PREFACE + PIECE)
    assert reader.take(Reading.SETUP, 2**20) is None
    assert reader.held == len(PIECE) - PIECE.index(b"\n") - 3
    assert reader.pending == 0


def test_d29_resources_that_nothing_names_are_not_kept_for_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The operand in use stays, and the last one that came; what goes is not held any more."""
    sent = [operand(0, source).module for source in (EVERYTHING, GROUP_U, COMPLEMENT)]
    texts = {each.id: each.canonical.encode() for each in sent}
    monkeypatch.setattr("lacec.runtime.iltp.framing.reader.KEPT_RESOURCE_BYTES", 1)
    kept = dict[str, bytes]()
    reader, writer = StreamReader(kept, DEFAULT_LIMITS), StreamWriter(texts)
    reader.feed(writer.write(Setup(0, sent[0].id, "unassigned", "selector")))
    assert reader.take(Reading.SETUP, 2**20) is not None
    for each in sent[1:]:
        reader.feed(writer.resource(each.id))
        assert reader.take(Reading.SETUP, 2**20) is None
        assert set(kept) == {sent[0].id, each.id}
        assert reader.held == sum(map(len, kept.values()))


def test_a_module_is_sent_again_when_another_was_named_since() -> None:
    """A peer need not have kept it."""
    sent = [operand(0, source).module for source in (EVERYTHING, GROUP_U)]
    writer = StreamWriter({each.id: each.canonical.encode() for each in sent})
    setups = [Setup(0, each.id, "unassigned", "selector") for each in sent]
    said = [writer.write(setups[n]) for n in (0, 0, 1, 0)]
    assert ["🧩".encode() in each for each in said] == [True, False, True, True]
