"""Records (010): bytes into values, values into bytes.

In: the bytes of a record, a stream of them, or the fields for one. Out: a Record whose
digests fit, and whose signature does; or a RecordError that names the rule that is broken.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from blake3 import blake3

from lacec.core.errors import RecordError
from lacec.records import b64a
from lacec.records.head import Extras, Head, find_head, read_head
from lacec.records.limits import DEFAULT_RECORD_LIMITS, NO_RECORD_LIMITS, RecordLimits
from lacec.records.mistakes import check_extra_name, explain
from lacec.records.rules import MARK

if TYPE_CHECKING:
    from lacec.records.signature import Secret

_MARKLINE_BYTES = len(MARK) + len("B..H3\n") + 43


@dataclass(frozen=True, slots=True)
class Record:
    """A record and its fields; a field that its form does not have is None.

    The fields of the embedded records are those of the record. The places count from the
    first byte of `data`.
    """

    data: bytes = field(repr=False)
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

    @property
    def content(self) -> memoryview:
        """The bytes of the Blob, not copied."""
        return memoryview(self.data)[self.data_start :]

    @property
    def plex(self) -> "Record | None":
        """The Plex: embedded in a Seal, or the record itself; None for a Blob."""
        return None if self.plex_start is None else self._inner(self.plex_start)

    @property
    def blob(self) -> "Record":
        """The Blob: embedded in a Plex, or the record itself."""
        return self._inner(self.blob_start)

    def _inner(self, start: int) -> "Record":
        """The record that begins there. Its digest has been checked with this one's."""
        if start == 0:
            return self
        head = read_head(self.data, start, self.data_start, NO_RECORD_LIMITS)
        return Record(self.data[start:], *head)


def parse_record(
    data: bytes, limits: RecordLimits = DEFAULT_RECORD_LIMITS, *, verify: bool = True
) -> Record:
    """The record that these bytes are, all of them.

    With `verify` off the signature of a Seal is left to `check_signature`; digests are
    checked all the same.
    """
    stop = find_head(data, 0, limits)
    if stop is None:
        raise explain(data, limits)
    head = read_head(data, 0, stop, limits)
    end = stop + head.data_length
    if len(data) < end:
        raise _cut_short(len(data), head.data_length - (len(data) - stop))
    if len(data) > end:
        message = f"the record ends here, and {len(data) - end} more bytes follow"
        help = "give one record alone, or read a file of several as a stream"
        raise RecordError("trailing-bytes", end, message, help)
    return admit(data, head, verify)


def _cut_short(offset: int, missing: int) -> RecordError:
    """The error of a record whose data ends early."""
    message = f"{missing} bytes of the data are missing"
    help = "send all the bytes that Data-Length promises"
    return RecordError("truncated", offset, message, help)


def admit(data: bytes, head: Head, verify: bool = True) -> Record:
    """The record of a head and all its bytes, once its digests and its signature fit."""
    # The innermost first: it is the one whose bytes are wrong, if only some are.
    view = memoryview(data)
    _check_digest(view, head.blob_start, head.blob_hash, head)
    if head.plex_start is not None and head.plex_hash is not None:
        _check_digest(view, head.plex_start, head.plex_hash, head)
    if head.signed_by is not None:
        _check_digest(view, 0, head.hash, head)
    record = Record(data, *head)
    if verify:
        check_signature(record)
    return record


def _check_digest(view: memoryview, start: int, claimed: str, head: Head) -> None:
    found = b64a.encode(blake3(view[start + _MARKLINE_BYTES :]).digest())
    if found != claimed[2:-3]:
        form = {"B": "Blob", "P": "Plex", "S": "Seal"}[claimed[0]]
        message = f"the digest of the {form} is {found}, not {claimed[2:-3]}"
        help = "bytes were changed, or the hash is another record's: get the record again"
        raise RecordError("wrong-digest", start + len(MARK) + 2, message, help, head.hash)


def check_signature(record: Record) -> None:
    """Raise a RecordError unless the signature of a Seal is valid; other forms have none."""
    if record.signed_by is None or record.signature is None or record.plex_hash is None:
        return
    from lacec.records.signature import verify

    digest = b64a.decode(record.plex_hash[2:-3])
    if not verify(digest, record.signed_by, record.signature):
        offset = record.data.index(b"\nSignature: ") + len("\nSignature: ")
        message = f"the signature is not {record.signed_by}'s for this Plex"
        help = "do not trust the record: whoever made it did not have that key"
        raise RecordError("wrong-signature", offset, message, help, record.hash)


class PushParser:
    """The bytes of a stream that were fed and not yet taken. Offsets count from its start."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0  # Where in the buffer the next thing to take begins.
        self._dropped = 0  # How many bytes of the stream came before the buffer.

    @property
    def offset(self) -> int:
        """Where in the stream the next thing to take begins."""
        return self._dropped + self._at

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Give the next piece of the stream."""
        if self._at:
            del self._buffer[: self._at]
            self._dropped += self._at
            self._at = 0
        self._buffer += data


class RecordReader(PushParser):
    """A push parser for a stream of records: pieces of bytes in, records out as they complete.

    A stream holds one record, or several, each followed by one LF that belongs to none
    (D25); the last LF may be left out. Nothing is allocated for data before its length is
    checked.

    Feed it, then take until it has nothing more: it then holds less than one record and
    its LF. An error that is not `fatal` concerns one record, and the next call goes on
    after it; one that is ends the stream, and is raised again by every later call.
    """

    def __init__(
        self, limits: RecordLimits = DEFAULT_RECORD_LIMITS, *, verify: bool = True
    ) -> None:
        super().__init__()
        self._limits, self._verify = limits, verify
        self._head: Head | None = None  # Of the record that is still coming in.
        self._after_record = False
        self._failure: RecordError | None = None

    def take(self) -> Record | None:
        """The next record; None until more of the stream is fed."""
        if self._failure is not None:
            raise self._failure
        try:
            if self._head is None and not self._begin():
                return None
            return self._complete()
        except RecordError as error:
            if error.fatal:
                self._failure = error
            raise

    def close(self) -> None:
        """Say that the stream has ended, after the last `take`; raise if it ended too early."""
        if self._failure is not None:
            raise self._failure
        pending = self._buffer[self._at :]
        if self._head is not None:
            missing = self._head.data_start + self._head.data_length - len(pending)
            self._failure = _cut_short(self.offset + len(pending), missing)
        elif pending:
            self._failure = explain(pending, self._limits).moved(self.offset)
        if self._failure is not None:
            raise self._failure

    def _begin(self) -> bool:
        """Read the LF after the last record, and a head; False if they are not all there."""
        if self._at == len(self._buffer):
            return False
        if self._after_record:
            if self._buffer[self._at] != 0x0A:
                message = "no LF follows the record before this place"
                help = "put one LF after each record, and nothing else"
                raise RecordError("trailing-bytes", self.offset, message, help)
            self._at += 1
            self._after_record = False
        try:
            stop = find_head(self._buffer, self._at, self._limits)
            if stop is None:
                return False
            self._head = read_head(self._buffer, self._at, stop, self._limits)
        except RecordError as error:
            raise error.moved(self.offset) from None
        return True

    def _complete(self) -> Record | None:
        """The record of the head, if all its data is there."""
        head = self._head
        if head is None:
            return None
        start, size = self._at, head.data_start + head.data_length
        if len(self._buffer) - start < size:
            return None
        with memoryview(self._buffer) as view:
            data = bytes(view[start : start + size])
        begins = self.offset
        self._at += size
        self._head, self._after_record = None, True
        try:
            return admit(data, head, self._verify)
        except RecordError as error:
            raise error.moved(begins) from None


def read_records(
    pieces: Iterable[bytes],
    limits: RecordLimits = DEFAULT_RECORD_LIMITS,
    *,
    verify: bool = True,
) -> Iterator[tuple[int, Record | RecordError]]:
    """Each record of a whole stream, or the reason why it is none, and where it begins.

    It ends after the first error that is fatal.
    """
    reader = RecordReader(limits, verify=verify)
    for piece in pieces:
        reader.feed(piece)
        while True:
            try:
                record = reader.take()
            except RecordError as error:
                yield error.offset, error
                if error.fatal:
                    return
                continue
            if record is None:
                break
            yield reader.offset - len(record.data), record
    try:
        reader.close()
    except RecordError as error:
        yield error.offset, error


def read_some_records(
    pieces: Iterable[bytes],
    limits: RecordLimits = DEFAULT_RECORD_LIMITS,
    *,
    verify: bool = True,
) -> Iterator[tuple[int, Record | RecordError]]:
    """Like `read_records`, of a file: one without any record is wrong."""
    empty = True
    for found in read_records(pieces, limits, verify=verify):
        empty = False
        yield found
    if empty:
        yield 0, RecordError("truncated", 0, "there is nothing to read", "give a file of records")


def build_blob(data: bytes, limits: RecordLimits = DEFAULT_RECORD_LIMITS) -> Record:
    """The Blob of some bytes."""
    body = f"Data-Length: {len(data)}\n\n".encode() + data
    return _assemble("B", body, limits)


def build_plex(
    group: str,
    app: str,
    name: str,
    tai: str,
    extras: Iterable[tuple[str, str]],
    data: "bytes | Record",
    limits: RecordLimits = DEFAULT_RECORD_LIMITS,
) -> Record:
    """The Plex of coordinates, a time and extra headers over some bytes, or over a Blob.

    Extra headers are sorted by name; those of one name keep their order (D3).
    """
    ordered = sorted(extras, key=lambda extra: extra[0])
    headers = [("Group", group), ("App", app), ("Name", name), ("TAI", tai), *ordered]
    for header, value in headers:
        _check_words(header, value)
    for header, _ in ordered:
        check_extra_name(header, 0)
    try:
        lines = "".join(f"{header}: {value}\n" for header, value in headers).encode()
    except UnicodeEncodeError:
        help = "leave out surrogates: they are no characters"
        raise RecordError("not-utf8", 0, "a header has no UTF-8 form", help) from None
    blob = data.blob if isinstance(data, Record) else build_blob(data, limits)
    return _assemble("P", lines + blob.data, limits)


def _check_words(header: str, value: str) -> None:
    """What would read as something else once it stands in a line."""
    if ":" in header:
        help = "leave out the colon: one is written after the name"
        raise RecordError("bad-name", 0, f"the name {header!r} has a colon", help)
    if "\n" in header or "\n" in value:
        help = "put text of several lines into the data"
        raise RecordError("control-character", 0, f"the header {header!r} has a LF", help)


def build_seal(plex: Record, secret: "Secret", aux: bytes | None = None) -> Record:
    """The Seal of a Plex, or of the Plex of another Seal; `aux` is for `sign`."""
    from lacec.records.signature import sign

    inner = plex.plex
    if inner is None:
        help = "give the Blob coordinates first: build a Plex over it"
        raise RecordError("wrong-type", 0, "a Blob cannot be sealed", help)
    signature = sign(b64a.decode(inner.hash[2:-3]), secret, aux)
    lines = f"Signed-By: {secret.verifier}\nSignature: {signature}\n".encode()
    return _assemble("S", lines + inner.data, NO_RECORD_LIMITS)


def _assemble(letter: str, body: bytes, limits: RecordLimits) -> Record:
    """The record of everything after its markline; it is read as any other would be."""
    digest = b64a.encode(blake3(body).digest())
    data = MARK + f"{letter}.{digest}.H3\n".encode() + body
    stop = find_head(data, 0, limits)
    if stop is None:
        raise explain(data, limits)
    return Record(data, *read_head(data, 0, stop, limits))
