"""Request and transfer (050, D18, D20): ask for what is missing, serve what is asked for."""

from lacec.runtime.interlace.events import (
    Evaluated,
    Load,
    Loaded,
    NotStored,
    Send,
    Store,
    Stored,
)
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.link import Link
from lacec.runtime.interlace.messages import (
    Arrived,
    BatchEnd,
    Invalid,
    NotAvailable,
    Request,
    SentRecord,
)
from lacec.runtime.interlace.phases.advertising import begin_loop, requestable, take_tick
from lacec.runtime.interlace.phases.closing import end_loop, settle
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.state import State

# The bytes of a request line beside its hash, and room in a block for a tick.
_REQUEST_BYTES = len("MayRequest('')\n")
_MARGIN = 128


def on_evaluated(link: Link, found: Evaluated) -> State:
    """Ask for as much of what is requestable as a block holds."""
    link.observed = max(link.observed, found.cursor)
    room = link.agreement.limits.max_fact_block_bytes - _MARGIN
    hashes = []
    for hash in requestable(link, found)[: link.config.own_limits.requests]:
        room -= len(hash) + _REQUEST_BYTES
        if room < 0:
            break
        hashes.append(hash)
    link.loop.requested = set(hashes)
    link.emit(Send(Request(tuple(hashes))))
    return State.REQUEST


def on_request(link: Link, request: Request) -> State:
    loop = link.loop
    take_tick(link, request.tick)
    loop.to_serve = list(request.hashes)
    if not loop.to_serve and not loop.requested:
        return settle(link)
    loop.began_transfer = link.steady
    _serve(link)
    return State.TRANSFER


def _serve(link: Link) -> None:
    """Load the next few, or end the batch; what is left over is deferred (D20)."""
    loop, budget = link.loop, link.config.budget
    spent = loop.served and (
        loop.served >= budget.records
        or loop.bytes_sent >= budget.bytes
        or link.steady - loop.began_transfer >= budget.seconds * SECOND
    )
    if not loop.to_serve or spent:
        _end_batch(link)
        return
    own = link.config.own_limits
    count = min(own.loaded_at_once, max(1, budget.records - loop.served))
    hashes, size = tuple(loop.to_serve[:count]), own.loaded_bytes_at_once
    link.emit(Load(hashes, size, link.runtime_facts(), link.epoch.peer))


def _end_batch(link: Link) -> None:
    link.loop.sent_end = True
    link.loop.to_serve.clear()
    link.emit(Send(BatchEnd()))


def on_loaded(link: Link, event: Loaded) -> State:
    loop, totals = link.loop, link.totals
    assert [record.hash for record in event.records] == loop.to_serve[: len(event.records)]
    assert event.records
    del loop.to_serve[: len(event.records)]
    for hash, data in event.records:
        if data is None:
            link.epoch.withheld.add(hash)
            link.emit(Send(NotAvailable(hash)))
            continue
        if loop.served and loop.bytes_sent + len(data) > link.config.budget.bytes:
            continue  # deferred
        link.emit(Send(SentRecord(hash, data)))
        loop.served += 1
        loop.bytes += len(data)
        loop.bytes_sent += len(data)
        totals.bytes_sent += len(data)
        loop.progress |= hash not in totals.sent
        totals.sent.add(hash)
    _serve(link)
    return _next(link)


def on_arrived(link: Link, event: Arrived) -> State:
    loop, own = link.loop, link.config.own_limits
    record = event.record
    _take_answer(link, record.hash, "unrequested-record")
    _count_received(link, len(record.data))
    loop.arrived.append(record)
    loop.arrived_bytes += len(record.data)
    if len(loop.arrived) >= own.stored_at_once or loop.arrived_bytes >= own.stored_bytes_at_once:
        flush(link)
    return State.TRANSFER


def on_invalid(link: Link, event: Invalid) -> State:
    _take_answer(link, event.hash, "unrequested-record")
    _count_received(link, event.size)
    link.totals.rejected[event.hash] = None
    link.epoch.unwanted.add(event.hash)
    return State.TRANSFER


def on_not_available(link: Link, event: NotAvailable) -> State:
    _take_answer(link, event.hash, "malformed-fact-block")
    link.totals.not_available[event.hash] = None
    link.epoch.unwanted.add(event.hash)
    return State.TRANSFER


def _take_answer(link: Link, hash: str, otherwise: str) -> None:
    if hash not in link.loop.requested:
        raise Abort(otherwise, f"an answer to no request: {hash}")
    link.loop.requested.remove(hash)


def _count_received(link: Link, size: int) -> None:
    """D18: bytes count against the limit while the loop has stored nothing."""
    loop = link.loop
    link.totals.bytes_received += size
    loop.bytes += size
    most = link.agreement.limits.max_total_transferred_bytes
    if not loop.progress and not loop.arrived and link.idle_bytes + loop.bytes > most:
        raise Abort("transfer-limit-exceeded", f"{link.idle_bytes + loop.bytes} bytes")


def flush(link: Link) -> None:
    """Give what arrived to the store."""
    loop = link.loop
    if loop.arrived:
        link.emit(Store(tuple(loop.arrived)))
        loop.arrived, loop.arrived_bytes, loop.storing = [], 0, True


def on_batch_end(link: Link, _: BatchEnd) -> State:
    link.loop.received_end = True
    flush(link)
    return _next(link)


def on_stored(link: Link, event: Stored) -> State:
    keep(link, event)
    return _next(link)


def keep(link: Link, event: Stored) -> None:
    """Count what the store has kept."""
    link.loop.storing = False
    link.loop.progress |= bool(event.new)
    link.totals.received |= dict.fromkeys(sorted(event.new))


def on_not_stored(link: Link, event: NotStored) -> State:
    link.loop.storing = False
    raise Abort("store-failed", event.detail)


def _next(link: Link) -> State:
    """The next loop, once both batches have ended and all is stored."""
    loop = link.loop
    if not loop.sent_end or not loop.received_end or loop.storing:
        return State.TRANSFER
    end_loop(link)
    return begin_loop(link)
