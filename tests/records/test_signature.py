"""Signatures, against a second implementation that is slow and plain; secrets that stay secret."""

import copy
import pickle
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacec.records import b64a, secp256k1
from lacec.records.secp256k1 import ORDER
from lacec.records.signature import Secret, SecretError, generate, sign, verify
from tests.records import slow_signature as slow

bytes32 = st.binary(min_size=32, max_size=32)
aux32 = bytes32.filter(any)
SECRET = Secret(bytes(range(32)))
DIGEST = bytes(range(100, 132))


@settings(max_examples=25, deadline=None)
@given(bytes32, bytes32, aux32)
def test_both_implementations_sign_and_verify_alike(
    material: bytes, digest: bytes, aux: bytes
) -> None:
    secret = Secret(material)
    scalar, point = slow.key(material)
    assert secret.verifier == f"V.{b64a.encode(point)}.H3"
    made = sign(digest, secret, aux)
    assert b64a.decode(made) == slow.sign(digest, scalar, point, aux)
    assert verify(digest, secret.verifier, made)
    assert slow.verify(digest, point, b64a.decode(made))


@settings(max_examples=25, deadline=None)
@given(bytes32, bytes32, st.binary(min_size=64, max_size=64))
def test_both_implementations_refuse_noise_alike(point: bytes, digest: bytes, noise: bytes) -> None:
    verifier = f"V.{b64a.encode(point)}.H3"
    assert verify(digest, verifier, b64a.encode(noise)) == slow.verify(digest, point, noise)


def encoded(point: slow.Point) -> bytes | None:
    return None if point is None else bytes([2 + point[1] % 2]) + point[0].to_bytes(32, "big")


LARGE_X = next(x for x in range(ORDER, ORDER + 100) if slow.lift(x))


@pytest.mark.parametrize("x", [slow.G[0], LARGE_X, 5, 0, slow.P, 2**256 - 1])
@pytest.mark.parametrize("answer", [0, 1, 2, ORDER - 1, 12345])
@pytest.mark.parametrize("challenge", [0, 1, 2, ORDER - 1, 54321])
def test_the_sum_of_points_is_right_at_every_edge(x: int, answer: int, challenge: int) -> None:
    """Both ways to compute it: x below the order of the group, and not; infinity; no point."""
    point = slow.lift(x)
    expected = None if point is None else encoded(slow.difference(answer, challenge, point))
    assert secp256k1.difference(answer, challenge, x.to_bytes(32, "big")) == expected


def test_the_lock_of_the_interpreter_is_released_meanwhile() -> None:
    """Another thread gets on while points are computed, though nobody is ever made to give way."""
    steps, over = 0, False

    def step() -> None:
        nonlocal steps
        while not over:
            steps += 1
            time.sleep(0)  # gives way, as a thread that computes alone would not

    x = slow.G[0].to_bytes(32, "big")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    other = threading.Thread(target=step)
    try:
        other.start()
        begun = steps
        for _ in range(100_000):
            if steps >= begun + 10:
                break
            secp256k1.difference(12345, 54321, x)
    finally:
        over = True
        sys.setswitchinterval(before)
        other.join()
    assert steps >= begun + 10


def test_a_signature_is_for_one_digest_and_one_verifier() -> None:
    made = sign(DIGEST, SECRET)
    assert verify(DIGEST, SECRET.verifier, made)
    assert not verify(bytes(32), SECRET.verifier, made)
    assert not verify(DIGEST, generate().verifier, made)


def test_fresh_randomness_makes_another_signature() -> None:
    first, second = sign(DIGEST, SECRET), sign(DIGEST, SECRET)
    assert first != second
    assert verify(DIGEST, SECRET.verifier, first)
    assert verify(DIGEST, SECRET.verifier, second)


@pytest.mark.parametrize(
    ("verifier", "made"),
    [
        ("", "0" * 86),
        ("V..H3", "0" * 86),
        ("V." + "é" * 43 + ".H3", "0" * 86),
        ("V." + "0" * 42 + "1.H3", "0" * 86),
        (SECRET.verifier, ""),
        (SECRET.verifier, "0" * 85),
        (SECRET.verifier, "0" * 85 + "1"),
        (SECRET.verifier, "é" * 86),
        (SECRET.verifier, "0" * 43),
    ],
)
def test_text_that_is_no_verifier_or_signature_is_not_valid(verifier: str, made: str) -> None:
    assert not verify(DIGEST, verifier, made)


def test_a_digest_has_32_bytes() -> None:
    assert not verify(b"short", SECRET.verifier, sign(DIGEST, SECRET))
    with pytest.raises(ValueError, match="32 bytes"):
        sign(b"short", SECRET)


# Secrets.


def test_a_secret_goes_to_text_and_back() -> None:
    again = Secret.from_text(SECRET.reveal())
    assert again.verifier == SECRET.verifier
    assert again.reveal() == SECRET.reveal() == f"&.{b64a.encode(bytes(range(32)))}.H3"


def test_two_new_secrets_are_different() -> None:
    assert generate().verifier != generate().verifier


def test_a_secret_is_not_shown() -> None:
    hidden = SECRET.reveal()[2:-3]
    for shown in (repr(SECRET), str(SECRET), f"{SECRET}", f"{[SECRET]}"):
        assert hidden not in shown
        assert SECRET.verifier in shown


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_is_not_pickled(protocol: int) -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(SECRET, protocol)


def test_a_secret_is_not_copied_into_something_else() -> None:
    with pytest.raises(TypeError):
        copy.deepcopy(SECRET)
    assert not hasattr(SECRET, "__dict__")


PAYLOAD = b64a.encode(b"0123456789abcdef" * 2)


@pytest.mark.parametrize(
    "text",
    [
        PAYLOAD,
        f"V.{PAYLOAD}.H3",
        f"&.{PAYLOAD}.H4",
        f"&.{PAYLOAD}.H3\n",
        f"&.{PAYLOAD[:-1]}.H3",
        f"&.{PAYLOAD}00.H3",
        f"&.{PAYLOAD[:-1]}1.H3",
        f"&.{PAYLOAD[:-1]}!.H3",
    ],
)
def test_a_wrong_secret_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(SecretError) as caught:
        Secret.from_text(text)
    assert PAYLOAD[:8] not in str(caught.value)
    assert caught.value.__cause__ is None
