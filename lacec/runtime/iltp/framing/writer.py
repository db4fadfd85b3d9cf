"""What this side says, as the bytes of its direction of a stream (060).

In: messages of the machine. Out: bytes. The preface comes before everything, and the bytes
of a module before the setup that names it.
"""

from collections.abc import Mapping

from lacec.core.errors import StreamError
from lacec.runtime.iltp.framing.rules import (
    COMMENT_BYTES,
    LACEGRAM,
    PIECE,
    PREFACE,
    RESOURCE_BYTES,
    RESOURCE_LINES,
)
from lacec.runtime.interlace.codec import write_message
from lacec.runtime.interlace.messages import BatchEnd, Message, NotAvailable, SentRecord, Setup


class StreamWriter:
    """One direction of a stream. With `comments` every block is preceded by one that names it:
    they are for people who read a captured stream."""

    def __init__(self, modules: Mapping[str, bytes], comments: bool = False) -> None:
        self._modules, self.comments = modules, comments
        self._sent: set[str] = set()  # identifiers whose bytes the peer has
        self._begun = self._after_comment = self._in_batch = False

    def write(self, message: Message) -> bytes:
        """The bytes of one message, with what must come before them."""
        match message:
            case SentRecord(_, data):
                body, begins = data + b"\n", not self._in_batch
            case NotAvailable():
                body, begins = write_message(message), not self._in_batch
            case BatchEnd():
                body, begins = b"\n", not self._in_batch
            case _:
                body, begins = write_message(message) + b"\n", True
        before = self.begin()
        if isinstance(message, Setup):
            before += self.resource(message.module)
            self._sent = {message.module}  # a peer need not keep those of setups before
        if begins and self.comments:
            before += self.comment(_TITLES.get(type(message), type(message).__name__.lower()))
        self._in_batch = isinstance(message, SentRecord | NotAvailable)
        self._after_comment = False
        return before + body

    def comment(self, text: str) -> bytes:
        """A comment line, cut to the size of one; nothing right after another comment."""
        if self._after_comment:
            return b""
        before, self._after_comment = self.begin(), True
        line = f"# {text}".replace("\r", " ").replace("\n", " ").encode("utf-8", "replace")
        return before + line[: COMMENT_BYTES - 1].decode("utf-8", "ignore").encode() + b"\n"

    def begin(self) -> bytes:
        """The preface, if it has not been written."""
        if self._begun:
            return b""
        self._begun = True
        return PREFACE

    def facts(self, lines: bytes) -> bytes:
        """Some lines of a block that no machine says: a recording has such."""
        before, self._after_comment = self.begin(), False
        return before + lines

    def end(self) -> bytes:
        """The blank line after such lines."""
        self._after_comment = False
        return b"\n"

    def resource(self, id: str) -> bytes:
        """The bytes of a module that the peer may not have."""
        if id in self._sent:
            return b""
        self._sent.add(id)
        data = self._modules[id]
        if len(data) > RESOURCE_BYTES:
            message = f"the selector has {len(data)} bytes, and can be sent with {RESOURCE_BYTES}"
            raise StreamError("resource-too-large", 0, message, "make it shorter")
        if data.count(b"\n") >= RESOURCE_LINES:
            message = f"the selector has more than {RESOURCE_LINES} lines"
            raise StreamError("too-many-lines", 0, message, "make it shorter")
        self._after_comment = False
        return PIECE + f"{id} {LACEGRAM}\n".encode() + data + b"\n\n"


_TITLES: dict[type, str] = {
    SentRecord: "transfer",
    NotAvailable: "transfer",
    BatchEnd: "transfer",
}
