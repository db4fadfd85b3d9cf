"""Whatever a peer says, a machine goes on or ends the exchange: it never raises."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField
from lacec.runtime.interlace.codec import Reading, read_message
from lacec.runtime.interlace.reasons import REASONS, Abort
from lacec.runtime.interlace.reconcile.partitions import Summary
from tests.helpers import examples
from tests.runtime.interlace.solo import Solo, plex

RECORDS = [plex(f"n{n}") for n in range(6)]
hashes = st.sampled_from([record.hash for record in RECORDS])
ticks = st.none() | st.sampled_from(["1700000000:000000000", "1700000010:000000000"])
prefixes = st.text(st.sampled_from("0aZ"), max_size=3)
# The source that the peer has in the exchange of a test.
LABEL = "the peer"

claims = st.builds(
    Advertisement,
    hashes,
    st.sampled_from([LABEL, "V.other.H3"]),
    st.lists(st.builds(ClaimedField, st.sampled_from(["Type", "App"]), st.integers(0, 2), hashes))
    .map(tuple),
)  # fmt: skip
summaries = st.builds(Summary, prefixes, st.integers(0, 10**6), st.just(bytes(32)))
offers = st.builds(
    m.Offer,
    st.lists(claims, max_size=4, unique_by=lambda claim: claim.hash).map(tuple),
    st.lists(summaries, max_size=2).map(tuple),
    ticks,
)
asks = st.builds(
    m.Ask,
    st.lists(prefixes, max_size=2).map(tuple),
    st.lists(prefixes, max_size=2).map(tuple),
    ticks,
)
requests = st.builds(m.Request, st.lists(hashes, max_size=4, unique=True).map(tuple), ticks)
items: st.SearchStrategy[e.FromPeer] = st.one_of(
    st.builds(m.Arrived, st.sampled_from(RECORDS)),
    st.builds(m.Invalid, hashes, st.integers(0, 10**10)),
    st.builds(m.NotAvailable, hashes),
    st.just(m.BatchEnd()),
)
# What fits what is read, so that exchanges get somewhere before they end.
FITTING: dict[Reading, st.SearchStrategy[e.FromPeer]] = {
    Reading.OFFER: st.one_of(offers),
    Reading.SETUP_OR_OFFER: st.one_of(st.just(m.Offer()), offers),
    Reading.ASK: st.one_of(st.just(m.Ask()), asks),
    Reading.REQUEST: st.one_of(st.just(m.Request()), requests),
    Reading.TRANSFER: items,
}
anything = st.one_of(offers, asks, requests, items)


def named(message: e.FromPeer, source: str) -> e.FromPeer:
    """With the source that the peer really has."""
    if not isinstance(message, m.Offer):
        return message
    records = [
        Advertisement(r.hash, source if r.source == LABEL else r.source, r.fields)
        for r in message.records
    ]
    return m.Offer(tuple(records), message.summaries, message.tick)


@given(st.data(), st.booleans(), st.booleans())
@examples(150)
def test_a_machine_survives_anything(data: st.DataObject, partitions: bool, stays: bool) -> None:
    solo = Solo(RECORDS[:2], partitions=partitions, open=stays)
    solo.open()
    for _ in range(20):
        reading = solo.machine.reading
        if reading is None:
            break
        fits = data.draw(st.integers(0, 9)) and reading in FITTING
        message = data.draw(FITTING[reading] if fits else anything)
        solo.tell(named(message, solo.machine.link.peer_source))
        solo.clock(1)
    if solo.result is not None:
        assert solo.result.aborted in {None, *REASONS}
    assert set(solo.shelf.records) <= {record.hash for record in RECORDS}


@given(st.sampled_from([r for r in Reading if r is not Reading.TRANSFER]), st.binary(max_size=200))
@examples(200)
def test_bytes_are_a_message_or_an_abort(reading: Reading, data: bytes) -> None:
    with suppress(Abort):
        read_message(reading, data)


@given(
    st.sampled_from([r for r in Reading if r is not Reading.TRANSFER]),
    st.lists(
        st.tuples(
            st.sampled_from(["Advertised", "MayRequest", "TickReady", "HelloTAI", "HelloLimit"]),
            st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=5),
        ),
        max_size=5,
    ),
)
@examples(200)
def test_facts_are_a_message_or_an_abort(
    reading: Reading, facts: list[tuple[str, list[str]]]
) -> None:
    lines = [f"{name}({','.join(repr(value) for value in values)})\n" for name, values in facts]
    with suppress(Abort):
        read_message(reading, "".join(lines).encode())
