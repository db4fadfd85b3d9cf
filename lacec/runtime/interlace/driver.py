"""Two machines in one process: messages are handed over as they are, nothing is serialised.

In: two machines and who answers each. Out: the result of each. The transitions are those of
an exchange over a connection; records are validated as they would be there.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from lacec.core.errors import RecordError
from lacec.records.record import parse_record
from lacec.runtime.interlace.events import (
    Answer,
    Cancel,
    Clock,
    Closed,
    Disconnected,
    Effect,
    Event,
    Faulty,
    FromPeer,
    Question,
    Rested,
    Send,
    Start,
)
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.messages import Arrived, Invalid, Message, SentRecord
from lacec.runtime.interlace.result import Result


class Answers(Protocol):
    """Who answers the questions of a machine (lacec.runtime.exchange.side.Side)."""

    def answer(self, question: Question) -> Answer:
        """The answer, at once."""


class Trace(Protocol):
    """Sees all that goes into a machine (lacec.runtime.exchange.recording.recorder.Recorder)."""

    def told(self, side: int, clock: Clock, given: Sequence[Event]) -> None: ...

    def heard(self, side: int, message: Message, event: FromPeer | Faulty) -> None: ...

    def answered(self, side: int, answer: Answer) -> None: ...


def receive(message: Message) -> FromPeer | Faulty:
    """What a message is to the one who gets it: a record is only now validated (010)."""
    if not isinstance(message, SentRecord):
        return message
    try:
        record = parse_record(message.data)
    except RecordError as error:
        if error.fatal:
            return Faulty("malformed-record", str(error))
        return Invalid(message.hash, len(message.data))
    return Arrived(record)


class Seat:
    """One machine, who answers it, and what the other one has said to it."""

    def __init__(self, machine: Machine, answers: Answers) -> None:
        self.machine, self.answers = machine, answers
        self.inbox: deque[Message] = deque()
        self.result: Result | None = None
        self.rested = False
        self.clock: Clock | None = None  # the time it was told last


class Pair:
    """An exchange in one process. `clock` tells the steady time and TAI, in nanoseconds."""

    def __init__(self, left: Seat, right: Seat, clock: Callable[[], tuple[int, int]]) -> None:
        self.seats = (left, right)
        self._clock = clock
        # Asked often while there is something to do: whether to go on.
        self.attend: Callable[[], bool] = lambda: True
        self.trace: Trace | None = None

    def run(self) -> None:
        """Run until both sides are closed, or, when they are open, at rest."""
        for seat in self.seats:
            self.tell(seat, Start())
        self.go_on()

    def tell(self, seat: Seat, *given: Event) -> None:
        """Give the time and events to a machine, answer its questions, pass on what it says."""
        self._tell(seat, Clock(*self._clock()), given)

    def _tell(self, seat: Seat, clock: Clock, given: Sequence[Event] = ()) -> None:
        seat.clock = clock
        if self.trace is not None:
            self.trace.told(self.seats.index(seat), clock, given)
        self._give(seat, [clock, *given])

    def _give(self, seat: Seat, given: Iterable[Event]) -> None:
        machine, other = seat.machine, self.seats[seat is self.seats[0]]
        events = deque(given)
        while events:
            for effect in machine.handle(events.popleft()):
                reply = self._carry_out(seat, other, effect)
                if reply is not None:
                    events.append(reply)

    def _carry_out(self, seat: Seat, other: Seat, effect: Effect) -> Event | None:
        match effect:
            case Send(message):
                other.inbox.append(message)
            case Closed(result):
                seat.result = result
            case Rested(result):
                seat.result, seat.rested = result, True
            case _:
                self.attend()
                answer = seat.answers.answer(effect)
                if self.trace is not None:
                    self.trace.answered(self.seats.index(seat), answer)
                return answer
        return None

    def go_on(self) -> None:
        """Deliver what is to be delivered, until there is nothing, or it is enough."""
        while any(self._deliver(seat, other) for seat, other in self._both()):
            pass
        if not self.attend() and any(seat.inbox for seat in self.seats):
            for seat in self.seats:
                self.tell(seat, Cancel())

    @property
    def closed(self) -> bool:
        """Whether there is no exchange any more, on one side at least."""
        return any(seat.machine.closed for seat in self.seats)

    def _hand_over(self, seat: Seat) -> None:
        clock = Clock(*self._clock())
        if clock != seat.clock:
            self._tell(seat, clock)
        if seat.machine.reading is None:
            return  # time alone has brought it elsewhere
        message = seat.inbox.popleft()
        event = receive(message)
        if self.trace is not None:
            self.trace.heard(self.seats.index(seat), message, event)
        self._give(seat, [event])

    def _both(self) -> tuple[tuple[Seat, Seat], tuple[Seat, Seat]]:
        left, right = self.seats
        return (left, right), (right, left)

    def _deliver(self, seat: Seat, other: Seat) -> bool:
        if seat.machine.closed:
            return False
        delivered = False
        while seat.inbox and seat.machine.reading is not None and self.attend():
            self._hand_over(seat)
            delivered = True
        if other.machine.closed and not seat.inbox and not seat.machine.closed:
            self.tell(seat, Disconnected(whole=True))
            delivered = True
        return delivered
