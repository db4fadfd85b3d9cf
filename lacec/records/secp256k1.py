"""Points of the curve secp256k1, computed by the C library libsecp256k1.

In: scalars as integers and points by their x coordinate. Out: compressed points. The library comes
with btclib-libsecp256k1, which has wheels for each Python and system that lacec runs on. Its
functions release the interpreter's lock, so threads verify side by side.
"""

import os
from typing import Any

try:
    # The compiled module alone: the package around it takes 25 ms to import.
    from _btclib_libsecp256k1 import ffi, lib
except ImportError:  # a system whose wheel loads the library at run time
    from btclib_libsecp256k1 import ffi, lib

FIELD = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141

# Macros of secp256k1.h, which bindings cannot see.
_CONTEXT_NONE = 1
_EC_COMPRESSED = 258

_CONTEXT = ffi.gc(lib.secp256k1_context_create(_CONTEXT_NONE), lib.secp256k1_context_destroy)
if not lib.secp256k1_context_randomize(_CONTEXT, os.urandom(32)):
    raise ImportError("libsecp256k1 does not take random numbers")

_POINT = ffi.typeof("secp256k1_pubkey *")
_SIGNATURE = ffi.typeof("secp256k1_ecdsa_recoverable_signature *")
_OUTPUT = ffi.typeof("unsigned char[33]")
_LENGTH = ffi.typeof("size_t *")


def multiple(scalar: int) -> bytes:
    """Return the compressed point scalar*G, for 0 < scalar < ORDER."""
    point = ffi.new(_POINT)
    if not lib.secp256k1_ec_pubkey_create(_CONTEXT, point, scalar.to_bytes(32)):
        raise ValueError("this is no scalar of secp256k1")
    return _compressed(point)


def difference(answer: int, challenge: int, x: bytes) -> bytes | None:
    """Return the compressed point answer*G - challenge*P, for scalars below ORDER.

    P is the point with the 32-byte coordinate `x` and even y. None if there is no such point, and
    for infinity.

    Recovering an ECDSA key computes (s*R - z*G)/r for the point R with the x coordinate r.
    With R = P, s = -challenge*r and z = -answer*r that is the wanted sum, in one
    multiplication of two points where multiplying and adding take one each.
    It needs 0 < r < ORDER and s != 0; the few points and the one challenge that fail that
    go the plain way.
    """
    if len(x) != 32:
        raise ValueError("an x coordinate has 32 bytes")  # C reads as many, whatever is there
    r = int.from_bytes(x)
    point = ffi.new(_POINT)
    if 0 < r < ORDER and challenge:
        signature = ffi.new(_SIGNATURE)
        compact = x + (-challenge * r % ORDER).to_bytes(32)
        message = (-answer * r % ORDER).to_bytes(32)
        done = lib.secp256k1_ecdsa_recoverable_signature_parse_compact(
            _CONTEXT, signature, compact, 0
        ) and lib.secp256k1_ecdsa_recover(_CONTEXT, point, signature, message)
    else:
        done = lib.secp256k1_ec_pubkey_parse(_CONTEXT, point, b"\x02" + x, 33)
        if done and challenge:
            factor, term = (ORDER - challenge).to_bytes(32), answer.to_bytes(32)
            done = lib.secp256k1_ec_pubkey_tweak_mul(
                _CONTEXT, point, factor
            ) and lib.secp256k1_ec_pubkey_tweak_add(_CONTEXT, point, term)
        elif done:
            done = lib.secp256k1_ec_pubkey_create(_CONTEXT, point, answer.to_bytes(32))
    return _compressed(point) if done else None


def _compressed(point: Any) -> bytes:
    output, length = ffi.new(_OUTPUT), ffi.new(_LENGTH, 33)
    lib.secp256k1_ec_pubkey_serialize(_CONTEXT, output, length, point, _EC_COMPRESSED)
    return bytes(ffi.buffer(output))
