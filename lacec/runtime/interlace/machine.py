"""The interlace machine (050): one for each side of a link. Events in, effects out.

It has no clock, no store and no connection: each effect is for a driver to carry out, and
each answer comes back as an event. What it does with an event is in `table`.
"""

from collections.abc import Iterator

from lacec.runtime.interlace import messages
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.events import Clock, Effect, Event, NotEvaluated
from lacec.runtime.interlace.link import Config, Link
from lacec.runtime.interlace.phases.advertising import look_ahead
from lacec.runtime.interlace.phases.anywhere import check_patience, end
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.state import State
from lacec.runtime.interlace.table import ENDS, EVALUATIONS, NOTED, TABLE

_FROM_PEER = (
    messages.Setup,
    messages.Hello,
    messages.Offer,
    messages.Ask,
    messages.Request,
    messages.NotAvailable,
    messages.BatchEnd,
)
_RECORDS = (messages.Arrived, messages.Invalid)


class MisuseError(Exception):
    """The caller gave an answer to no question: a mistake on this side, not the peer's."""


class Machine:
    """One side of one exchange. After `Closed` it takes no more notice of anything."""

    def __init__(self, config: Config) -> None:
        self.link = Link(config)
        self.state = State.NEW

    def handle(self, event: Event) -> list[Effect]:
        """Take an event; the effects are to be carried out in order."""
        link = self.link
        link.out = []
        before = self.state, self.reading
        if self.closed:
            return []
        try:
            self.state = self._step(event)
        except Abort as abort:
            self.state = end(link, abort.reason, abort.detail)
        if (self.state, self.reading) != before:
            link.waiting_since = link.last_progress = link.steady
            link.progress = 0
        return link.out

    def _step(self, event: Event) -> State:
        link, kind = self.link, type(event)
        if isinstance(event, Clock):
            NOTED[Clock](link, event)
            if self.reading is not None and self.state is not State.REST:
                check_patience(link)
        row = TABLE.get((self.state, kind))
        if row is not None:
            state = row.act(link, event)
            assert state in row.leads_to, (row, state)
            return state
        if kind in NOTED:
            NOTED[kind](link, event)
            return self.state
        if self.state is State.ENDING:
            return State.ENDING
        if kind in ENDS and (kind is not NotEvaluated or self.state in EVALUATIONS):
            return ENDS[kind](link, event)
        if isinstance(event, _RECORDS):
            raise Abort("unrequested-record", "no record is awaited")
        if isinstance(event, _FROM_PEER):
            raise Abort("out-of-phase", f"{kind.__name__} while waiting for {self.state.value}")
        raise MisuseError(f"{kind.__name__} while waiting for {self.state.value}")

    def look_ahead(self) -> Iterator[None]:
        """Work in small pieces for the next loop, which is then sooner done: for a driver that has
        nothing to do while the machine is at rest. An event may come between any two."""
        if self.state is State.REST:
            yield from look_ahead(self.link)

    @property
    def closed(self) -> bool:
        return self.state is State.CLOSED

    @property
    def reading(self) -> Reading | None:
        """What the machine is ready to read; None while it is busy with something else."""
        link = self.link
        match self.state:
            case State.SETUP:
                return Reading.SETUP_OR_OFFER if link.epoch.crossing else Reading.SETUP
            case State.HELLO:
                return Reading.HELLO
            case State.ADVERTISE:
                return Reading.SETUP_OR_OFFER if link.loop.first_offer else Reading.OFFER
            case State.ASK:
                return Reading.ASK
            case State.REQUEST:
                return Reading.REQUEST
            case State.TRANSFER if not link.loop.received_end and not link.loop.storing:
                return Reading.TRANSFER
            case State.REST:
                return Reading.SETUP_OR_OFFER
        return None
