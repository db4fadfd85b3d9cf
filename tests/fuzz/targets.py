"""What is fuzzed: everything that reads what a peer says. Whatever the bytes are, a reader takes
them or refuses them by its own error; and what it takes, it writes back the same.

A target takes bytes and says how it ended, in a word or two: an input that ends in a new way
is worth to be kept.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from lacec.core.errors import PlanError, RecordError, RecordingError, StreamError
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.origins import OriginMode
from lacec.plan.exchange import make_plan
from lacec.plan.origins import Party
from lacec.plan.transcript import read_transcript
from lacec.records.record import read_records
from lacec.runtime.exchange.in_process import Participant, make_pair, system_clock
from lacec.runtime.exchange.recording.reader import EntryReader
from lacec.runtime.exchange.recording.recorder import Recorder
from lacec.runtime.exchange.side import Policy
from lacec.runtime.iltp.framing.reader import StreamReader
from lacec.runtime.iltp.framing.rules import MARKERS, PREFACE
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema
from lacec.runtime.interlace.codec import Reading, read_message, write_message
from lacec.runtime.interlace.messages import (
    Arrived,
    Ask,
    BatchEnd,
    Hello,
    Invalid,
    NotAvailable,
    Offer,
    Request,
    SentRecord,
    Setup,
)
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.reconcile.partitions import Summary
from tests.records import made
from tests.simulation.policies import (
    ANSWERS,
    EVERYTHING,
    MEMBERS,
    library,
    local_policy,
    modules,
    operand,
)
from tests.simulation.shelf import MemoryShelf

MOST_BLOCK = 2**20
# How many bytes come at once. Byte by byte takes long, so it is not done to all.
_STEPS = (1, 7, *(64, 512, 4096) * 10)
# The readings of a link, one after another; a stream of seeds follows them.
_PHASES = (Reading.SETUP, Reading.HELLO, Reading.OFFER, Reading.ASK, Reading.REQUEST)


@dataclass(frozen=True)
class Target:
    name: str
    run: Callable[[bytes], str]
    seeds: Callable[[], Sequence[bytes]]


def _read_stream(data: bytes) -> str:
    """As a link does: in pieces, phase by phase. What is held never exceeds what came."""
    known = modules() if len(data) % 8 else {}  # to compile a module takes long, too
    reader = StreamReader(dict(known), DEFAULT_LIMITS)
    step = _STEPS[len(data) % len(_STEPS)]
    phases = iter(_PHASES)
    reading, at, fed = next(phases), 0, 0
    try:
        while True:
            message = reader.take(reading, MOST_BLOCK)
            assert reader.held <= fed + 64
            if message is None:
                if at >= len(data):
                    return f"{reading.name} whole={reader.whole}"
                reader.feed(data[at : at + step])
                at, fed = at + step, fed + step
            elif not isinstance(message, Arrived | Invalid | NotAvailable):
                reading = next(phases, Reading.TRANSFER)
                if isinstance(message, BatchEnd):
                    phases = iter(_PHASES[2:])
                    reading = next(phases)
    except StreamError as error:
        return f"{reading.name} {_refused(error.name, error.offset, data)}"


def _kind(message: str) -> str:
    """A message without what it quotes and counts."""
    return re.sub(r"[`'\"].*|[0-9]+", "", message)


def _refused(name: str, offset: int, data: bytes) -> str:
    assert 0 <= offset <= len(data)
    return name


def _read_records(data: bytes) -> str:
    half = len(data) // 2
    found = []
    for offset, item in read_records([data[:half], data[half:]]):
        assert 0 <= offset <= len(data)
        if isinstance(item, RecordError):
            found.append(item.name)
        else:
            assert item.data in data
            found.append(item.type)
    return " ".join(found[:4])


def _read_block(data: bytes) -> str:
    found = []
    for reading in Reading:
        if reading is Reading.TRANSFER:
            continue
        try:
            message = read_message(reading, data)
        except Abort as abort:
            found.append(abort.reason)
            continue
        written = write_message(message)
        assert read_message(reading, written) == message
        found.append(type(message).__name__)
    return " ".join(found)


def _read_transcript(data: bytes) -> str:
    try:
        transcript = read_transcript(data)
    except PlanError as error:
        return _kind(str(error))
    assert transcript.text.encode() == data
    return "read"


def _read_recording(data: bytes) -> str:
    try:
        entries = list(EntryReader([data]))
    except StreamError as error:
        return _refused(error.name, error.offset, data)
    except RecordingError as error:
        return _refused(_kind(error.message), error.offset, data)
    return "read" if entries else "nothing"


# Seeds: what honest peers say.


@cache
def _messages() -> tuple[Setup | Hello | Offer | Ask | Request, ...]:
    own = operand(0, EVERYTHING).module.id
    hashes = [record.hash for record in library()[:3]]
    offered = tuple(
        Advertisement(
            hash, "Opq_x", (ClaimedField("Type", 0, hash[0]), ClaimedField("App", 0, "ü"))
        )
        for hash in hashes
    )
    root = hashes[0][2:45]
    return (
        Setup(0, own, "unassigned", "selector", None),
        Setup(1, own, "V.x", "selector", root),
        Hello(
            "E." + root,
            "1700000000:000000000",
            10**10,
            frozenset(["H3"]),
            Schema(frozenset(["Type", "App"])),
            (("max_loop_iterations", "16"), ("partition_summaries", "1")),
            None,
            None,
        ),
        Offer(offered, ()),
        Offer((), (Summary("", 3, bytes(32)),)),
        Ask(("",), ()),
        Ask((), ("A", "B")),
        Request(tuple(hashes)),
        Request(()),
    )


def _blocks() -> Sequence[bytes]:
    return [write_message(message) for message in _messages()]


def _streams() -> Sequence[bytes]:
    setup, _, hello, offer, _, ask, _, request, _ = _messages()
    sent = [SentRecord(record.hash, record.data) for record in library()[:4]]
    found = []
    for comments in (False, True):
        writer = StreamWriter(modules(), comments)
        said = [setup, hello, offer, ask, request, *sent, NotAvailable(sent[0].hash), BatchEnd()]
        found.append(b"".join(writer.write(each) for each in said))
    return [*found, PREFACE]


def _stored() -> Sequence[bytes]:
    records = [made.seal(), made.blob(b"x"), made.plex(), *library()[:12]]
    each = [record.data + b"\n" for record in records]
    return [*each, b"".join(each)]


def _transcripts() -> Sequence[bytes]:
    return [
        make_plan((operand(0, one), operand(1, two)), (Party(), party), mode).transcript.encode()
        for one, two in ((EVERYTHING, MEMBERS), (ANSWERS, ANSWERS))
        for party in (Party(), Party("V.theirs"))
        for mode in OriginMode
    ]


def _recordings() -> Sequence[bytes]:
    written = bytearray()
    sides = []
    for index in (0, 1):
        shelf = MemoryShelf()
        shelf.add(library()[index : index + 3])
        policy = Policy(operand(index, EVERYTHING), local_policy(index, EVERYTHING, "all"))
        sides.append(Participant(shelf, policy))
    pair = make_pair(sides[0], sides[1], system_clock, record=written.extend)
    pair.run()
    assert isinstance(pair.trace, Recorder)
    pair.trace.finish(pair.seats)
    return [bytes(written)]


TARGETS = {
    target.name: target
    for target in (
        Target("stream", _read_stream, _streams),
        Target("records", _read_records, _stored),
        Target("blocks", _read_block, _blocks),
        Target("transcripts", _read_transcript, _transcripts),
        Target("recordings", _read_recording, _recordings),
    )
}

# Words that mean something to a reader.
WORDS = (
    *MARKERS,
    PREFACE,
    b"\n",
    b"\n\n",
    b"\r\n",
    b"# x\n",
    b"'",
    b"\\'",
    b"\\",
    b"',' ",
    b")",
    b"0",
    b"-1",
    b"99999999999999999999",
    b"\xc3\xbc",
    b"u\xcc\x88",
    b"\xff",
    b"\x00",
    b".H3",
    b"B.",
    b"P.",
    b"S.",
    b"R.",
    b"E.",
    b"Data-Length: ",
    b"Advertised('",
    b"ExchangePlanOperand('",
)


if __name__ == "__main__":  # for `make fuzz`
    print(*TARGETS)
