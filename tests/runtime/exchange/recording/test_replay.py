"""What was recorded is replayed without the stores, and a recording that was changed is found."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import RecordingError, StreamError
from lacec.runtime.exchange.in_process import Participant, make_pair
from lacec.runtime.exchange.recording.recorder import Recorder
from lacec.runtime.exchange.recording.replay import Replay, replay
from lacec.runtime.exchange.side import Policy
from lacec.runtime.iltp.framing.items import Comment, ItemReader
from lacec.runtime.interlace.driver import Pair
from lacec.runtime.interlace.events import Cancel, Finish, StoreChanged
from lacec.runtime.interlace.limits import SECOND
from tests.helpers import examples
from tests.runtime.interlace.solo import ALICE, BOB, plex
from tests.runtime.interlace.test_driver import shelves_of
from tests.simulation.policies import (
    COMPLEMENT,
    EVERYTHING,
    GROUP_U,
    LATER,
    MONOTONE,
    OTHERS,
    local_policy,
    operand,
)
from tests.simulation.shelf import MemoryCursors, MemoryShelf
from tests.simulation.world import EPOCH

Shelves = tuple[MemoryShelf, MemoryShelf]


class Time:
    """A clock that moves by a part of a second whenever it is read."""

    def __init__(self, step: int = SECOND // 50) -> None:
        self.now, self.step = 0, step

    def __call__(self) -> tuple[int, int]:
        self.now += self.step
        return self.now, EPOCH + self.now


def recorded(
    shelves: Shelves,
    source: str = EVERYTHING,
    keys: tuple[str | None, str | None] = (None, None),
    go_on: Callable[[Pair], None] | None = None,
) -> tuple[bytes, Pair]:
    """An exchange and its recording; `go_on` is what happens in an open one."""
    data = bytearray()
    sides = [
        Participant(
            shelf,
            Policy(operand(index, source), local_policy(index, source, "all")),
            key,
            MemoryCursors(),
        )
        for index, (shelf, key) in enumerate(zip(shelves, keys, strict=True))
    ]
    ticks = None if go_on is None else SECOND
    pair = make_pair(sides[0], sides[1], Time(), tick_interval=ticks, record=data.extend)
    pair.run()
    if go_on is not None:
        go_on(pair)
    assert isinstance(pair.trace, Recorder)
    pair.trace.finish(pair.seats)
    return bytes(data), pair


def replayed(data: bytes, chunk: int = 1 << 16) -> Replay:
    return replay(data[at : at + chunk] for at in range(0, len(data), chunk))


def assert_same(data: bytes, pair: Pair) -> None:
    found = replayed(data)
    assert found.diverges is None, (found.diverges, data[found.offset :][:200])
    assert found.whole
    assert found.results == dict(enumerate(seat.result for seat in pair.seats))


SMALL = plex("one"), plex("two")


@cache
def small() -> bytes:
    left, right = MemoryShelf(), MemoryShelf()
    left.add(SMALL)
    return recorded((left, right))[0]


@given(st.integers(0, 10**6), st.sampled_from((*MONOTONE, *OTHERS)), st.booleans())
@examples(12)
def test_what_was_recorded_is_replayed(seed: int, source: str, known: bool) -> None:
    keys = (ALICE, BOB) if known else (None, None)
    assert_same(*recorded(shelves_of(seed), source, keys))


def test_an_exchange_is_the_same_when_it_is_recorded() -> None:
    plain, watched = shelves_of(1), shelves_of(1)
    sides = [
        Participant(s, Policy(operand(i, GROUP_U), local_policy(i, GROUP_U, "all")))
        for i, s in enumerate(plain)
    ]
    make_pair(sides[0], sides[1], Time()).run()
    recorded(watched, GROUP_U)
    assert [s.records.keys() for s in plain] == [s.records.keys() for s in watched]


def test_open_exchanges_too() -> None:
    """Ticks, what other processes store, and how it is ended."""
    left, right = MemoryShelf(), MemoryShelf()
    left.add(SMALL[:1])

    def go_on(pair: Pair) -> None:
        for _ in range(300):
            for seat in pair.seats:
                pair.tell(seat)
            pair.go_on()
        left.add(SMALL[1:])
        pair.tell(pair.seats[0], StoreChanged(2))
        pair.go_on()
        for seat in pair.seats:
            pair.tell(seat, Finish())
        pair.go_on()

    data, pair = recorded((left, right), LATER, go_on=go_on)
    assert right.records.keys() == {record.hash for record in SMALL}
    assert b"TickReady" in data
    assert_same(data, pair)


def test_an_exchange_that_is_interrupted() -> None:
    """What was said and never heard is in the recording too."""
    left, right = shelves_of(3)
    times = iter(range(10**9))
    data = bytearray()
    sides = [
        Participant(s, Policy(operand(i, EVERYTHING), local_policy(i, EVERYTHING, "all")))
        for i, s in enumerate((left, right))
    ]
    pair = make_pair(sides[0], sides[1], Time(), record=data.extend)
    pair.attend = lambda: next(times) < 40
    pair.run()
    assert isinstance(pair.trace, Recorder)
    pair.trace.finish(pair.seats)
    assert [seat.result and seat.result.aborted for seat in pair.seats] == ["cancelled"] * 2
    assert b"'says'" in data
    assert Cancel.__name__.encode() in data
    assert_same(bytes(data), pair)


def test_exchanges_that_go_wrong() -> None:
    left, right = shelves_of(4)
    right.broken_adds = 1
    assert_same(*recorded((left, right)))
    assert_same(*recorded(shelves_of(5), COMPLEMENT))


@dataclass
class Damaged(MemoryShelf):
    """A store that gives other bytes than it was given."""

    damage: Callable[[bytes], bytes] = bytes

    def get(self, hash: str) -> bytes | None:
        data = super().get(hash)
        return None if data is None else self.damage(data)


@pytest.mark.parametrize("damage", [lambda d: d[:-1] + bytes([d[-1] ^ 1]), lambda _: b"nothing"])
def test_records_that_are_damaged(damage: Callable[[bytes], bytes]) -> None:
    """Bytes whose end can be found are in the recording; of others, which they were."""
    left, right = Damaged(damage=damage), MemoryShelf()
    left.add([plex("one", data=b"text")])
    assert_same(*recorded((left, right)))


def test_a_recording_is_a_stream_of_060_with_a_comment_for_each_block() -> None:
    reader = ItemReader()
    reader.feed(small())
    comments = []
    while (item := reader.take()) is not None:
        comments += [item.text] if isinstance(item, Comment) else []
    reader.close()
    assert " left → right: transfer" in comments
    assert comments[-1] == " right ends"


def test_lines_tell_what_was_said() -> None:
    lines = replayed(small()).lines
    transfer = [line for line in lines if line.phase == "transfer" and line.sender == 0]
    size = sum(len(record.data) for record in SMALL)
    assert [line.counts for line in transfer] == [{"records": 2, "bytes": size}]
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0].about.startswith("R.")


# What was changed afterwards.


def changed(pattern: bytes, new: bytes) -> bytes:
    data = small()
    assert re.search(pattern, data), pattern
    return re.sub(pattern, new, data, count=1)


@pytest.mark.parametrize(
    ("pattern", "new", "message", "how"),
    [
        (rb"HelloTickInterval\('10", b"HelloTickInterval('11", 3, "another hello"),
        (rb"\nMayRequest\('[^']*'\)", b"", 13, "request (1 records)"),
        (rb"BatchEnd\(\)\n", b"NotAvailable('B.x')\n", 15, "the end of a batch"),
        (rb"Plan\('E\..", b"Plan('E.0", 1, "the plan"),
        (
            rb"'answered','Stored'\)\n(New.*\n)*",
            b"'answered','NotStored')\n",
            15,
            "nothing is asked",
        ),
        (rb"'loops','3'", b"'loops','4'", 32, "loops"),
    ],
)
def test_what_differs_is_found(pattern: bytes, new: bytes, message: int, how: str) -> None:
    found = replayed(changed(pattern, new))
    assert found.diverges is not None
    assert how in found.diverges
    assert found.lines[-1].number == message


def test_a_recording_that_ends_early_is_not_whole() -> None:
    data = small()
    found = replayed(data[: data.index(b"# left ends")])
    assert (found.diverges, found.whole) == (None, False)


# What is no recording.


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "byte 0: truncated"),
        (b"hello", "byte 0: bad-preface"),
        (changed(rb"Recorded\('0','told'", b"Recorded('2','told'"), "nobody knows what"),
        (changed(rb"Recorded\('0','told'", b"Recorded('0','dreamt'"), "nobody knows what"),
        (changed(rb"'answered','Compiled'", b"'answered','x'"), "nobody knows 'x'"),
        (changed(rb"Recorded\('0','told','event'\)\n", b""), "does not belong"),
        (changed(rb"\nSend\('[^']*'\)", b""), "describes what was not asked for"),
        (changed(rb"At\('0','[0-9]*'\)\n", b""), "at what time"),
        (changed(rb"At\('0','", b"At('0','9"), "too late"),
        (changed(rb"Config\('module'", b"Config('x'"), "does not say module"),
        (changed(rb"Config\('open','0'", b"Config('open','2'"), "1 or 0"),
        (changed(rb"'tick_interval','[0-9]*'", b"'tick_interval','0'"), "too short"),
        (changed(rb"'lowering','standard-v1'", b"'lowering','odd'"), "no such lowering"),
        (changed(rb"Config\('origins','opaque'", b"Config('origins','x'"), "OriginMode"),
        (changed(rb"Config\('open','0'", b"Config('opened','0'"), "does not say open"),
        (changed(rb"# right takes part\nRecorded\('1'", b"# x\nRecorded('0'"), "already"),
        (changed(rb"\nSend\('P", b"\nSend('Q"), "typed hash"),
        (changed(rb"\nSend\(", b"\nNoSend("), "no difference"),
        (changed(rb"Loaded\('P\..", b"Loaded('P.0"), "loads what was not"),
        (changed(rb"(Loaded\('P.*',)'[0-9]*'", rb"\1'99999999999'"), "no record has"),
        (changed(rb"(Loaded\('P.*',)'[0-9]*'", rb"\1'99999999999999999999'"), "no record has"),
        (changed(rb"(Loaded\('P.*',)'[0-9]*'", rb"\1'x'"), "not a number"),
        (changed(rb"New\('P\..", b"New('P.0"), "stores what was not"),
        (changed(rb"SelectHave\(P\)", b"SelectHave(Q)"), "wrong-identifier"),
        (changed(rb"(?s)\xf0\x9f\xa7\xa9.*?\n\n", b""), "is not in the recording"),
        (changed(rb"Start\(\)\n", b"Start()\nStart()\n"), "twice"),
        (changed(rb"(?s)(# right takes.*?)(?=# left is told)", b""), "was not said to take part"),
        (changed(rb"\xf0\x9f\x96\xa7: P", b"\n\xf0\x9f\x96\xa7: P"), "in no batch"),
    ],
)
def test_what_cannot_be_replayed_is_refused(data: bytes, why: str) -> None:
    with pytest.raises((RecordingError, StreamError), match=re.escape(why)) as caught:
        replayed(data)
    assert isinstance(caught.value, RecordingError | StreamError)
    assert 0 <= caught.value.offset <= len(data)


@given(st.integers(0, 2**32), st.integers(1, 200))
@examples(150)
def test_no_bytes_make_it_fail_otherwise(seed: int, chunk: int) -> None:
    """A recording is hostile: it is replayed, refused or found to differ, and nothing else."""
    random, lines = Random(seed), small().split(b"\n")
    for _ in range(random.randint(1, 3)):
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(4):
            case 0:
                lines[at] = lines[other]
            case 1:
                del lines[at]
            case 2:
                lines.insert(at, lines[other])
            case _:
                digits = re.sub(rb"[0-9]", lambda _: b"%d" % random.randrange(10), lines[at])
                lines[at] = digits
    data = b"\n".join(lines)[: random.choice((None, random.randrange(20_000)))]
    with suppress(RecordingError, StreamError):
        replayed(data, chunk * 50)
