"""006, B64A: one test for each of its sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.records.b64a import ALPHABET, B64AError, decode, encode

TABLE = {
    "": "",
    "00": "00",
    "0000": "000",
    "000000": "0000",
    "FF": "~l",
    "FF00": "~l0",
    "000102": "0042",
}


def test_the_alphabet_in_index_order() -> None:
    assert ALPHABET == b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
    assert [encode(bytes([index << 2]))[0] for index in range(64)] == list(ALPHABET.decode())


@pytest.mark.parametrize("data", TABLE)
def test_the_table_of_examples(data: str) -> None:
    assert encode(bytes.fromhex(data)) == TABLE[data]
    assert decode(TABLE[data]) == bytes.fromhex(data)


@given(st.binary(max_size=100))
def test_n_bytes_give_a_symbol_for_each_six_bits_begun(data: bytes) -> None:
    assert len(encode(data)) == -(-8 * len(data) // 6)


def test_32_bytes_give_43_symbols_and_64_give_86() -> None:
    assert (len(encode(bytes(32))), len(encode(bytes(64)))) == (43, 86)


@pytest.mark.parametrize("text", ["01", "001", "~m", "~l1", "=", "+", "/"])
def test_the_refused_examples(text: str) -> None:
    with pytest.raises(B64AError):
        decode(text)


@pytest.mark.parametrize("text", ["00=", "00==", "0-", "0 0", "00\n", "ÄÄ"])
def test_a_symbol_outside_the_alphabet_and_padding_are_refused(text: str) -> None:
    with pytest.raises(B64AError, match="alphabet"):
        decode(text)


@pytest.mark.parametrize("length", [1, 5, 9, 101])
def test_a_length_of_1_modulo_4_is_refused(length: int) -> None:
    with pytest.raises(B64AError, match=f"{length} symbols"):
        decode("0" * length)


@pytest.mark.parametrize(("length", "free"), [(2, 4), (3, 2), (6, 4), (7, 2)])
def test_fill_bits_are_zero(length: int, free: int) -> None:
    """Length 2 modulo 4: the low 4 bits of the last symbol; 3 modulo 4: the low 2."""
    for index, symbol in enumerate(ALPHABET.decode()):
        text = "0" * (length - 1) + symbol
        if index % 2**free == 0:
            assert encode(decode(text)) == text
        else:
            with pytest.raises(B64AError, match="fill bits"):
                decode(text)


@given(st.lists(st.binary(min_size=32, max_size=32)))
def test_texts_of_one_length_sort_like_their_bytes(values: list[bytes]) -> None:
    assert [decode(text) for text in sorted(map(encode, values))] == sorted(values)
