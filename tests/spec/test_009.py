"""009, signatures: one test for each of its rules."""

import pytest
from blake3 import blake3

from lacec.records import b64a, signature
from lacec.records.secp256k1 import FIELD, ORDER
from lacec.records.signature import Secret, SecretError, generate, sign, verify
from tests.records import slow_signature as slow

MATERIAL = bytes(range(32))
SECRET = Secret(MATERIAL)
SCALAR, POINT = slow.key(MATERIAL)
DIGEST = bytes(range(200, 232))
AUX = b"\x07" * 32
SIGNATURE = b64a.decode(sign(DIGEST, SECRET, AUX))


def number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def accepted(made: bytes, point: bytes = POINT, digest: bytes = DIGEST) -> bool:
    return verify(digest, f"V.{b64a.encode(point)}.H3", b64a.encode(made))


# Text forms.


def test_a_verifier_is_the_x_coordinate_in_b64a() -> None:
    assert SECRET.verifier == f"V.{b64a.encode(POINT)}.H3"


def test_a_signing_secret_is_32_bytes_in_b64a() -> None:
    assert SECRET.reveal() == f"&.{b64a.encode(MATERIAL)}.H3"


def test_a_signature_is_64_bytes_in_b64a() -> None:
    assert len(SIGNATURE) == 64
    assert len(sign(DIGEST, SECRET)) == 86


# Hashes.


@pytest.mark.parametrize("context", ["adhoc-key", "aux", "nonce", "challenge"])
def test_the_contexts_are_exactly_these(context: str) -> None:
    own = {
        "adhoc-key": signature._KEY,
        "aux": signature._AUX,
        "nonce": signature._NONCE,
        "challenge": signature._CHALLENGE,
    }[context]
    name = "lace-\N{THREE NETWORKED COMPUTERS}/" + context
    assert signature._tagged(own, b"data") == blake3(b"data", derive_key_context=name).digest()


# Keys.


def test_the_point_of_a_key_has_an_even_y() -> None:
    """Of d0 and n - d0 the one whose point has an even y, both ways round."""
    for d0 in range(1, 20):
        point = slow.multiply(d0, slow.G)
        assert point is not None
        scalar, x = signature._even(d0)
        assert scalar == (d0 if point[1] % 2 == 0 else ORDER - d0)
        assert x == point[0].to_bytes(32, "big")
        again = slow.multiply(scalar, slow.G)
        assert again is not None
        assert again[1] % 2 == 0


def test_key_generation_is_random() -> None:
    assert len({generate().verifier for _ in range(10)}) == 10


def test_candidates_are_taken_until_one_is_in_range() -> None:
    """Out of range are 0 and everything from n on."""

    class Output:
        """An extendable output that begins with three candidates that are not in range."""

        pieces = (bytes(32), ORDER.to_bytes(32, "big"), b"\xff" * 32, b"\x05" * 32)

        def digest(self, length: int, *, seek: int) -> bytes:
            return b"".join(self.pieces)[seek : seek + length]

    assert signature._first_in_range(Output()) == number(b"\x05" * 32)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_payload_that_is_not_32_bytes_is_refused(size: int) -> None:
    with pytest.raises(SecretError, match=f"not {size}"):
        Secret.from_text(f"&.{b64a.encode(bytes(size))}.H3")


# Signing.


def test_signing_follows_its_five_steps() -> None:
    t = blake3(AUX, derive_key_context="lace-🖧/aux").digest()
    mask = (number(t) ^ SCALAR).to_bytes(32, "big")
    k0 = number(blake3(mask + POINT + DIGEST, derive_key_context="lace-🖧/nonce").digest()) % ORDER
    k, r = slow.even(k0)
    challenge = blake3(r + POINT + DIGEST, derive_key_context="lace-🖧/challenge").digest()
    s = (k + number(challenge) * SCALAR) % ORDER
    assert r + s.to_bytes(32, "big") == SIGNATURE


def test_aux_is_never_all_zero() -> None:
    with pytest.raises(ValueError, match="never all zero"):
        sign(DIGEST, SECRET, bytes(32))


def test_aux_is_fresh() -> None:
    assert sign(DIGEST, SECRET) != sign(DIGEST, SECRET)


def test_aux_has_32_bytes() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        sign(DIGEST, SECRET, b"\x01" * 31)


def test_a_nonce_of_0_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can find such an aux, so the hash is made to give it."""
    monkeypatch.setattr(signature, "_tagged", lambda *_: bytes(32))
    with pytest.raises(ValueError, match="nonce 0"):
        sign(DIGEST, SECRET, AUX)


# Verification.


def test_a_right_signature_is_accepted() -> None:
    assert accepted(SIGNATURE)
    assert slow.verify(DIGEST, POINT, SIGNATURE)


def test_r_from_p_on_is_refused() -> None:
    for r in (FIELD, FIELD + 1, 2**256 - 1):
        assert not accepted(r.to_bytes(32, "big") + SIGNATURE[32:])


def test_s_from_n_on_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """s + n is the same number to the curve, and would be a second signature."""
    for s in (ORDER, ORDER + 1, 2**256 - 1):
        assert not accepted(SIGNATURE[:32] + s.to_bytes(32, "big"))
    # An s so small that s + n has 32 bytes needs a challenge that nobody can find.
    monkeypatch.setattr(signature, "_challenge", lambda *_: 0)
    small, r = next((s, signature._even(s)[1]) for s in range(1, 20) if signature._even(s)[0] == s)
    assert accepted(r + small.to_bytes(32, "big"))
    assert not accepted(r + (small + ORDER).to_bytes(32, "big"))


def test_a_verifier_without_a_point_is_refused() -> None:
    x = next(x for x in range(1, 100) if slow.lift(x) is None)
    assert not accepted(SIGNATURE, x.to_bytes(32, "big"))
    assert not accepted(SIGNATURE, FIELD.to_bytes(32, "big"))


def test_infinity_is_refused() -> None:
    """s*G = e*P for s = e*d, whatever r claims."""
    r = (1).to_bytes(32, "big")
    challenge = blake3(r + POINT + DIGEST, derive_key_context="lace-🖧/challenge").digest()
    s = number(challenge) * SCALAR % ORDER
    assert slow.difference(s, number(challenge) % ORDER, slow.lift(number(POINT))) is None
    assert not accepted(r + s.to_bytes(32, "big"))


def test_an_odd_y_is_refused() -> None:
    """The signature that the other nonce of the same r would give."""
    t = number(SIGNATURE[32:])
    challenge = slow.tagged("challenge", SIGNATURE[:32] + POINT + DIGEST)
    e = number(challenge) % ORDER
    k = (t - e * SCALAR) % ORDER
    odd = (ORDER - k + e * SCALAR) % ORDER
    found = slow.difference(odd, e, slow.lift(number(POINT)))
    assert found is not None
    assert (found[0].to_bytes(32, "big"), found[1] % 2) == (SIGNATURE[:32], 1)
    assert not accepted(SIGNATURE[:32] + odd.to_bytes(32, "big"))


def test_another_x_is_refused() -> None:
    for at in range(64):
        changed = bytearray(SIGNATURE)
        changed[at] ^= 1
        assert not accepted(bytes(changed))
