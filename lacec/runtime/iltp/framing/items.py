"""The items of an ILTP stream (060): one direction's bytes in, its items out as they complete.

What an item may stand for depends on the phase, and is not known here: only where each
begins and ends. An error ends the stream, and is raised again by every later call. Offsets
count from the first byte of the direction.
"""

import re
from dataclasses import dataclass
from typing import NoReturn
from unicodedata import is_normalized

from lacec.core.errors import RecordError, StreamError
from lacec.records import b64a
from lacec.records.head import Head, find_head, read_head
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RecordLimits
from lacec.records.record import PushParser, Record, admit
from lacec.records.rules import MARK, TRAILER
from lacec.runtime.iltp.framing.rules import (
    COMMENT_BYTES,
    KINDS,
    KNOT,
    MARKER_BYTES,
    MARKERS,
    PIECE,
    PREFACE,
    RESOURCE_BYTES,
    RESOURCE_LINES,
)
from lacec.runtime.interlace.facts import LINE_BYTES

_LF, _HASH = 0x0A, 0x23
# Many whole fact lines: blocks are long, and few of their lines need a closer look. How many at
# most bounds the memory of the match.
_FACT_LINES = re.compile(rb"(?:[A-Za-z][^\r\n]{0,%d}+\n){1,4096}" % (LINE_BYTES - 1))


@dataclass(frozen=True, slots=True)
class Preface:
    offset: int


@dataclass(frozen=True, slots=True)
class Comment:
    offset: int
    text: str  # without the # and the LF


@dataclass(frozen=True, slots=True)
class Facts:
    """Some whole fact lines: as many as were there."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource text block; whether its bytes are what its identifier says is not known yet."""

    offset: int
    id: str
    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """A record that is valid."""

    offset: int
    record: Record


@dataclass(frozen=True, slots=True)
class Rejected:
    """Bytes that have the form of a record, but not its digest or signature (D20)."""

    offset: int
    hash: str
    size: int
    error: RecordError


@dataclass(frozen=True, slots=True)
class Blank:
    offset: int


Item = Preface | Comment | Facts | Resource | Stored | Rejected | Blank


class ItemReader(PushParser):
    """A push parser. Feed it, then take until it has nothing more: it then holds less than one
    item, and nothing was allocated for that before its length was checked."""

    def __init__(self, limits: RecordLimits = DEFAULT_RECORD_LIMITS) -> None:
        super().__init__()
        self._limits = limits
        self._failure: StreamError | None = None
        self._prefaced = False
        self._first = True  # nothing but comments has come after the preface
        self._after_comment = False
        self._head: Head | None = None  # of the record that is still coming in
        self._resource: _Body | None = None  # the resource that is still coming in

    @property
    def held(self) -> int:
        """How many bytes wait to be taken."""
        return len(self._buffer) - self._at

    @property
    def at_record(self) -> bool:
        """Whether the next item is a record."""
        return self._prefaced and self._buffer.startswith(MARK, self._at)

    def take(self) -> Item | None:
        """The next item; None until more bytes are fed."""
        if self._failure is not None:
            raise self._failure
        try:
            return self._take()
        except StreamError as error:
            self._failure = error
            raise

    def close(self) -> None:
        """Say that the direction has ended, after the last `take`; raise unless between items."""
        if self._failure is not None:
            raise self._failure
        if not self._prefaced:
            self._stop("truncated", self.held, "it ended before its first line did")
        if self.held:
            self._stop("truncated", self.held, "it ended in the middle of an item")

    def _take(self) -> Item | None:
        buffer, at = self._buffer, self._at
        if not self._prefaced:
            return self._take_preface()
        if at == len(buffer):
            return None
        first = buffer[at]
        if first == _LF:
            return self._take_blank()
        if first == _HASH:
            return self._take_comment()
        if buffer[at : at + 1].isalpha():
            return self._take_facts()
        if buffer.startswith(MARK, at):
            return self._take_record()
        if buffer.startswith(PIECE, at):
            return self._take_resource()
        self._check_beginning(bytes(buffer[at : at + len(TRAILER)]))
        return None

    def _check_beginning(self, begun: bytes) -> None:
        """Raise unless these bytes may yet become an item: markers are matched whole."""
        if begun.startswith(KNOT):
            self._stop("second-preface", 0, "the preface comes again", "send it once")
        if begun == TRAILER:
            message = "this record has its hash in a trailer (`⋯🖧: `), which is not supported"
            self._stop("trailer-hash", 0, message, "send it with its hash in the first line")
        if not any(marker.startswith(begun) for marker in MARKERS):
            message = "these bytes begin no item"
            self._stop("unknown-item", 0, message, "begin with a letter, a marker, # or LF")

    def _stop(self, name: str, at: int, message: str, help: str = "") -> NoReturn:
        """`at` counts from where the item begins."""
        raise StreamError(name, self.offset + at, message, help)

    def _pass(self, size: int, comment: bool = False) -> int:
        """Go to the next item; where this one began."""
        begins = self.offset
        self._at += size
        self._after_comment = comment
        self._first = self._first and comment
        return begins

    def _take_preface(self) -> Preface | None:
        begun = bytes(self._buffer[: len(PREFACE)])
        if not PREFACE.startswith(begun):
            at = next(n for n, (a, b) in enumerate(zip(begun, PREFACE, strict=False)) if a != b)
            message = "this direction does not begin with the line `🪢: iltp/1`"
            self._stop("bad-preface", at, message, "is this an ILTP stream of version 1?")
        if len(begun) < len(PREFACE):
            return None
        self._at, self._prefaced = len(PREFACE), True
        return Preface(0)

    def _take_blank(self) -> Blank:
        if self._first:
            message = "a blank line follows the preface"
            self._stop("blank-after-preface", 0, message, "send the setup block there")
        return Blank(self._pass(1))

    # Lines.

    def _take_facts(self) -> Facts | None:
        found = _FACT_LINES.match(self._buffer, self._at)
        if found is not None:
            return Facts(self._pass(found.end() - self._at), found.group())
        self._take_line("fact-line-too-long", LINE_BYTES, "a fact line")
        return None

    def _take_line(self, too_long: str, most: int, what: str) -> bytes | None:
        """The line at hand without its LF, which comes after at most so many bytes; None until
        it is whole. Lines have no CR."""
        start = self._at
        end = self._buffer.find(b"\n", start, start + most + 1)
        line = bytes(self._buffer[start : end if end >= 0 else start + most + 1])
        if b"\r" in line:
            message = f"{what} has a carriage return"
            self._stop("carriage-return", line.index(b"\r"), message, "end lines with LF alone")
        if end < 0 and len(line) > most:
            self._stop(too_long, most, f"{what} has more than {most} bytes")
        return line if end >= 0 else None

    def _text(self, data: bytes, at: int) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._stop("not-utf8", at + error.start, "this is not UTF-8")

    def _take_comment(self) -> Comment | None:
        if self._after_comment:
            message = "a comment follows a comment"
            self._stop("two-comments", 0, message, "put it on one line, or between other items")
        line = self._take_line("comment-too-long", COMMENT_BYTES - 1, "a comment")
        if line is None:
            return None
        text = self._text(line[1:], 1)
        return Comment(self._pass(len(line) + 1, comment=True), text)

    # Records.

    def _take_record(self) -> Stored | Rejected | None:
        """A record and the LF after it, which belongs to the framing (D25)."""
        buffer, at = self._buffer, self._at
        try:
            if self._head is None:
                stop = find_head(buffer, at, self._limits)
                if stop is None:
                    return None
                self._head = read_head(buffer, at, stop, self._limits)
        except RecordError as error:
            place, message = self.offset + error.offset, f"{error.name}: {error.message}"
            raise StreamError(
                "bad-record", place, message, error.help, "malformed-record"
            ) from None
        head = self._head
        size = head.data_start + head.data_length
        if len(buffer) - at <= size:
            return None
        if buffer[at + size] != _LF:
            message = "no LF follows the record"
            raise StreamError(
                "record-not-ended", self.offset + size, message, "", "malformed-record"
            )
        with memoryview(buffer) as view:
            data = bytes(view[at : at + size])
        self._head = None
        begins = self._pass(size + 1)
        try:
            return Stored(begins, admit(data, head))
        except RecordError as error:
            return Rejected(begins, head.hash, size, error.moved(begins))

    # Resources.

    def _take_resource(self) -> Resource | None:
        if self._resource is None:
            line = self._take_line("marker-line-too-long", MARKER_BYTES, "a marker line")
            if line is None:
                return None
            self._resource = _Body(*self._read_marker(line), len(line) + 1)
        body = self._resource
        while not body.whole:
            if not self._take_body_line(body):
                return None
        data = bytes(self._buffer[self._at + body.start : self._at + body.end - 1])
        if not is_normalized("NFC", self._text(data, body.start)):
            self._stop("not-nfc", body.start, "the text is not in normal form NFC")
        self._resource = None
        return Resource(self._pass(body.end + 1), body.id, body.kind, data)

    def _read_marker(self, line: bytes) -> tuple[str, str]:
        text = self._text(line[len(PIECE) :], len(PIECE))
        id, space, kind = text.partition(" ")
        if not (id and space and kind) or re.search(r"[ \t]", id + kind):
            message = "a marker line has an identifier, one space and a kind"
            self._stop("bad-marker-line", len(PIECE), message)
        if not is_normalized("NFC", text):
            self._stop("bad-marker-line", len(PIECE), "a marker line is NFC text")
        if kind not in KINDS:
            message = "this kind of resource is not known"
            self._stop("unknown-kind", len(line) - len(kind.encode()), message)
        if not _is_identifier(id, KINDS[kind]):
            message = f"the identifier of this kind is {KINDS[kind]}.<b64a>"
            self._stop("wrong-shape", len(PIECE), message)
        return id, kind

    def _take_body_line(self, body: "_Body") -> bool:
        """One line of a resource, or the blank line after it; False if it is not whole."""
        buffer, at = self._buffer, self._at
        start = body.end
        found = buffer.find(b"\n", at + max(start, body.looked))
        ended, end = found >= 0, (found if found >= 0 else len(buffer)) - at
        body.looked = end
        if end == start:
            if ended and not body.lines:
                self._stop("empty-resource", start, "a resource has no lines")
            body.whole = ended
            return ended
        if end - body.start > RESOURCE_BYTES:
            message = f"a resource has more than {RESOURCE_BYTES} bytes"
            self._stop("resource-too-large", body.start + RESOURCE_BYTES, message)
        if not ended:
            return False
        if body.lines == RESOURCE_LINES:
            message = f"a resource has more than {RESOURCE_LINES} lines"
            self._stop("too-many-lines", start, message)
        line = bytes(buffer[at + start : at + end])
        if b"\r" in line:
            message = "a line of a resource has a carriage return"
            self._stop("carriage-return", start + line.index(b"\r"), message)
        if line[0] == _HASH or line.startswith(MARKERS):
            message = "a line of a resource begins with a marker or #"
            self._stop("bad-resource-line", start, message)
        body.end, body.lines = end + 1, body.lines + 1
        return True


class _Body:
    """How far a resource has come in. Places count from where its item begins."""

    def __init__(self, id: str, kind: str, start: int) -> None:
        self.id, self.kind = id, kind
        self.start = self.end = start  # of the body, and of its whole lines
        self.looked = start  # no LF between `end` and here
        self.lines = 0
        self.whole = False


def _is_identifier(text: str, letter: str) -> bool:
    try:
        return text[:2] == f"{letter}." and len(b64a.decode(text[2:])) == 32
    except b64a.B64AError:
        return False
