"""Reads a recording, which may be hostile: bytes in, one entry after the other out.

An entry is a block, or one item of a batch. Blocks and lines are bounded, records are
validated, resources are checked against their identifiers; what is wrong has an offset.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lacec.core.errors import RecordingError
from lacec.core.limits import DEFAULT_LIMITS
from lacec.runtime.exchange.recording.answers import (
    ANSWERS,
    PREDICATES,
    BadAnswerError,
    read_number,
)
from lacec.runtime.exchange.recording.entries import CONFIG, ENDS, HEAD, TOLD
from lacec.runtime.iltp.framing.items import (
    Blank,
    Facts,
    Item,
    ItemReader,
    Rejected,
    Resource,
    Stored,
)
from lacec.runtime.iltp.framing.resources import check_resource
from lacec.runtime.iltp.framing.rules import RESOURCES
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.codec import Reading, read_message
from lacec.runtime.interlace.facts import TRANSFER, Fact, read_block
from lacec.runtime.interlace.reasons import Abort

MOST_BLOCK = 2**28  # bytes: an answer names all that may be sent
_BATCH: Mapping[str, int] = {**TRANSFER, "Unseen": 2, "BatchEnd": 0}
_BLOCKS = {"config": CONFIG, "told": TOLD, "answered": PREDICATES, "ends": ENDS}
_PHASES = {reading.value: reading for reading in Reading if reading is not Reading.SETUP_OR_OFFER}
_ANSWERED = {kind for kinds in ANSWERS.values() for kind in kinds}


@dataclass(frozen=True)
class Said:
    """A message, or an item of a batch, as both sides of it can see it.

    `message` is what the sender says; of a record only its hash and its size count. `event`
    is what that is to the receiver.
    """

    message: m.Block | m.NotAvailable | m.BatchEnd | tuple[str, int]
    event: e.FromPeer | e.Faulty


@dataclass(frozen=True)
class Entry:
    """`what` is config, told, answered, hears, says or ends; `side` is whose entry it is."""

    offset: int
    side: int
    what: str
    kind: str
    facts: tuple[Fact, ...] = ()
    said: Said | None = None


class EntryReader:
    """`modules` are the canonical bytes of the operands, as they come."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.modules: dict[str, bytes] = {}
        self._block = bytearray()
        self._offset = 0  # of the block
        self._batch: Entry | None = None  # the batch whose items come

    def __iter__(self) -> Iterator[Entry]:
        for item in self._items():
            match item:
                case Facts(offset, data):
                    yield from self._take_facts(offset, data)
                case Stored() | Rejected():
                    yield from self._open_batch(item.offset)
                    yield self._record(item)
                case Blank(offset):
                    yield from self._end(offset)
                case Resource():
                    self._keep(item)
        if self._block or self._batch is not None:
            raise RecordingError(self._offset, "it ends in the middle of a block")

    def _items(self) -> Iterator[Item]:
        reader = ItemReader()
        for chunk in self._chunks:
            reader.feed(chunk)
            while (item := reader.take()) is not None:
                yield item
        reader.close()

    def _take_facts(self, offset: int, data: bytes) -> Iterator[Entry]:
        if self._batch is not None:
            yield from self._lines(offset, data)
            return
        if not self._block:
            self._offset = offset
        if len(self._block) + len(data) > MOST_BLOCK:
            raise RecordingError(self._offset, f"a block has more than {MOST_BLOCK} bytes")
        self._block += data

    def _open_batch(self, offset: int) -> Iterator[Entry]:
        """A record comes: what came before it in the block is the beginning of a batch."""
        if self._batch is None:
            if not self._block:
                raise RecordingError(offset, "a record stands in no batch")
            yield from self._begin()
            if self._batch is None:
                raise RecordingError(offset, "a record stands in a block that is no batch")

    def _end(self, offset: int) -> Iterator[Entry]:
        if self._batch is None:
            if not self._block:
                raise RecordingError(offset, "a block is empty: it does not say whose it is")
            yield from self._begin()
        self._batch = None

    def _begin(self) -> Iterator[Entry]:
        """What the block at hand is: a whole entry, or the head of a batch and its first lines."""
        data, self._block = bytes(self._block), bytearray()
        head, rest = self._head(data)
        if head.kind == "transfer" and head.what in ("hears", "says"):
            self._batch = head
            if rest:
                yield from self._lines(self._offset + len(data) - len(rest), rest)
        elif head.what in ("hears", "says"):
            message = self._message(head.kind, rest)
            yield replace(head, said=Said(message, message))
        else:
            yield replace(head, facts=tuple(self._read(rest, _BLOCKS[head.what])))

    def _head(self, data: bytes) -> tuple[Entry, bytes]:
        line, _, rest = data.partition(b"\n")
        (fact,) = self._read(line + b"\n", HEAD)
        if fact[0] != "Recorded":
            raise RecordingError(self._offset, "a block does not begin with Recorded")
        _, side, what, kind = fact
        known = {"hears": set(_PHASES), "says": set(_PHASES), "answered": _ANSWERED}
        if side not in ("0", "1") or what not in ("config", "told", "ends", *known):
            raise RecordingError(self._offset, "nobody knows what was recorded here")
        if what in known and kind not in known[what]:
            raise RecordingError(self._offset, f"nobody knows {kind[:40]!r}")
        return Entry(self._offset, int(side), what, kind), rest

    def _message(self, kind: str, data: bytes) -> m.Block:
        try:
            return read_message(_PHASES[kind], data)
        except Abort as abort:
            raise RecordingError(self._offset, abort.detail or str(abort)) from None

    def _read(self, data: bytes, allowed: Mapping[str, int]) -> list[Fact]:
        try:
            return read_block(data, allowed)
        except Abort as abort:
            raise RecordingError(self._offset, abort.detail) from None

    # Items of a batch.

    def _record(self, item: Stored | Rejected) -> Entry:
        event: e.FromPeer
        if isinstance(item, Stored):
            hash, size = item.record.hash, len(item.record.data)
            event = m.Arrived(item.record)
        else:
            hash, size = item.hash, item.size
            event = m.Invalid(hash, size)
        return self._item(item.offset, Said((hash, size), event))

    def _lines(self, offset: int, data: bytes) -> Iterator[Entry]:
        for line in data.splitlines(keepends=True):
            self._offset = offset
            (fact,) = self._read(line, _BATCH)
            yield self._item(offset, self._said(fact))
            offset += len(line)

    def _said(self, fact: Fact) -> Said:
        match fact:
            case "NotAvailable", hash:
                return Said(m.NotAvailable(hash), m.NotAvailable(hash))
            case "Unseen", hash, size:
                try:
                    return Said((hash, read_number(size)), e.Faulty("malformed-record"))
                except BadAnswerError as error:
                    raise RecordingError(self._offset, str(error)) from None
        return Said(m.BatchEnd(), m.BatchEnd())

    def _item(self, offset: int, said: Said) -> Entry:
        assert self._batch is not None
        return replace(self._batch, offset=offset, said=said)

    def _keep(self, resource: Resource) -> None:
        if self._block or self._batch is not None:
            raise RecordingError(resource.offset, "a resource stands in the middle of a block")
        if resource.id not in self.modules and len(self.modules) == RESOURCES:
            raise RecordingError(resource.offset, f"it has more than {RESOURCES} resources")
        check_resource(resource, DEFAULT_LIMITS)
        self.modules[resource.id] = resource.data
