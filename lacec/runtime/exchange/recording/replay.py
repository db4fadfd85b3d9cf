"""Replays a recording: fresh machines are given what those before them were given.

In: the bytes of a recording. Out: the messages, and whether the machines said the same, or
where they did not. No store is needed: what stores answered is in the recording. Plans are
made anew, from the selectors; policies are not evaluated again, because not all that they saw
is there.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from lacec.core.errors import CompileError, PlanError, RecordingError
from lacec.plan.expose import NO_POLICY
from lacec.plan.operands import peer_operand
from lacec.runtime.exchange.recording.answers import ANSWERS, NOTHING, BadAnswerError, read_answer
from lacec.runtime.exchange.recording.entries import Part, read_part, read_told, result_facts
from lacec.runtime.exchange.recording.reader import Entry, EntryReader
from lacec.runtime.exchange.side import EXCHANGE_LIMITS, Policy, make_exchange_plan
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.machine import Machine, MisuseError
from lacec.runtime.interlace.result import Result

Outgoing = m.Block | m.NotAvailable | m.BatchEnd | tuple[str, int]


class DivergedError(Exception):
    """A machine does not do what was recorded."""


@dataclass
class Line:
    """One message as people read it: a block, or a whole batch."""

    number: int
    offset: int
    sender: int
    phase: str
    about: str = ""  # the identifier that it is about
    counts: dict[str, int] = field(default_factory=dict)
    heard: bool = True


@dataclass
class Replay:
    """What came of it. `diverges` says how, at the byte `offset`, in the last of the lines."""

    lines: list[Line] = field(default_factory=list)
    results: dict[int, Result] = field(default_factory=dict)
    diverges: str | None = None
    offset: int = 0
    whole: bool = False  # whether the recording says how both sides ended


class _Seat:
    """A fresh machine, what it asks, and what it says."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.machine = Machine(part.config)
        self.questions: deque[e.Question] = deque()
        self.outbox: deque[Outgoing] = deque()
        self.evaluated = NOTHING
        self.result: Result | None = None
        self.ended = False

    def give(self, event: e.Event) -> None:
        for effect in self.machine.handle(event):
            match effect:
                case e.Send(m.SentRecord(hash, data)):
                    self.outbox.append((hash, len(data)))
                case e.Send(message):
                    assert not isinstance(message, m.SentRecord)
                    self.outbox.append(message)
                case e.Closed(result):
                    self.result = result
                case e.Rested():
                    pass
                case _:
                    self.questions.append(effect)

    def expect(self, said: Outgoing) -> None:
        """That this is what the machine says next."""
        if not self.outbox:
            raise DivergedError(f"recorded is {show(said)}, and the machine says nothing")
        found = self.outbox.popleft()
        if found != said:
            other = "another " if show(found) == show(said) else ""
            raise DivergedError(
                f"recorded is {show(said)}, and the machine says {other}{show(found)}"
            )


def show(said: Outgoing) -> str:
    match said:
        case (str() as hash, int() as size):
            return f"the record {hash} of {size} bytes"
        case m.NotAvailable(hash):
            return f"NotAvailable of {hash}"
        case m.BatchEnd():
            return "the end of a batch"
    parts = [_about(said), *(f"{number} {what}" for what, number in counts(said).items())]
    told = ", ".join(part for part in parts if part)
    return f"{type(said).__name__.lower()} ({told or 'empty'})"


def _about(said: Outgoing) -> str:
    match said:
        case m.Setup(_, module):
            return module
        case m.Hello(plan):
            return plan
    return ""


def counts(said: Outgoing) -> dict[str, int]:
    """What there is in a message, by name."""
    match said:
        case m.Offer(records, summaries):
            found = {"records": len(records), "summaries": len(summaries)}
        case m.Ask(lists, narrows):
            found = {"lists": len(lists), "narrows": len(narrows)}
        case m.Request(hashes):
            found = {"records": len(hashes)}
        case m.NotAvailable():
            found = {"not available": 1}
        case (str(), int() as size):
            found = {"records": 1, "bytes": size}
        case _:
            found = {}
    return {what: number for what, number in found.items() if number}


class _Replayer:
    def __init__(self, reader: EntryReader) -> None:
        self._reader = reader
        self.seats: dict[int, _Seat] = {}
        self.replay = Replay()
        self._batches: dict[int, Line] = {}  # by sender: a batch that has not ended

    def run(self) -> Replay:
        replay = self.replay
        for entry in self._reader:
            replay.offset = entry.offset
            try:
                self._take(entry)
            except DivergedError as error:
                replay.diverges = str(error)
                return replay
            except BadAnswerError as error:
                raise RecordingError(entry.offset, str(error)) from None
            except MisuseError as error:
                raise RecordingError(entry.offset, f"out of order: {error}") from None
        replay.whole = bool(self.seats) and all(seat.ended for seat in self.seats.values())
        for side, seat in self.seats.items():
            if replay.whole and seat.outbox:
                replay.diverges = f"the machine of side {side} says more than was recorded"
        return replay

    def _take(self, entry: Entry) -> None:
        if entry.what == "config":
            if entry.side in self.seats:
                raise BadAnswerError("this side takes part already")
            self.seats[entry.side] = _Seat(read_part(entry.side, entry.facts))
            return
        seat = self.seats.get(entry.side)
        if seat is None:
            raise BadAnswerError("this side was not said to take part")
        match entry.what:
            case "told":
                for event in read_told(entry.facts):
                    seat.give(event)
            case "hears":
                self._hear(seat, entry)
            case "says":
                assert entry.said is not None
                self._note(entry, entry.side)
                seat.expect(entry.said.message)
            case "answered":
                self._answer(seat, entry)
            case _:
                self._end(seat, entry)

    def _hear(self, seat: _Seat, entry: Entry) -> None:
        assert entry.said is not None
        self._note(entry, 1 - entry.side)
        sender = self.seats.get(1 - entry.side)
        if sender is not None:
            sender.expect(entry.said.message)
        seat.give(entry.said.event)

    def _answer(self, seat: _Seat, entry: Entry) -> None:
        if not seat.questions:
            raise DivergedError(f"recorded is the answer {entry.kind}, and nothing is asked")
        question = seat.questions.popleft()
        if entry.kind not in ANSWERS[type(question)]:
            asked = type(question).__name__
            raise DivergedError(f"recorded is the answer {entry.kind}, and the question {asked}")
        answer = read_answer(entry.kind, entry.facts, question, seat.evaluated)
        if isinstance(answer, e.Evaluated):
            seat.evaluated = answer
        if isinstance(answer, e.Compiled):
            assert isinstance(question, e.Compile)
            self._check_plan(seat, question, answer)
        seat.give(answer)

    def _check_plan(self, seat: _Seat, question: e.Compile, answer: e.Compiled) -> None:
        """The plan is made anew, from the selectors as they were sent."""
        operands = []
        for setup in sorted((question.own, question.peer), key=lambda setup: setup.index):
            data = self._reader.modules.get(setup.module)
            if data is None:
                raise BadAnswerError(f"the text of {setup.module} is not in the recording")
            try:
                operands.append(peer_operand(setup.index, data, EXCHANGE_LIMITS))
            except (CompileError, PlanError) as error:
                raise BadAnswerError(f"{setup.module}: {error}") from None
        own = operands[question.own.index]
        policy = Policy(own, NO_POLICY, seat.part.origins, seat.part.lowering)
        try:
            _, made = make_exchange_plan(policy, operands[question.peer.index], question)
        except PlanError as error:
            raise DivergedError(f"recorded is a plan, and none can be made: {error}") from None
        if made != answer:
            raise DivergedError(f"recorded is the plan {answer.plan}, and made is {made.plan}")

    def _end(self, seat: _Seat, entry: Entry) -> None:
        seat.ended = True
        if seat.result is None:
            raise DivergedError("recorded is the end of the exchange, and the machine goes on")
        self.replay.results[entry.side] = seat.result
        found, recorded = set(result_facts(seat.result)), set(entry.facts)
        for _, name, value in sorted(found ^ recorded):
            whose = "recorded" if ("Result", name, value) in recorded else "the machine's"
            raise DivergedError(f"the results differ: {name} {value} is {whose} alone")

    def _note(self, entry: Entry, sender: int) -> None:
        """Add a message to the lines; the items of a batch make one together."""
        assert entry.said is not None
        line = self._batches.get(sender) if entry.kind == "transfer" else None
        if line is None:
            number, about = len(self.replay.lines) + 1, _about(entry.said.message)
            line = Line(number, entry.offset, sender, entry.kind, about)
            line.heard = entry.what == "hears"
            self.replay.lines.append(line)
        for what, number in counts(entry.said.message).items():
            line.counts[what] = line.counts.get(what, 0) + number
        if entry.kind == "transfer":
            self._batches[sender] = line
            if isinstance(entry.said.message, m.BatchEnd):
                del self._batches[sender]


def replay(chunks: Iterable[bytes]) -> Replay:
    """RecordingError or StreamError if it is no recording, or a broken one."""
    return _Replayer(EntryReader(chunks)).run()
