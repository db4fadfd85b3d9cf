"""The head of a record (010): its lines, down to the blank line before the data.

In: a buffer in which a record begins. Out: a Head, or a RecordError that names the rule
that is broken. Each form is one regular expression; only when one does not match does
`mistakes` go through the lines to say why.
"""

import re
from typing import NamedTuple
from unicodedata import is_normalized

from lacec.records.b64a import ALPHABET
from lacec.records.limits import RecordLimits
from lacec.records.mistakes import explain
from lacec.records.rules import LINE_BYTES, MARK, PATH_BYTES, RESERVED, TRAILER

Buffer = bytes | bytearray
Extras = tuple[tuple[str, str], ...]


class Head(NamedTuple):
    """What a head says. The places count from the first byte of the record."""

    type: str
    hash: str
    signed_by: str | None
    signature: str | None
    plex_hash: str | None
    group: str | None
    app: str | None
    name: str | None
    tai: str | None
    extras: Extras
    blob_hash: str
    data_length: int
    plex_start: int | None
    blob_start: int
    data_start: int


# The last symbol of 32 bytes has two fill bits, that of 64 bytes four.
_SYMBOL = b"[" + ALPHABET + b"]"
_DIGEST = _SYMBOL + b"{42}[" + ALPHABET[::4] + b"]"
_SIGNATURE = _SYMBOL + b"{85}[" + ALPHABET[::16] + b"]"
_SEGMENT = rb"(?!\.\.?[/\n])[^\x00-\x1f\x7f/{}|#]++"
_PATH = _SEGMENT + b"(?:/" + _SEGMENT + b")*"

_SEAL = re.compile(
    MARK + rb"(S\." + _DIGEST + rb"\.H3)\nSigned-By: (V\." + _DIGEST + rb"\.H3)\n"
    rb"Signature: (" + _SIGNATURE + rb")\n"
)
_PLEX = re.compile(
    MARK + rb"(P\." + _DIGEST + rb"\.H3)\n(?=(Group: " + _PATH + rb"\nApp: " + _PATH + rb"\n"
    rb"Name: " + _PATH + rb"\nTAI: [0-9]{10}:[0-9]{9}\n))"
)
_EXTRAS = re.compile(rb"(?:[^\x00-\x20\x7f:]++: [^\x00-\x1f\x7f]++\n)*")
_BLOB = re.compile(MARK + rb"(B\." + _DIGEST + rb"\.H3)\nData-Length: (0|[1-9][0-9]{0,17})\n\n")
_NEXT_MARK = b"\n" + MARK


def find_head(buffer: Buffer, start: int, limits: RecordLimits) -> int | None:
    """Where the data of the record at `start` begins; None if that is not to be seen yet."""
    blank = buffer.find(b"\n\n", start, start + limits.head_bytes)
    if blank >= 0:
        return blank + 2
    available = len(buffer) - start
    if available >= limits.head_bytes or (
        # What is no record is refused at once: long enough to tell all marks apart.
        available >= len(TRAILER) and not buffer.startswith(MARK, start)
    ):
        raise explain(buffer[start : start + limits.head_bytes], limits)
    return None


def read_head(buffer: Buffer, start: int, stop: int, limits: RecordLimits) -> Head:
    """The head between `start` and `stop`, which `find_head` found."""
    at = start
    letter = buffer[start + len(MARK) : start + len(MARK) + 1]
    seal_hash = signed_by = signature = plex_hash = plex_start = None
    group = app = name = tai = None
    extras: Extras = ()
    if letter == b"S":
        seal = _SEAL.match(buffer, at, stop)
        if seal is None:
            raise explain(buffer[start:stop], limits)
        seal_hash, signed_by, signature = (text.decode("ascii") for text in seal.groups())
        at = seal.end()
    if letter in (b"S", b"P"):
        plex = _PLEX.match(buffer, at, stop)
        blob_start = buffer.find(_NEXT_MARK, at, stop) + 1
        if plex is None or not blob_start:
            raise explain(buffer[start:stop], limits)
        plex_hash, plex_start = plex.group(1).decode("ascii"), at - start
        headers = _read_headers(buffer, *plex.span(2), blob_start, limits)
        if headers is None:
            raise explain(buffer[start:stop], limits)
        group, app, name, tai, extras = headers
        at = blob_start
    blob = _BLOB.match(buffer, at, stop)
    if blob is None or int(blob.group(2)) > limits.blob_bytes:
        raise explain(buffer[start:stop], limits)
    blob_hash = blob.group(1).decode("ascii")
    return Head(
        letter.decode("ascii"),
        seal_hash or plex_hash or blob_hash,
        signed_by,
        signature,
        plex_hash,
        group,
        app,
        name,
        tai,
        extras,
        blob_hash,
        int(blob.group(2)),
        plex_start,
        at - start,
        stop - start,
    )


def _read_headers(
    buffer: Buffer, start: int, extras_start: int, stop: int, limits: RecordLimits
) -> tuple[str, str, str, str, Extras] | None:
    """The headers of a Plex, from `Group` to the next markline; None if a rule is broken."""
    if stop - start > limits.header_bytes or not _EXTRAS.fullmatch(buffer, extras_start, stop):
        return None
    data = buffer[start:stop]
    if len(data) > PATH_BYTES and _too_long(data):
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # The time this takes can be quadratic in the length of a line, which is limited by now.
    if not text.isascii() and not is_normalized("NFC", text):
        return None
    group, app, name, tai, *rest = text[:-1].split("\n")
    extras: Extras = ()
    if rest:
        # A name has no space in it, so the first colon and space end it.
        extras = tuple((head, value) for head, _, value in (line.partition(": ") for line in rest))
        names = [head for head, _ in extras]
        if len(names) > limits.extra_headers or not RESERVED.isdisjoint(names):
            return None
        if len(names) > 1 and names != sorted(names):
            return None
    return group[7:], app[5:], name[6:], tai[5:], extras


def _too_long(headers: Buffer) -> bool:
    """Whether a path or a line has too many bytes."""
    group, app, name, *lines = headers.split(b"\n")
    return (
        len(group) > PATH_BYTES + len("Group: ")
        or len(app) > PATH_BYTES + len("App: ")
        or len(name) > PATH_BYTES + len("Name: ")
        or max(map(len, lines)) > LINE_BYTES
    )
