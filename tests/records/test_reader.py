"""Streams of records: the same however they are cut, and as parse_record reads them."""

import tracemalloc
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lacec.core.errors import RecordError
from lacec.records.limits import RecordLimits
from lacec.records.record import Record, RecordReader, parse_record, read_records
from tests.helpers import examples
from tests.records import made
from tests.records.made import BLOB, marked, plex_with, seal_of

RECORDS = [made.seal(), made.blob(b"\n\n" + made.BLOB), made.plex(), made.blob(b""), made.seal(())]
STREAM = b"".join(record.data + b"\n" for record in RECORDS)

Seen = list[tuple[int, str, str | None]]


def seen(pieces: Sequence[bytes], verify: bool = True) -> Seen:
    """Where each record begins and its hash; or the place and the name of an error."""
    return [
        (offset, item.name, item.claimed)
        if isinstance(item, RecordError)
        else (offset, item.hash, None)
        for offset, item in read_records(pieces, verify=verify)
    ]


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


places = st.lists(st.integers(0, 2**16), max_size=12)


@examples(200)
@given(places)
def test_a_stream_gives_the_same_records_however_it_is_cut(cuts: list[int]) -> None:
    expected, at = [], 0
    for record in RECORDS:
        expected.append((at, record.hash, None))
        at += len(record.data) + 1
    assert seen(cut(STREAM, cuts)) == expected


def test_a_stream_can_come_byte_by_byte() -> None:
    reader, taken = RecordReader(), []
    for at in range(len(STREAM)):
        reader.feed(STREAM[at : at + 1])
        record = reader.take()
        if record is not None:
            taken.append(record)
            assert reader.offset == at + 1
    reader.close()
    assert taken == RECORDS


BROKEN = [
    b"",
    b"hello world",
    "⋯🖧: x".encode(),
    "⋯🖧: ".encode() + BLOB,
    BLOB[:-1],
    BLOB[:40],
    BLOB.replace(b"world", b"World"),
    plex_with("B: 1", "A: 1"),
    plex_with("A: " + "x" * 2000),
    plex_with(*["A: " + "x" * 1000] * 100),
    b"\xf0\x9f\x96\xa7: " + b"x" * 100_000,
    marked("B", b"Data-Length: 1000000000000000000\n\n"),
    seal_of(plex_with(), digest=b"another digest, of 32 bytes....."),
    made.seal().data,
]


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
@pytest.mark.parametrize("step", [1, 7, 4096, 2**30])
def test_one_record_alone_is_read_as_parse_record_reads_it(data: bytes, step: int) -> None:
    step = step if len(data) < 10_000 else max(step, 4096)
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    try:
        record = parse_record(data)
        expected: Seen = [(0, record.hash, None)]
    except RecordError as error:
        expected = [(error.offset, error.name, error.claimed)] if data else []
    assert seen(pieces) == expected


@examples(200)
@given(
    places,
    st.integers(0, len(STREAM) - 1),
    st.integers(1, 255),
    st.booleans(),
)
@example([3], 5, 1, True)
def test_a_changed_stream_fails_alike_however_it_is_cut(
    cuts: list[int], at: int, change: int, verify: bool
) -> None:
    changed = bytearray(STREAM)
    changed[at] ^= change
    whole = seen([bytes(changed)], verify)
    assert seen(cut(bytes(changed), cuts), verify) == whole
    if verify:
        assert whole != seen([STREAM])


@examples(100)
@given(places, st.integers(0, len(STREAM) - 1))
def test_a_stream_that_ends_early_says_so(cuts: list[int], length: int) -> None:
    found = seen(cut(STREAM[:length], cuts))
    whole = {len(b"".join(r.data + b"\n" for r in RECORDS[:n])) for n in range(len(RECORDS) + 1)}
    ends = whole | {place - 1 for place in whole}
    if length in ends:
        assert all(name[1] == "." for _, name, _ in found)
    else:
        assert found[-1][:2] == (length, "truncated")


# Between records.


def test_the_last_line_feed_may_be_left_out() -> None:
    assert seen([STREAM[:-1]]) == seen([STREAM])


@pytest.mark.parametrize("between", [b"", b"\n\n", b"\r\n", b" ", b"\nx"])
def test_exactly_one_line_feed_stands_between_records(between: bytes) -> None:
    found = seen([BLOB + between + BLOB])
    assert found[0] == (0, made.blob().hash, None)
    after = len(BLOB) + between.startswith(b"\n")
    name = "not-a-record" if between.startswith(b"\n") else "trailing-bytes"
    assert found[1:] == [(after, name, None)]


# Errors that a stream survives, and those it does not (D20).


def test_a_wrong_digest_or_signature_concerns_one_record_alone() -> None:
    wrong = BLOB.replace(b"world", b"World")
    forged = seal_of(plex_with(), digest=b"another digest, of 32 bytes.....")
    stream = b"".join(each + b"\n" for each in (BLOB, wrong, forged, BLOB))
    (first, _, _), (_, second, claimed), (_, third, _), (last, hash, _) = seen([stream])
    assert (first, last) == (0, len(stream) - len(BLOB) - 1)
    assert (second, third) == ("wrong-digest", "wrong-signature")
    assert claimed == hash == made.blob().hash


def test_after_a_record_that_cannot_be_read_nothing_is() -> None:
    reader = RecordReader()
    reader.feed(b"no record at all\n" + BLOB)
    for _ in range(3):
        with pytest.raises(RecordError) as caught:
            reader.take()
        assert caught.value.fatal
        assert (caught.value.name, caught.value.offset) == ("not-a-record", 0)
    with pytest.raises(RecordError):
        reader.close()


def test_offsets_count_from_the_start_of_the_stream() -> None:
    stream = BLOB + b"\n" + plex_with("B: 1", "A: 1")
    assert seen([stream])[1] == (stream.index(b"A: 1"), "unsorted-headers", None)


# Memory.


def test_a_length_is_checked_before_anything_is_allocated() -> None:
    for length in (33 * 2**20, 10**18):
        reader = RecordReader()
        reader.feed(marked("B", f"Data-Length: {length}\n\n".encode()))
        with pytest.raises(RecordError) as caught:
            reader.take()
        assert caught.value.name == "blob-too-large"


def test_a_promise_takes_no_memory() -> None:
    """Only what has come in is held."""
    reader = RecordReader()
    tracemalloc.start()
    try:
        reader.feed(marked("B", f"Data-Length: {32 * 2**20}\n\n".encode()))
        assert reader.take() is None
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_a_reader_holds_at_most_one_record() -> None:
    piece = (made.blob(bytes(1000)).data + b"\n") * 100
    reader, count = RecordReader(), 0
    tracemalloc.start()
    try:
        for _ in range(50):
            reader.feed(piece)
            while reader.take() is not None:
                count += 1
        assert tracemalloc.get_traced_memory()[1] < 5 * len(piece)
    finally:
        tracemalloc.stop()
    assert count == 50 * 100


def test_a_head_that_never_ends_is_refused_at_its_limit() -> None:
    reader = RecordReader(RecordLimits(header_bytes=4096, extra_headers=10_000))
    reader.feed(plex_with()[: -len(BLOB)])
    while len(reader._buffer) < 4096 + 512:
        assert reader.take() is None
        reader.feed(b"A: x\n")
    with pytest.raises(RecordError) as caught:
        reader.take()
    assert caught.value.name == "headers-too-large"


def test_large_data_comes_in_small_pieces() -> None:
    record = made.blob(bytes(4 * 2**20))
    reader = RecordReader()
    taken: list[Record] = []
    for at in range(0, len(record.data), 1000):
        assert not taken
        reader.feed(record.data[at : at + 1000])
        found = reader.take()
        if found is not None:
            taken.append(found)
    assert taken == [record]
