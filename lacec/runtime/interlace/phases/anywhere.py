"""What may happen in any state: time passes, the store changes, the peer goes away."""

from lacec.runtime.interlace.events import (
    Cancel,
    Clock,
    Closed,
    Disconnected,
    Faulty,
    Finish,
    NotEvaluated,
    NotStored,
    OperandChanged,
    Progress,
    Stored,
)
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.link import Link
from lacec.runtime.interlace.phases.closing import close
from lacec.runtime.interlace.phases.transferring import flush, keep
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.state import State


def on_clock(link: Link, event: Clock) -> None:
    link.steady, link.tai = max(link.steady, event.steady), event.tai


def check_patience(link: Link) -> None:
    """D24a: the peer has been silent, or slow, for too long. Asked while it is its turn."""
    agreement, own = link.epoch.agreement, link.config.own_limits
    limits = agreement.limits if agreement else link.config.limits
    if link.steady - link.last_progress > limits.phase_timeout_seconds * SECOND:
        raise Abort("phase-timeout", f"nothing came for {limits.phase_timeout_seconds} s")
    waited = link.steady - link.waiting_since
    if waited > own.rate_after_seconds * SECOND and (
        link.progress * SECOND < own.lowest_rate * waited
    ):
        raise Abort("phase-timeout", f"less than {own.lowest_rate} bytes a second came")


def on_progress(link: Link, event: Progress) -> None:
    link.last_progress = link.steady
    link.progress += event.count


def on_operand_changed(link: Link, event: OperandChanged) -> None:
    link.next_module = event.module


def on_finish(link: Link, _: Finish) -> None:
    link.finishing = True


def on_not_evaluated(_: Link, event: NotEvaluated) -> State:
    """Every failure of evaluation has the same name (D18a)."""
    raise Abort("evaluation-failed", event.detail)


def on_faulty(_: Link, event: Faulty) -> State:
    raise Abort(event.reason, event.detail)


def on_cancel(_: Link, __: Cancel) -> State:
    raise Abort("cancelled")


def on_disconnected(link: Link, event: Disconnected) -> State:
    if not event.whole:
        raise Abort("disconnected")
    return end(link, None, "the peer closed the exchange")


def on_disconnected_at_rest(link: Link, event: Disconnected) -> State:
    if not event.whole:
        raise Abort("disconnected")
    return close(link)


def on_disconnected_late(link: Link, _: Disconnected) -> State:
    """The fixed point has been reached; only the cursor is still to be kept."""
    link.peer_gone = True
    return State.REMEMBERING


def end(link: Link, aborted: str | None, detail: str) -> State:
    """End here, after the store has been given what arrived: no valid record is lost."""
    link.ending = (aborted, detail)
    flush(link)
    return State.ENDING if link.loop.storing else _over(link)


def on_last_stored(link: Link, event: Stored) -> State:
    keep(link, event)
    return _over(link)


def on_last_not_stored(link: Link, _: NotStored) -> State:
    return _over(link)


def _over(link: Link) -> State:
    aborted, detail = link.ending
    link.emit(Closed(link.result(False, aborted, detail)))
    return State.CLOSED
