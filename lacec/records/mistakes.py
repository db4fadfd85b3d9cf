"""Why bytes are not the head of a record: the first rule that they break, and where.

In: bytes that `head` has refused. Out: a RecordError. It goes line by line as a person
would, in the order in which 010 lays a record out.
"""

import re
from typing import NamedTuple, NoReturn
from unicodedata import is_normalized

from lacec.core.diagnostics import quote
from lacec.core.errors import RecordError
from lacec.records import b64a
from lacec.records.limits import RecordLimits
from lacec.records.rules import COORDINATES, LINE_BYTES, MARK, PATH_BYTES, RESERVED, TRAILER

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_SPECIAL = re.compile(r"[{}|#]")
_TAI = re.compile(r"[0-9]{10}:[0-9]{9}")
_DECIMAL = re.compile(r"0|[1-9][0-9]*")


def explain(head: bytes | bytearray, limits: RecordLimits) -> RecordError:
    """The first mistake in bytes that begin where a record should."""
    lines = _Lines(bytes(head))
    try:
        _check_start(lines)
        letter = _check_mark(lines, "SPB")
        if letter == "S":
            _check_seal(lines)
            letter = _check_mark(lines, "P")
        if letter == "P":
            _check_plex(lines, limits)
            _check_mark(lines, "B")
        _check_blob(lines, limits)
    except RecordError as error:
        if error.name == "truncated" and len(head) >= limits.head_bytes:
            return _headers_too_large(len(head), limits)
        return error


class _Header(NamedTuple):
    """A header line, and where it and its value begin."""

    start: int
    name: str
    value_start: int
    value: str


class _Lines:
    """The lines of a head, taken one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def starts_with(self, text: bytes) -> bool:
        return self.data.startswith(text, self.at)

    def take(self) -> tuple[int, bytes]:
        """Where the next line begins, and the line without its LF."""
        start, end = self.at, self.data.find(b"\n", self.at)
        if (end if end >= 0 else len(self.data)) - start > LINE_BYTES:
            message = f"a line has more than {LINE_BYTES} bytes"
            help = "split the value, or put it into the data"
            _refuse("line-too-long", start + LINE_BYTES, message, help)
        if end < 0:
            self.end()
        self.at = end + 1
        return start, self.data[start:end]

    def end(self) -> NoReturn:
        """No more lines, although more should come."""
        help = "send all of its bytes, down to the last one of the data"
        _refuse("truncated", len(self.data), "the record ends inside its head", help)


def _refuse(name: str, offset: int, message: str, help: str) -> NoReturn:
    raise RecordError(name, offset, message, help)


def _headers_too_large(offset: int, limits: RecordLimits) -> RecordError:
    message = f"the headers have more than {limits.header_bytes} bytes"
    help = "put long text into the data of the Blob"
    return RecordError("headers-too-large", offset, message, help)


def _check_start(lines: _Lines) -> None:
    _check_trailer(lines)
    if MARK.startswith(lines.data[: len(MARK)]) or TRAILER.startswith(lines.data[: len(TRAILER)]):
        return
    message = "these bytes do not begin with the markline `🖧: `"
    help = "give the bytes of a record, from its first line on"
    _refuse("not-a-record", 0, message, help)


def _check_trailer(lines: _Lines) -> None:
    if lines.starts_with(TRAILER):
        message = "this record has its hash in a trailer (`⋯🖧: `), a form that is not supported"
        _refuse("trailer-hash", lines.at, message, "send it with its hash in the first line")


def _check_mark(lines: _Lines, letters: str) -> str:
    """A markline with one of these letters; the letter."""
    _check_trailer(lines)
    start, line = lines.take()
    if not line.startswith(MARK):
        message = f"expected the markline of the embedded record, found {_quote(line)}"
        _refuse("header-order", start, message, f"here comes the line `🖧: {letters}.<b64a>.H3`")
    start, text = start + len(MARK), line[len(MARK) :]
    letter = text[:1].decode("latin-1")
    if text[1:2] == b"." and letter.isupper() and letter not in letters:
        message = f"the type letter is {letter}, not {' or '.join(letters)}"
        _refuse("wrong-type", start, message, "a Seal embeds a Plex, and a Plex embeds a Blob")
    if not letter or letter not in letters or not _is_typed(text, letter, 32):
        message = f"{_quote(text)} is not the hash text of a record"
        help = "write T.<b64a>.H3 with the 43 symbols of the digest"
        _refuse("bad-hash-text", start, message, help)
    if lines.starts_with(b"\n"):
        message = "the bytes of this record are left out; thin records are not supported"
        _refuse("thin-record", lines.at, message, "send the record whole")
    return letter


def _is_typed(text: bytes, letter: str, size: int) -> bool:
    start, payload, end = text[:2], text[2:-3], text[-3:]
    return start == f"{letter}.".encode() and end == b".H3" and _is_b64a(payload, size)


def _is_b64a(text: bytes, size: int) -> bool:
    try:
        return len(b64a.decode(text.decode("utf-8", "replace"))) == size
    except b64a.B64AError:
        return False


def _quote(line: bytes) -> str:
    return quote(line.decode("utf-8", "replace")) if line else "a blank line"


def _take_header(lines: _Lines) -> _Header:
    """A line that is a header, whatever its name."""
    start, line = lines.take()
    control = _CONTROL.search(line)
    if control:
        message = f"the line has the byte {line[control.start()]:02X}"
        help = "leave out control characters; lines end with LF alone"
        _refuse("control-character", start + control.start(), message, help)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse("not-utf8", start + error.start, "the line is not UTF-8", "encode it as UTF-8")
    if not is_normalized("NFC", text):
        _refuse("not-nfc", start, "the line is not in normal form NFC", "normalise it to NFC")
    name, colon, value = text.partition(":")
    value_start = start + len(name.encode()) + 2
    if not colon:
        _refuse("missing-colon", start, f"{_quote(line)} has no colon", "write `Name: value`")
    if not name:
        _refuse("empty-name", start, "the header has no name", "write `Name: value`")
    if " " in name:
        message = f"the name {quote(name)} has a space"
        _refuse("bad-name", start + line.index(b" "), message, "leave it out, or write -")
    if value in ("", " "):
        _refuse("empty-value", value_start - 1, "the header has no value", "write `Name: value`")
    if value[0] != " ":
        _refuse("missing-space", value_start - 1, "no space follows the colon", "put one there")
    return _Header(start, name, value_start, value[1:])


def _expect(lines: _Lines, name: str) -> _Header:
    """The header of this name."""
    start = lines.at
    if lines.starts_with(b"\n") or lines.starts_with(MARK):
        found = _quote(lines.take()[1])
    else:
        header = _take_header(lines)
        if header.name == name:
            return header
        found = quote(header.name)
    message = f"expected the header `{name}`, found {found}"
    _refuse("header-order", start, message, "write each header of the form once, in its place")


def _check_seal(lines: _Lines) -> None:
    signed_by = _expect(lines, "Signed-By")
    if not _is_typed(signed_by.value.encode(), "V", 32):
        help = "write V.<b64a>.H3 with the 43 symbols of 32 bytes"
        _refuse("bad-verifier", signed_by.value_start, "Signed-By is not a verifier", help)
    signature = _expect(lines, "Signature")
    if not _is_b64a(signature.value.encode(), 64):
        help = "write the 86 B64A symbols of 64 bytes"
        _refuse("bad-signature-text", signature.value_start, "this is not a signature", help)


def _check_plex(lines: _Lines, limits: RecordLimits) -> None:
    headers_start = lines.at
    for name in COORDINATES:
        header = _expect(lines, name)
        check_path(header.value, name, header.value_start)
    tai = _expect(lines, "TAI")
    if not _TAI.fullmatch(tai.value):
        message = f"{quote(tai.value)} is not a time"
        _refuse("bad-tai", tai.value_start, message, "write ten digits, a colon, nine digits")
    last, count = "", 0
    while not lines.starts_with(MARK):
        if lines.starts_with(b"\n") or lines.starts_with(TRAILER):
            return
        header = _take_header(lines)
        count += 1
        check_extra_name(header.name, header.start)
        if header.name < last:
            message = f"the header {quote(header.name)} comes after {quote(last)}"
            help = "sort extra headers by name, bytewise"
            _refuse("unsorted-headers", header.start, message, help)
        last = header.name
        if count > limits.extra_headers:
            message = f"there are more than {limits.extra_headers} extra headers"
            help = "put lists into the data of the Blob"
            _refuse("too-many-headers", header.start, message, help)
        if lines.at - headers_start > limits.header_bytes:
            raise _headers_too_large(headers_start + limits.header_bytes, limits)


def check_extra_name(name: str, offset: int) -> None:
    """Raise a RecordError if an extra header may not have this name (D3)."""
    if name in RESERVED:
        message = f"an extra header cannot be called `{name}`"
        _refuse("reserved-name", offset, message, "choose another name: a field has this one")


def check_path(path: str, name: str, offset: int) -> None:
    """Raise a RecordError if the text is not a path (D2)."""
    size = len(path.encode())
    if size > PATH_BYTES:
        message = f"{name} has {size} bytes, more than {PATH_BYTES}"
        _refuse("path-too-long", offset + PATH_BYTES, message, "shorten the path")
    at = offset
    for segment in path.split("/"):
        special = _SPECIAL.search(segment)
        if special:
            place = at + len(segment[: special.start()].encode())
            message = f"{name} has the character {special.group()}"
            _refuse("bad-path", place, message, "leave it out: paths have none of { } | #")
        if segment in ("", ".", ".."):
            what = f"the segment `{segment}`" if segment else "an empty segment"
            help = "write segments with one / between them"
            _refuse("bad-path", at, f"{name} has {what}", help)
        at += len(segment.encode()) + 1


def _check_blob(lines: _Lines, limits: RecordLimits) -> NoReturn:
    """Only the end of the head is left to be wrong."""
    length = _expect(lines, "Data-Length")
    if not _DECIMAL.fullmatch(length.value):
        message = f"{quote(length.value)} is not a decimal number"
        help = "write the number of bytes, without leading zeros"
        _refuse("bad-data-length", length.value_start, message, help)
    if len(length.value) > 18 or int(length.value) > limits.blob_bytes:
        message = f"the data has {length.value[:40]} bytes, more than {limits.blob_bytes}"
        help = "split the data into several Blobs, and link them"
        _refuse("blob-too-large", length.value_start, message, help)
    if lines.at == len(lines.data):
        lines.end()
    message = "no blank line follows Data-Length"
    help = "put one LF between the head and the data"
    _refuse("missing-blank-line", lines.at, message, help)
