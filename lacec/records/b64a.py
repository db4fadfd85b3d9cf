"""B64A, the text form of every hash, verifier, secret and signature (006).

In: bytes. Out: text, and back. It is base64 with an alphabet in ASCII order and
no padding, so equal-length texts sort like the bytes they encode.
"""

import binascii

ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_TO_B64A = bytes.maketrans(_BASE64, ALPHABET)
_TO_BASE64 = bytes.maketrans(ALPHABET, _BASE64)


class B64AError(ValueError):
    """The text is not canonical B64A."""


def encode(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).rstrip(b"=").translate(_TO_B64A).decode("ascii")


def decode(text: str) -> bytes:
    """The bytes of a text; B64AError unless it is the one text that encodes them."""
    symbols = text.encode("ascii", "replace")
    if symbols.translate(None, ALPHABET):
        raise B64AError("a symbol is outside the B64A alphabet")
    if len(symbols) % 4 == 1:
        raise B64AError(f"no bytes encode to {len(symbols)} symbols")
    data = binascii.a2b_base64(symbols.translate(_TO_BASE64) + b"=" * (-len(symbols) % 4))
    if encode(data) != text:
        raise B64AError("the fill bits of the last symbol are not zero")
    return data
