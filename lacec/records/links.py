"""Typed hash texts, and the links that extra headers make between records (010, D3a)."""

import re

from lacec.records import b64a

_TYPED = re.compile(r"([A-Z])\.([0-9A-Z_a-z~]+)\.([A-Z0-9]+)")
_H3 = re.compile(r"[BPS]\.[0-9A-Z_a-z~]{42}[" + b64a.ALPHABET[::4].decode() + r"]\.H3")

LINK_SUFFIX = "+Link"


def is_record_hash(text: str) -> bool:
    """Whether a text is the hash of a Blob, a Plex or a Seal."""
    return _H3.fullmatch(text) is not None


def is_typed_hash(text: str) -> bool:
    """Whether a text is a typed hash text, in this format of records or in another."""
    if _H3.fullmatch(text):
        return True
    match = _TYPED.fullmatch(text)
    if match is None or match.group(3) == "H3":
        return False
    try:
        b64a.decode(match.group(2))
    except b64a.B64AError:
        return False
    return True


def read_link(name: str, value: str) -> tuple[str, str] | None:
    """The data and the target of a record link; None for any other header."""
    if not name.endswith(LINK_SUFFIX):
        return None
    data, _, target = value.rpartition(" ")
    return (data, target) if data and is_typed_hash(target) else None
