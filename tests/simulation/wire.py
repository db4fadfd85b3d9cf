"""Messages as bytes and back: blocks end with a blank line, records with one LF (D20, D25)."""

from lacec.errors import RecordError
from lacec.records.record import RecordReader
from lacec.records.rules import MARK
from lacec.runtime.interlace.codec import (
    Reading,
    read_message,
    read_not_available,
    write_message,
)
from lacec.runtime.interlace.events import Faulty, FromPeer
from lacec.runtime.interlace.facts import LINE_BYTES
from lacec.runtime.interlace.messages import (
    Arrived,
    BatchEnd,
    Invalid,
    Message,
    NotAvailable,
    SentRecord,
)
from lacec.runtime.interlace.reasons import Abort


def to_bytes(message: Message) -> bytes:
    match message:
        case SentRecord(_, data):
            return data + b"\n"
        case NotAvailable():
            return write_message(message)
        case BatchEnd():
            return b"\n"
        case _:
            return write_message(message) + b"\n"


class WireReader:
    """A push reader: bytes in as they come, messages out when the machine is ready to read."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self.buffer += data

    @property
    def whole(self) -> bool:
        """Whether nothing has begun and not ended."""
        return not self.buffer

    def take(self, reading: Reading, most: int) -> FromPeer | Faulty | None:
        """The next message; None until more bytes are there."""
        try:
            if reading is Reading.TRANSFER:
                return self._take_item()
            return self._take_block(reading, most)
        except Abort as abort:
            return Faulty(abort.reason, abort.detail)

    def _take_block(self, reading: Reading, most: int) -> FromPeer | None:
        if self.buffer[:1] == b"\n":
            end = 0
        else:
            at = self.buffer.find(b"\n\n", 0, most + 2)
            if at < 0:
                if len(self.buffer) > most:
                    raise Abort("oversized-fact-block")
                return None
            end = at + 1
        data = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        return read_message(reading, data)

    def _take_item(self) -> FromPeer | Faulty | None:
        if self.buffer[:1] == b"\n":
            del self.buffer[:1]
            return BatchEnd()
        if self.buffer[:1] == b"N":
            end = self.buffer.find(b"\n") + 1
            if not end:
                if len(self.buffer) > LINE_BYTES:
                    raise Abort("malformed-fact-block")
                return None
            line = bytes(self.buffer[:end])
            del self.buffer[:end]
            return read_not_available(line)
        return self._take_record() if self.buffer else None

    def _take_record(self) -> FromPeer | Faulty | None:
        if not self.buffer.startswith(MARK) and not MARK.startswith(self.buffer):
            raise Abort("malformed-record")
        reader = RecordReader()
        reader.feed(self.buffer)
        found: FromPeer | None = None
        try:
            record = reader.take()
        except RecordError as error:
            if error.fatal or error.claimed is None:
                raise Abort("malformed-record", str(error)) from None
            found = Invalid(error.claimed, reader.offset)
        else:
            found = None if record is None else Arrived(record)
        # The LF after a record belongs to it, as the message does not go without it.
        if found is None or len(self.buffer) == reader.offset:
            return None
        if self.buffer[reader.offset : reader.offset + 1] != b"\n":
            raise Abort("malformed-record", "no LF after a record")
        del self.buffer[: reader.offset + 1]
        return found
