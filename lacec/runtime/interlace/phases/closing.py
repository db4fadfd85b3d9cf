"""The end of loops (050 Fixed points, D18): go on, rest, or close."""

from lacec.runtime.interlace.events import (
    Clock,
    Closed,
    Cursor,
    Finish,
    OperandChanged,
    Remember,
    Remembered,
    Rested,
    StoreChanged,
)
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.link import Link
from lacec.runtime.interlace.phases.advertising import begin_loop, has_ticked
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.state import State


def settle(link: Link) -> State:
    """Nobody requested anything: is it a fixed point?

    It is when the loop before had the same advertisements, and the same TickTAI: what was
    advertised in this loop was evaluated at that time.
    """
    epoch = link.epoch
    now = (epoch.own, epoch.peer, link.ticks.shared)
    fixed = epoch.before == now
    end_loop(link)
    return _remember(link) if fixed else begin_loop(link)


def end_loop(link: Link) -> None:
    """Count a loop; Abort when too many came to nothing (D18)."""
    epoch, loop, limits = link.epoch, link.loop, link.agreement.limits
    epoch.before = (epoch.own, epoch.peer, link.ticks.shared)
    link.totals.loops += 1
    if loop.progress:
        return
    link.idle_loops += 1
    link.idle_bytes += loop.bytes
    if link.idle_bytes > limits.max_total_transferred_bytes:
        raise Abort("transfer-limit-exceeded", f"{link.idle_bytes} bytes")
    if link.idle_loops > limits.max_loop_iterations:
        raise Abort("loop-limit-exceeded", f"{link.idle_loops} loops")


def _remember(link: Link) -> State:
    """Keep the cursor of a proven link, if it changed."""
    epoch = link.epoch
    if epoch.link_id is None or epoch.peer == epoch.recalled:
        return _rest(link)
    link.emit(Remember(epoch.link_id, Cursor(link.agreement.schema, epoch.peer)))
    return State.REMEMBERING


def on_remembered(link: Link, event: Remembered) -> State:
    """A cursor that could not be kept costs time later, and nothing else."""
    if event.kept:
        link.epoch.recalled = link.epoch.peer
        link.totals.cursor_updated = True
    return _rest(link)


def _rest(link: Link) -> State:
    if not link.config.open or link.finishing or link.peer_gone:
        return close(link)
    link.idle_loops = link.idle_bytes = 0
    link.emit(Rested(link.result(converged=True)))
    return wake(link)


def close(link: Link) -> State:
    link.emit(Closed(link.result(converged=True)))
    return State.CLOSED


def wake(link: Link) -> State:
    """Begin a loop if there is something new: an operand, records, a tick."""
    stored = link.removed or link.changed > link.observed
    if link.next_module is not None or stored or has_ticked(link):
        return begin_loop(link, woken=True)
    return State.REST


def on_clock_at_rest(link: Link, _: Clock) -> State:
    epoch = link.epoch
    idle = link.steady - epoch.own_changed
    if epoch.own_partitions is not None and idle > link.config.own_limits.idle_seconds * SECOND:
        epoch.own_partitions[1].drop_trees()
    return wake(link)


def on_store_changed(link: Link, event: StoreChanged) -> None:
    link.changed = max(link.changed, event.cursor)
    link.removed |= event.removed


def on_change_at_rest(link: Link, event: StoreChanged) -> State:
    on_store_changed(link, event)
    return wake(link)


def on_operand_at_rest(link: Link, event: OperandChanged) -> State:
    link.next_module = event.module
    return wake(link)


def on_finish_at_rest(link: Link, _: Finish) -> State:
    return close(link)
