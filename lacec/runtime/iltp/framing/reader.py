"""What a peer says, from the bytes of its direction of a stream (060).

In: bytes as they come, and what the machine is ready to read. Out: messages for it, or a
StreamError. Comments are skipped, resources are checked and kept, and a direction that ends
is told to have ended between two phases or in the middle of something.
"""

from collections import deque

from lacec.core.errors import StreamError
from lacec.core.limits import Limits
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RecordLimits
from lacec.runtime.iltp.framing.items import (
    Blank,
    Comment,
    Facts,
    Item,
    ItemReader,
    Preface,
    Rejected,
    Resource,
    Stored,
)
from lacec.runtime.iltp.framing.resources import check_resource
from lacec.runtime.iltp.framing.rules import EXCHANGE_PLAN, KEPT_RESOURCE_BYTES, RESOURCES
from lacec.runtime.interlace.codec import Reading, read_message, read_not_available
from lacec.runtime.interlace.events import FromPeer
from lacec.runtime.interlace.messages import Arrived, BatchEnd, Hello, Invalid, NotAvailable, Setup
from lacec.runtime.interlace.reasons import Abort


class StreamReader:
    """One direction of a stream. `modules` are canonical bytes by identifier: what the peer
    sends is added to them, and goes again when too much came after it (D29)."""

    def __init__(
        self,
        modules: dict[str, bytes],
        limits: Limits,
        records: RecordLimits = DEFAULT_RECORD_LIMITS,
    ) -> None:
        self._items = ItemReader(records)
        self._modules, self._limits = modules, limits
        self._block = bytearray()  # the fact lines of a block that has not ended
        self._block_offset = 0
        self._missing: deque[NotAvailable] = deque()  # read, and not yet taken
        self._resources = self._kept_bytes = 0
        self._kept: deque[str] = deque()  # the resources in `modules`, in the order they came
        self._operand: str | None = None  # the one of the last setup
        self._plan: str | None = None  # the one of the last hello
        self._plans: set[str] = set()  # sent as resources, and not yet seen to be that one
        self.comment: str | None = None  # the last item, if it is one: why a peer aborts (D18a)

    @property
    def offset(self) -> int:
        """How many bytes have been read."""
        return self._items.offset

    @property
    def held(self) -> int:
        """How many bytes are kept for what has not ended, and as resources."""
        return self._items.held + len(self._block) + self._kept_bytes

    @property
    def pending(self) -> int:
        """How many bytes the next `take` may have to work on."""
        return self._items.held + len(self._block)

    @property
    def whole(self) -> bool:
        """Whether the direction may end here: not in a block, a resource or a record."""
        try:
            self._items.close()
        except StreamError:
            return False
        return not self._block

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        self._items.feed(data)

    def take(self, reading: Reading, most: int) -> FromPeer | None:
        """The next message; None until more bytes are fed. A block has at most `most` bytes."""
        while not self._missing:
            if reading is not Reading.TRANSFER and self._items.at_record:
                what = "a record comes where none is awaited"
                raise StreamError("misplaced-record", self.offset, what, "", "unrequested-record")
            item = self._items.take()
            if item is None:
                return None
            self.comment = item.text if isinstance(item, Comment) else None
            message = self._transfer(item) if reading is Reading.TRANSFER else None
            message = message or self._assemble(item, reading, most)
            if message is not None:
                self._check_plans(message, item)
                return message
        return self._missing.popleft()

    def _transfer(self, item: Item) -> FromPeer | None:
        """An item of a batch, each a message of its own (D20)."""
        match item:
            case Stored(_, record):
                return Arrived(record)
            case Rejected(_, hash, size, _):
                return Invalid(hash, size)
            case Blank():
                return BatchEnd()
            case Facts(offset, data):
                try:
                    self._missing += map(read_not_available, data.splitlines(keepends=True))
                except Abort as abort:
                    raise _bad_block(offset, abort) from None
                return self._missing.popleft()
        return None

    def _assemble(self, item: Item, reading: Reading, most: int) -> FromPeer | None:
        """What an item adds to a block, and the message of a block that it ends."""
        match item:
            case Resource():
                self._keep(item)
            case Facts(offset, data):
                if not self._block:
                    self._block_offset = offset
                if len(self._block) + len(data) > most:
                    message = f"a fact block has more than {most} bytes"
                    reason = "oversized-fact-block"
                    raise StreamError("block-too-large", self._block_offset, message, "", reason)
                self._block += data
            case Blank(offset):
                data, self._block = bytes(self._block), bytearray()
                try:
                    return read_message(reading, data)
                except Abort as abort:
                    raise _bad_block(self._block_offset if data else offset, abort) from None
            case Comment() | Preface() | Stored() | Rejected():
                pass
        return None

    def _keep(self, resource: Resource) -> None:
        if self._block:
            message = "a resource stands in the middle of a fact block"
            raise StreamError("misplaced-resource", resource.offset, message)
        self._resources += 1
        if self._resources > RESOURCES:
            message = f"there are more than {RESOURCES} resources"
            raise StreamError("too-many-resources", resource.offset, message)
        known = self._modules.get(resource.id)
        if known is not None and known != resource.data:
            message = f"{resource.id} came before with other bytes"
            raise StreamError("conflicting-resource", resource.offset, message)
        if resource.kind == EXCHANGE_PLAN:
            self._plans.add(resource.id)
        if known is None:
            check_resource(resource, self._limits)
            self._modules[resource.id] = resource.data
            self._kept.append(resource.id)
            self._kept_bytes += len(resource.data)
            self._forget()

    def _forget(self) -> None:
        """The oldest, while there are too many; the operand in use and the last one may stay."""
        for id in tuple(self._kept)[:-1]:
            if self._kept_bytes <= KEPT_RESOURCE_BYTES:
                return
            if id != self._operand:
                self._kept.remove(id)
                self._kept_bytes -= len(self._modules.pop(id))

    def _check_plans(self, message: FromPeer, item: Item) -> None:
        """D29: a plan that came as a resource is the agreed one, once there is one."""
        if isinstance(message, Setup):
            self._operand = message.module
            return
        if isinstance(message, Hello):
            self._plan = message.plan
        if self._plans - {self._plan}:
            what = "a plan was sent that is not the agreed one"
            raise StreamError("other-plan", item.offset, what, "", "exchange-plan-mismatch")
        self._plans.clear()


def _bad_block(offset: int, abort: Abort) -> StreamError:
    return StreamError("bad-fact-block", offset, abort.detail or str(abort), "", abort.reason)
