"""Records to look at in tests, made the same way each time."""

from collections.abc import Sequence

from lacec.records.record import Record, build_blob, build_plex, build_seal
from lacec.records.signature import Secret

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
