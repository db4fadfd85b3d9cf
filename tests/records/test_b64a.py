"""B64A (006): its vectors, what it refuses, its order, and the same as a slow implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.records.b64a import ALPHABET, B64AError, decode, encode
from tests.helpers import examples
from tests.records.slow_b64a import SYMBOLS, slow_decode, slow_encode


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("", ""),
        ("00", "00"),
        ("0000", "000"),
        ("000000", "0000"),
        ("FF", "~l"),
        ("FF00", "~l0"),
        ("000102", "0042"),
    ],
)
def test_vectors(data: str, text: str) -> None:
    assert encode(bytes.fromhex(data)) == text
    assert decode(text) == bytes.fromhex(data)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("01", "fill bits"),
        ("001", "fill bits"),
        ("~m", "fill bits"),
        ("~l1", "fill bits"),
        ("=", "alphabet"),
        ("+", "alphabet"),
        ("/", "alphabet"),
        ("0", "no bytes encode to 1 symbols"),
        ("00000", "no bytes encode to 5 symbols"),
        ("00==", "alphabet"),
        ("000=", "alphabet"),
        ("00-0", "alphabet"),
        (" 00", "alphabet"),
        ("00\n", "alphabet"),
        ("00\x00", "alphabet"),
        ("é0", "alphabet"),
        ("００", "alphabet"),
        ("\ud80000", "alphabet"),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(B64AError, match=why):
        decode(text)


def test_what_is_refused_is_a_value_error() -> None:
    assert issubclass(B64AError, ValueError)


def test_the_alphabet_is_in_the_order_of_its_bytes() -> None:
    assert ALPHABET.decode() == SYMBOLS
    assert sorted(ALPHABET) == list(ALPHABET)
    assert len(set(ALPHABET)) == 64


@pytest.mark.parametrize(("size", "symbols"), [(32, 43), (64, 86), (1, 2), (2, 3), (3, 4)])
def test_lengths(size: int, symbols: int) -> None:
    assert len(encode(bytes(size))) == symbols


@examples(200)
@given(st.binary(max_size=80))
def test_round_trip(data: bytes) -> None:
    assert decode(encode(data)) == data


@examples(200)
@given(st.binary(max_size=80))
def test_the_same_as_the_slow_encoder(data: bytes) -> None:
    assert encode(data) == slow_encode(data)


@examples(400)
@given(st.text(SYMBOLS, max_size=12) | st.text("01lm~=+/- \n", max_size=6) | st.text(max_size=6))
def test_the_same_as_the_slow_decoder(text: str) -> None:
    expected = slow_decode(text)
    if expected is None:
        with pytest.raises(B64AError):
            decode(text)
    else:
        assert decode(text) == expected
        assert encode(expected) == text


@examples(200)
@given(
    st.integers(0, 40).flatmap(
        lambda size: st.tuples(*[st.binary(min_size=size, max_size=size)] * 2)
    )
)
def test_texts_of_one_length_sort_like_their_bytes(pair: tuple[bytes, bytes]) -> None:
    one, two = pair
    assert (one < two) == (encode(one) < encode(two))
    assert (one == two) == (encode(one) == encode(two))
