"""Messages as fact blocks (050, D17): readers and writers, picked by what may come.

In: the bytes of one block and which message it must be. Out: the message, or Abort. A
reader checks what can be seen in the block alone; what depends on the exchange (the
source, the schema, what was asked) the machine checks.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum

from lacec.records import b64a
from lacec.records.links import is_typed_hash
from lacec.records.tai import read_tai
from lacec.runtime.interlace import facts
from lacec.runtime.interlace.advertisement import Schema, advertise
from lacec.runtime.interlace.facts import LABEL_BYTES, Fact, read_block, write_block
from lacec.runtime.interlace.messages import (
    Ask,
    Block,
    Hello,
    NotAvailable,
    Offer,
    Request,
    Setup,
)
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.reconcile.partitions import Summary

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,17}")


class Reading(Enum):
    """What a machine is ready to read next."""

    SETUP = "setup"
    HELLO = "hello"
    OFFER = "offer"
    SETUP_OR_OFFER = "setup or offer"  # where a new epoch may begin (D18a)
    ASK = "ask"
    REQUEST = "request"
    TRANSFER = "transfer"  # records and NotAvailable, then the end of the batch


def read_message(reading: Reading, data: bytes) -> Block:
    """The message of a whole block."""
    return _READERS[reading](data)


def read_not_available(line: bytes) -> NotAvailable:
    """The message of one line within a transfer batch."""
    found = read_block(line, facts.TRANSFER)
    if len(found) != 1:
        raise _malformed("a transfer batch has one NotAvailable a line")
    return NotAvailable(_hash(found[0][1]))


def write_message(message: Block | NotAvailable) -> bytes:
    match message:
        case Setup():
            lines = _setup_facts(message)
        case Hello():
            lines = _hello_facts(message)
        case Offer():
            lines = _offer_facts(message)
        case Ask():
            lines = _ask_facts(message)
        case Request():
            lines = _request_facts(message)
        case NotAvailable(hash):
            lines = iter([("NotAvailable", hash)])
    return write_block(lines)


# Setup.


def _read_setup(data: bytes) -> Setup:
    found = _by_name(read_block(data, facts.SETUP))
    ((index, module, origin, facet),) = _some(found, "ExchangeOperand", 1, 1)
    nonces = _some(found, "SignerNonce", 0, 1)
    if index not in ("0", "1"):
        raise _malformed("an operand index is 0 or 1")
    if len(origin.encode("utf-8")) > LABEL_BYTES:
        raise _malformed("an origin is too long")
    return Setup(int(index), module, origin, facet, nonces[0][0] if nonces else None)


def _setup_facts(setup: Setup) -> Iterator[Fact]:
    yield "ExchangeOperand", str(setup.index), setup.module, setup.origin, setup.facet
    if setup.nonce is not None:
        yield "SignerNonce", setup.nonce


# Hello.


def _read_hello(data: bytes) -> Hello:
    found = _by_name(read_block(data, facts.HELLO))
    ((plan,),) = _some(found, "HelloExchangePlan", 1, 1)
    ((tai,),) = _some(found, "HelloTAI", 1, 1)
    ((interval,),) = _some(found, "HelloTickInterval", 1, 1)
    signers, proofs = _some(found, "HelloSigner", 0, 1), _some(found, "SignerProof", 0, 1)
    return Hello(
        plan,
        _tai(tai),
        _decimal(interval, "negotiation-failed"),
        frozenset(name for (name,) in found.get("HelloRecordFormat", [])),
        Schema(
            frozenset(name for (name,) in found.get("HelloAdvertisedField", [])),
            "HelloAllAdvertisedFields" in found,
        ),
        tuple((name, value) for name, value in found.get("HelloLimit", [])),
        signers[0][0] if signers else None,
        proofs[0][0] if proofs else None,
    )


def _hello_facts(hello: Hello) -> Iterator[Fact]:
    yield "HelloExchangePlan", hello.plan
    if hello.signer is not None:
        yield "HelloSigner", hello.signer
    if hello.proof is not None:
        yield "SignerProof", hello.proof
    yield "HelloTAI", hello.tai
    yield "HelloTickInterval", str(hello.interval)
    for name in sorted(hello.formats):
        yield "HelloRecordFormat", name
    for name in sorted(hello.schema.names):
        yield "HelloAdvertisedField", name
    if hello.schema.every:
        yield ("HelloAllAdvertisedFields",)
    for limit, value in hello.limits:
        yield "HelloLimit", limit, value


# Offers: advertisement records and summaries.


def _read_offer(data: bytes) -> Offer:
    found = _by_name(read_block(data, facts.OFFER))
    fields: dict[tuple[str, str], dict[tuple[str, int], str]] = {
        (_hash(hash), source): {} for hash, source in found.get("Advertised", [])
    }
    for hash, source, name, index, value in found.get("AdvertisedField", []):
        of_record = fields.get((hash, source))
        place = (name, _decimal(index))
        if of_record is None or place in of_record:
            raise _malformed("an advertised field has no record, or two values")
        of_record[place] = value
    summaries = found.get("AdvertisementPartition", [])
    prefixes = [prefix for prefix, _, _ in summaries]
    if len(set(prefixes)) < len(prefixes):
        raise Abort("malformed-partition-summary", "a partition is summarised twice")
    return Offer(
        tuple(
            advertise(*pair, ((name, nth, value) for (name, nth), value in claimed.items()))
            for pair, claimed in fields.items()
        ),
        tuple(_summary(*each) for each in summaries),
        _tick(found),
    )


def _summary(prefix: str, count: str, root: str) -> Summary:
    try:
        digest = b64a.decode(root)
    except b64a.B64AError as error:
        raise Abort("malformed-partition-summary", str(error)) from None
    _check_prefix(prefix)
    if len(digest) != 32:
        raise Abort("malformed-partition-summary", "a root has 32 bytes")
    return Summary(prefix, _decimal(count, "malformed-partition-summary"), digest)


def _check_prefix(prefix: str) -> None:
    if prefix.encode("utf-8").translate(None, b64a.ALPHABET) or len(prefix) > 64:
        raise Abort("malformed-partition-summary", "a prefix is not of B64A symbols")


def _offer_facts(offer: Offer) -> Iterator[Fact]:
    for record in offer.records:
        yield from record.facts()
    for prefix, count, root in offer.summaries:
        yield "AdvertisementPartition", prefix, str(count), b64a.encode(root)
    if offer.tick is not None:
        yield "TickReady", offer.tick


def _read_setup_or_offer(data: bytes) -> Setup | Offer:
    """A block with an ExchangeOperand is a setup (D18a)."""
    begins = data.startswith(b"ExchangeOperand(") or b"\nExchangeOperand(" in data
    return _read_setup(data) if begins else _read_offer(data)


# Asks and requests.


def _read_ask(data: bytes) -> Ask:
    found = _by_name(read_block(data, facts.ASK))
    lists = tuple(prefix for (prefix,) in found.get("ListAdvertisementPartition", []))
    narrows = tuple(prefix for (prefix,) in found.get("NarrowAdvertisementPartition", []))
    for prefix in (*lists, *narrows):
        _check_prefix(prefix)
    return Ask(lists, narrows, _tick(found))


def _ask_facts(ask: Ask) -> Iterator[Fact]:
    for prefix in ask.lists:
        yield "ListAdvertisementPartition", prefix
    for prefix in ask.narrows:
        yield "NarrowAdvertisementPartition", prefix
    if ask.tick is not None:
        yield "TickReady", ask.tick


def _read_request(data: bytes) -> Request:
    found = _by_name(read_block(data, facts.REQUEST))
    hashes = tuple(_hash(hash) for (hash,) in found.get("MayRequest", []))
    return Request(hashes, _tick(found))


def _request_facts(request: Request) -> Iterator[Fact]:
    for hash in request.hashes:
        yield "MayRequest", hash
    if request.tick is not None:
        yield "TickReady", request.tick


_READERS: Mapping[Reading, Callable[[bytes], Block]] = {
    Reading.SETUP: _read_setup,
    Reading.HELLO: _read_hello,
    Reading.OFFER: _read_offer,
    Reading.SETUP_OR_OFFER: _read_setup_or_offer,
    Reading.ASK: _read_ask,
    Reading.REQUEST: _read_request,
}


# Values.


def _by_name(block: list[Fact]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for name, *values in block:
        found.setdefault(name, []).append(tuple(values))
    return found


def _some(
    found: dict[str, list[tuple[str, ...]]], name: str, least: int, most: int
) -> list[tuple[str, ...]]:
    rows = found.get(name, [])
    if not least <= len(rows) <= most:
        raise _malformed(f"it has {len(rows)} facts {name}")
    return rows


def _tick(found: dict[str, list[tuple[str, ...]]]) -> str | None:
    rows = _some(found, "TickReady", 0, 1)
    return _tai(rows[0][0]) if rows else None


def _tai(text: str) -> str:
    try:
        read_tai(text)
    except ValueError as error:
        raise _malformed(str(error)) from None
    return text


def _decimal(text: str, reason: str = "malformed-fact-block") -> int:
    if not _DECIMAL.fullmatch(text):
        raise Abort(reason, "a number is not a canonical decimal")
    return int(text)


def _hash(text: str) -> str:
    if not is_typed_hash(text):
        raise _malformed("a hash is not a typed hash text")
    return text


def _malformed(why: str) -> Abort:
    return Abort("malformed-fact-block", why)
