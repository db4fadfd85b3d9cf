"""Two machines in one process: messages are handed over as they are, nothing is serialised.

In: two machines and who answers each. Out: the result of each. The transitions are those of
an exchange over a connection; records are validated as they would be there.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from lacec.errors import RecordError
from lacec.records.record import parse_record
from lacec.runtime.interlace.events import (
    Answer,
    Clock,
    Closed,
    Disconnected,
    Effect,
    Event,
    Faulty,
    FromPeer,
    Progress,
    Question,
    Rested,
    Send,
    Start,
)
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.messages import Arrived, Invalid, Message, SentRecord
from lacec.runtime.interlace.result import Result

# After so many messages the sender hears that they were taken.
_OFTEN = 16


class Answers(Protocol):
    """Who answers the questions of a machine (lacec.runtime.side.Side)."""

    def answer(self, question: Question) -> Answer:
        """The answer, at once."""


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


class Pair:
    """An exchange in one process. `clock` tells the steady time and TAI, in nanoseconds."""

    def __init__(self, left: Seat, right: Seat, clock: Callable[[], tuple[int, int]]) -> None:
        self.seats = (left, right)
        self._clock = clock

    def run(self) -> None:
        """Run until both sides are closed, or, when they are open, at rest."""
        for seat in self.seats:
            self.tell(seat, Start())
        self.go_on()

    def tell(self, seat: Seat, *given: Event) -> None:
        """Give events to a machine, answer its questions, and pass on what it says."""
        machine, other = seat.machine, self.seats[seat is self.seats[0]]
        events: deque[Event] = deque([Clock(*self._clock()), *given])
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
                return seat.answers.answer(effect)
        return None

    def go_on(self) -> None:
        """Deliver what is to be delivered, until there is nothing."""
        while any(self._deliver(seat, other) for seat, other in self._both()):
            pass

    def _both(self) -> tuple[tuple[Seat, Seat], tuple[Seat, Seat]]:
        left, right = self.seats
        return (left, right), (right, left)

    def _deliver(self, seat: Seat, other: Seat) -> bool:
        if seat.machine.closed:
            return False
        delivered, taken = 0, 0
        while seat.inbox and seat.machine.reading is not None:
            message = seat.inbox.popleft()
            # A long batch is no silence, neither to who gets it nor to who waits for its end.
            size = len(message.data) if isinstance(message, SentRecord) else 0
            self.tell(seat, Progress(size), receive(message))
            delivered, taken = delivered + 1, taken + size
            if delivered % _OFTEN == 0:
                self.tell(other, Progress(taken))
                taken = 0
        if other.machine.closed and not seat.inbox and not seat.machine.closed:
            self.tell(seat, Disconnected(whole=True))
            delivered += 1
        return delivered > 0
