"""Writes a recording while an exchange runs.

In: what the driver of the machines tells it. Out: bytes, for a file.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from lacec.runtime.exchange.recording.answers import NOTHING, answer_facts
from lacec.runtime.exchange.recording.entries import Part, part_facts, result_facts, told_facts
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.codec import write_message
from lacec.runtime.interlace.driver import Seat
from lacec.runtime.interlace.facts import Fact, write_block

NAMES = ("left", "right")
HELD = 100_000_000  # nanoseconds for which the time stands still, so that blocks are few

_Clock = Callable[[], tuple[int, int]]


def held(clock: _Clock) -> _Clock:
    """A clock that begins at zero and moves ten times a second."""
    start, _ = last = clock()

    def read() -> tuple[int, int]:
        nonlocal last
        now = clock()
        if now[0] - last[0] >= HELD:
            last = now
        return last[0] - start, last[1]

    return read


class Recorder:
    """`write` takes the bytes; `modules` are the canonical bytes of the operands."""

    def __init__(
        self,
        write: Callable[[bytes], object],
        parts: Iterable[Part],
        modules: Mapping[str, bytes],
    ) -> None:
        self._write, self._stream = write, StreamWriter(modules)
        self._evaluated = [NOTHING, NOTHING]
        self._batch: int | None = None  # who hears the batch that is being written
        for part in parts:
            side = part.config.index
            self._entry(f"{NAMES[side]} takes part", side, "config", "part", part_facts(part))

    def told(self, side: int, clock: e.Clock, given: Sequence[e.Event]) -> None:
        what = ", ".join(type(event).__name__ for event in given) or "the time"
        facts = told_facts(clock, given)
        self._entry(f"{NAMES[side]} is told: {what}", side, "told", "event", facts)

    def answered(self, side: int, answer: e.Answer) -> None:
        kind = type(answer).__name__
        facts = answer_facts(answer, self._evaluated[side])
        self._entry(f"{NAMES[side]} is answered: {kind}", side, "answered", kind, facts)
        if isinstance(answer, e.Evaluated):
            self._evaluated[side] = answer

    def heard(self, side: int, message: m.Message, event: e.FromPeer | e.Faulty) -> None:
        """What a message is to its receiver says whether its bytes can be found again."""
        phase = phase_of(message)
        about = f"{NAMES[1 - side]} → {NAMES[side]}: {phase}"
        if phase == "transfer":
            if self._batch != side:
                self._end_batch()
                self._put(self._stream.comment(about))
                self._put(self._stream.facts(_head(side, "hears", phase)))
                self._batch = side
            self._item(message, event)
        else:
            self._message(about, side, "hears", message)

    def finish(self, seats: Iterable[Seat]) -> None:
        """What was said to nobody, and how both sides ended."""
        seats = list(seats)
        for side, other in ((0, seats[1]), (1, seats[0])):
            for message in other.inbox:
                about = f"{NAMES[side]}, unheard: {phase_of(message)}"
                self._message(about, side, "says", message)
        for side, seat in enumerate(seats):
            if seat.result is not None:
                facts = result_facts(seat.result)
                self._entry(f"{NAMES[side]} ends", side, "ends", "result", facts)

    def _item(self, message: m.Message, event: e.FromPeer | e.Faulty) -> None:
        match message:
            case m.SentRecord(hash, data) if isinstance(event, e.Faulty):
                self._put(self._stream.facts(write_block([("Unseen", hash, str(len(data)))])))
            case m.SentRecord() | m.NotAvailable():
                self._put(self._stream.write(message))
            case _:
                self._put(self._stream.facts(write_block([("BatchEnd",)])))
                self._end_batch()

    def _message(self, about: str, side: int, what: str, message: m.Message) -> None:
        self._end_batch()
        if isinstance(message, m.Setup):
            self._put(self._stream.resource(message.module))
        head = _head(side, what, phase_of(message))
        self._put(self._stream.comment(about) + self._stream.facts(head + _lines(message)))
        self._put(self._stream.end())

    def _entry(self, about: str, side: int, what: str, kind: str, facts: Iterable[Fact]) -> None:
        self._end_batch()
        lines = _head(side, what, kind) + write_block(facts)
        self._put(self._stream.comment(about) + self._stream.facts(lines) + self._stream.end())

    def _end_batch(self) -> None:
        if self._batch is not None:
            self._batch = None
            self._put(self._stream.end())

    def _put(self, data: bytes) -> None:
        self._write(data)


def phase_of(message: m.Message) -> str:
    if isinstance(message, m.SentRecord | m.NotAvailable | m.BatchEnd):
        return "transfer"
    return type(message).__name__.lower()


def _head(side: int, what: str, kind: str) -> bytes:
    return write_block([("Recorded", str(side), what, kind)])


def _lines(message: m.Message) -> bytes:
    """A message as fact lines; of a record that nobody heard only which it was."""
    match message:
        case m.SentRecord(hash, data):
            return write_block([("Unseen", hash, str(len(data)))])
        case m.BatchEnd():
            return write_block([("BatchEnd",)])
    return write_message(message)
