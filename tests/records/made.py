"""Records to look at in tests, made the same way each time."""

from collections.abc import Sequence

from blake3 import blake3

from lacec.records import b64a
from lacec.records.record import Record, build_blob, build_plex, build_seal
from lacec.records.signature import Secret, sign

SECRET = Secret(bytes(range(32)))
AUX = b"\x01" * 32
TAI = "1640995200:000000000"
EVIDENCE = build_blob(b"what was seen")
EXTRAS = (
    ("+Link", f"evidence {EVIDENCE.hash}"),
    ("Note", "second thoughts"),
    ("Note", "zweite Gedanken: süß"),
)


def blob(data: bytes = b"hello world") -> Record:
    return build_blob(data)


def plex(extras: Sequence[tuple[str, str]] = EXTRAS, data: bytes = b"hello world") -> Record:
    return build_plex("u", "ding", "links/one", TAI, extras, data)


def seal(extras: Sequence[tuple[str, str]] = EXTRAS, data: bytes = b"hello world") -> Record:
    return build_seal(plex(extras, data), SECRET, AUX)


def marked(letter: str, body: bytes) -> bytes:
    """Bytes after a markline with their digest, whatever rules they break."""
    digest = b64a.encode(blake3(body).digest())
    return f"🖧: {letter}.{digest}.H3\n".encode() + body


COORDINATES = f"Group: u\nApp: ding\nName: links/one\nTAI: {TAI}\n".encode()
BLOB = marked("B", b"Data-Length: 11\n\nhello world")


def plex_of(headers: bytes, blob: bytes = BLOB) -> bytes:
    return marked("P", headers + blob)


def plex_with(*extras: str | bytes) -> bytes:
    """A Plex with these lines after its coordinates."""
    lines = (extra.encode() if isinstance(extra, str) else extra for extra in extras)
    return plex_of(COORDINATES + b"".join(line + b"\n" for line in lines))


def seal_of(plex: bytes, *, secret: Secret = SECRET, digest: bytes | None = None) -> bytes:
    """A Seal with a right signature, of the Plex's digest unless another is given."""
    inner = plex.partition(b"\n")[2]
    made = sign(digest or blake3(inner).digest(), secret, AUX)
    return marked("S", f"Signed-By: {secret.verifier}\nSignature: {made}\n".encode() + plex)
