"""Advertise (050, D19): our send set to the peer, the peer's to us, whole or by partitions."""

from collections.abc import Iterator, Sequence

from lacec.runtime.interlace.advertisement import Advertisement
from lacec.runtime.interlace.advertisements import Claims, Listing, alteration, claims_of, said_of
from lacec.runtime.interlace.events import Describe, Described, Evaluated, Send
from lacec.runtime.interlace.link import Epoch, Link, Loop
from lacec.runtime.interlace.messages import Ask, Offer
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.reconcile.narrowing import Answerer, Asker
from lacec.runtime.interlace.reconcile.partitions import MANY, Partitions
from lacec.runtime.interlace.state import State


def begin_loop(link: Link, woken: bool = False) -> State:
    """Evaluate what to advertise; or begin a new epoch first, if our operand changed."""
    if link.next_module is not None:
        link.module, link.next_module = link.next_module, None
        # From rest the peer may begin a loop while our setup is on its way.
        link.epoch = Epoch(link.make_setup(), crossing=link.held is None)
        link.held = None
        link.emit(Send(link.epoch.setup))
        return State.SETUP
    link.loop, link.removed = Loop(woken=woken), False
    link.evaluate()
    return State.SELECTING


def on_selected(link: Link, found: Evaluated) -> State:
    epoch, loop = link.epoch, link.loop
    link.observed = max(link.observed, found.cursor)
    send = found.send - epoch.withheld
    epoch.withheld.clear()
    if (
        loop.woken
        and send == epoch.own.hashes
        and not requestable(link, found)
        and not has_ticked(link)
    ):
        return State.REST
    new = send - epoch.own.hashes
    if len(epoch.own) > len(send) - len(new):
        epoch.own = epoch.own.only(send)
    if not new:
        return _offer(link)
    link.emit(Describe(new, link.own_source, link.agreement.schema))
    return State.DESCRIBING


def requestable(link: Link, found: Evaluated) -> list[str]:
    """What may be requested: derived, missing, advertised, of a format that both accept, and
    not answered in vain while it was advertised (D18)."""
    epoch, formats = link.epoch, link.agreement.formats
    return sorted(
        hash
        for hash in found.request
        if hash in epoch.peer and hash not in epoch.unwanted and hash.rpartition(".")[2] in formats
    )


def has_ticked(link: Link) -> bool:
    """Whether our clock has reached a tick that the peer has not been told."""
    return link.config.open and link.ticks.reached(link.tai) > link.ticks.own


def on_described(link: Link, event: Described) -> State:
    # A record that has gone since the evaluation is not offered.
    link.epoch.own = link.epoch.own.and_also(claims_of(event.records))
    return _offer(link)


def _offer(link: Link) -> State:
    epoch, loop, limits = link.epoch, link.loop, link.agreement.limits
    tick = link.ticks.announce(link.tai) if link.config.open else None
    if link.agreement.partitions:
        if epoch.own_partitions is None or epoch.own is not epoch.own_partitions[0]:
            epoch.own_changed = link.steady
        epoch.own_partitions = _partitions(epoch.own, epoch.own_partitions)
        epoch.peer_partitions = _partitions(epoch.peer, epoch.peer_partitions)
        loop.answerer = Answerer(epoch.own_partitions[1], limits)
        loop.asker = Asker(epoch.peer_partitions[1], limits, link.config.own_limits)
        link.emit(Send(Offer(summaries=loop.answerer.first(), tick=tick)))
    else:
        if len(epoch.own) > limits.max_advertisement_records:
            raise Abort("listing-limit-exceeded", f"{len(epoch.own)} records to advertise")
        link.emit(Send(Offer(Listing(epoch.own), tick=tick)))
    if link.held is not None:
        held, link.held = link.held, None
        return on_offer(link, held)
    return State.ADVERTISE


def _partitions(
    claims: Claims, known: tuple[Claims, Partitions] | None
) -> tuple[Claims, Partitions]:
    """The partitions of claims; those of the loop before, changed, if that is known and little."""
    altered = alteration(known[0], claims) if known is not None else None
    if known is None or altered is None or len(altered.gone) + len(altered.come) > MANY:
        return claims, Partitions(claims.values())
    known[1].change(altered)
    return claims, known[1]


def look_ahead(link: Link) -> Iterator[None]:
    """Find in pieces, at rest, what the next loop will ask of partitions."""
    for known in (link.epoch.own_partitions, link.epoch.peer_partitions):
        if known is not None:
            yield from known[1].look_ahead()


def on_offer(link: Link, offer: Offer) -> State:
    loop = link.loop
    take_tick(link, offer.tick)
    if loop.first_offer:
        loop.first_offer = False
        link.ticks.settle()
    _check_claims(link, offer.records)
    if loop.asker is None:
        return _take_listing(link, offer)
    loop.asker.take(offer)
    loop.asked = loop.asker.ask()
    link.emit(Send(loop.asked))
    return State.ASK


def on_held_offer(link: Link, offer: Offer) -> State:
    """The peer begins a loop: ours is due, and then the answer to the peer's."""
    link.held = offer
    return begin_loop(link)


def _take_listing(link: Link, offer: Offer) -> State:
    limit = link.agreement.limits.max_advertisement_records
    if offer.summaries:
        raise Abort("malformed-partition-summary", "summaries were not agreed on")
    if len(offer.records) > limit:
        raise Abort("listing-limit-exceeded", f"{len(offer.records)} records, over {limit}")
    _know(link.epoch, claims_of(offer.records))
    return _evaluate(link)


def on_ask(link: Link, ask: Ask) -> State:
    loop = link.loop
    take_tick(link, ask.tick)
    assert loop.answerer is not None
    assert loop.asker is not None
    loop.answerer.ask(ask)
    if ask.lists or ask.narrows or loop.asked.lists or loop.asked.narrows:
        records, summaries = loop.answerer.answer()
        link.emit(Send(Offer(tuple(records), tuple(summaries))))
        return State.ADVERTISE
    epoch = link.epoch
    if not loop.asker.unchanged:
        gone, come = loop.asker.changes()
        more = {record.hash: record for record in come}
        _know(epoch, epoch.peer.altered(frozenset(gone), more))
    epoch.peer_partitions = _partitions(epoch.peer, epoch.peer_partitions)
    epoch.peer_partitions[1].take_word(loop.asker.told)
    return _evaluate(link)


def _know(epoch: Epoch, state: Claims) -> None:
    """The peer's advertisement state is now this."""
    if state != epoch.peer:
        epoch.peer = state
        epoch.unwanted &= state.hashes


def _evaluate(link: Link) -> State:
    link.evaluate()
    return State.EVALUATING


def take_tick(link: Link, tick: str | None) -> None:
    if tick is not None:
        link.ticks.take(tick, link.tai)


def _check_claims(link: Link, records: Sequence[Advertisement]) -> None:
    """D17, D21: the source is the peer's, the fields are of the schema."""
    schema, said = link.agreement.schema, said_of(records)
    if not said.sources <= {link.peer_source}:
        raise Abort("malformed-fact-block", "an advertisement has another source")
    if not schema.every and not said.names <= schema.names:
        raise Abort("malformed-fact-block", "an advertised field is not in the schema")
