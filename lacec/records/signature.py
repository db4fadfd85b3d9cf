"""Signatures (009): Schnorr over secp256k1, with BLAKE3's derive-key mode for its hashes.

In: a 32-byte digest and a secret. Out: a signature; and whether one is valid. Signing computes
with Python's integers, whose running time depends a little on their values, so it is not for a
machine on which others can measure it finely.
"""

import os
import re
from functools import lru_cache
from typing import NoReturn, Protocol, Self

from blake3 import blake3

from lacec.records import b64a, secp256k1
from lacec.records.secp256k1 import FIELD, ORDER

_KEY = blake3(derive_key_context="lace-🖧/adhoc-key")
_AUX = blake3(derive_key_context="lace-🖧/aux")
_NONCE = blake3(derive_key_context="lace-🖧/nonce")
_CHALLENGE = blake3(derive_key_context="lace-🖧/challenge")

_VERIFIER = re.compile(r"V\.([^.]{43})\.H3", re.ASCII)
_SECRET = re.compile(r"&\.([^.]*)\.H3", re.ASCII)


class SecretError(ValueError):
    """A text that is no signing secret. The text itself is never in the message."""


class Secret:
    """A signing secret. Only `reveal` shows it: no repr, no error, no pickle does."""

    __slots__ = ("_material", "_point", "_scalar")

    def __init__(self, material: bytes) -> None:
        """The key that 32 bytes of derivation material give."""
        if len(material) != 32:
            raise SecretError(f"a signing secret has 32 bytes of material, not {len(material)}")
        self._material = bytes(material)
        output = _KEY.copy()
        output.update(self._material)
        self._scalar, self._point = _even(_first_in_range(output))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The secret of a text `&.….H3`."""
        match = _SECRET.fullmatch(text)
        if match is None:
            raise SecretError("a signing secret is written &.<b64a>.H3")
        try:
            material = b64a.decode(match.group(1))
        except b64a.B64AError as error:
            raise SecretError(f"the payload of a signing secret is wrong: {error}") from None
        return cls(material)

    @property
    def verifier(self) -> str:
        """The text `V.….H3` by which others know the key."""
        return f"V.{b64a.encode(self._point)}.H3"

    def reveal(self) -> str:
        """The text `&.….H3`. Whoever has it can sign."""
        return f"&.{b64a.encode(self._material)}.H3"

    def __repr__(self) -> str:
        return f"<Secret of {self.verifier}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled; keep it in a file that only its owner reads")


def generate() -> Secret:
    """A new secret, from the system's random numbers."""
    return Secret(os.urandom(32))


def sign(digest: bytes, secret: Secret, aux: bytes | None = None) -> str:
    """The signature of a 32-byte digest; `aux` is fresh randomness unless given."""
    if aux is None:
        aux = os.urandom(32)
    if len(digest) != 32 or len(aux) != 32:
        raise ValueError("a digest and aux have 32 bytes each")
    if not any(aux):
        raise ValueError("aux is never all zero: leave it out, or take 32 random bytes")
    scalar, point = secret._scalar, secret._point
    mask = int.from_bytes(_tagged(_AUX, aux)) ^ scalar
    nonce = int.from_bytes(_tagged(_NONCE, mask.to_bytes(32) + point + digest)) % ORDER
    if nonce == 0:
        raise ValueError("this aux gives the nonce 0: take other random bytes")
    nonce, commitment = _even(nonce)
    answer = (nonce + _challenge(commitment, point, digest) * scalar) % ORDER
    return b64a.encode(commitment + answer.to_bytes(32))


def verify(digest: bytes, verifier: str, signature: str) -> bool:
    """Whether the text of a signature is the verifier's for a 32-byte digest."""
    point = _point(verifier)
    if point is None or len(digest) != 32:
        return False
    try:
        signed = b64a.decode(signature)
    except b64a.B64AError:
        return False
    if len(signed) != 64:
        return False
    commitment, answer = signed[:32], int.from_bytes(signed[32:])
    if int.from_bytes(commitment) >= FIELD or answer >= ORDER:
        return False
    expected = secp256k1.difference(answer, _challenge(commitment, point, digest), point)
    return expected == b"\x02" + commitment


def is_verifier(text: str) -> bool:
    """Whether a text has the form of a verifier."""
    return _point(text) is not None


@lru_cache(1024)
def _point(verifier: str) -> bytes | None:
    """The x coordinate in the text of a verifier. A few keys sign most records."""
    match = _VERIFIER.fullmatch(verifier)
    try:
        return None if match is None else b64a.decode(match.group(1))
    except b64a.B64AError:
        return None


class _Output(Protocol):
    def digest(self, length: int, *, seek: int) -> bytes: ...


def _first_in_range(output: _Output) -> int:
    """The first 32-byte piece of an extendable output that is a scalar other than 0."""
    seek = 0
    while not 0 < (scalar := int.from_bytes(output.digest(length=32, seek=seek))) < ORDER:
        seek += 32
    return scalar


def _even(scalar: int) -> tuple[int, bytes]:
    """The scalar or its negative, whichever has a point with even y, and that point's x."""
    compressed = secp256k1.multiple(scalar)
    return (ORDER - scalar if compressed[0] == 3 else scalar), compressed[1:]


def _challenge(commitment: bytes, point: bytes, digest: bytes) -> int:
    return int.from_bytes(_tagged(_CHALLENGE, commitment + point + digest)) % ORDER


def _tagged(context: blake3, data: bytes) -> bytes:
    hasher = context.copy()
    hasher.update(data)
    return hasher.digest()
