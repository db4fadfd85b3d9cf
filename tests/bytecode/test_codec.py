"""Code as bytes: back again, always the same; wrong bytes draw CodeError and nothing else."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Code, SourceRule
from lacec.bytecode.codec import CHECKSUM_BYTES, MAGIC, VERSION, decode, encode
from lacec.bytecode.disasm import disassemble
from lacec.core.errors import CodeError, LacecError
from tests.bytecode.programs import (
    PROGRAMS,
    code_of,
    examples,
    find,
    lean,
    links,
    with_block,
    with_operand,
)
from tests.vm.strategies import Sample, lift_samples, rank_samples, samples

EMPTY = Code((), (), (), (), (), ())
START = len(MAGIC) + 1
LARGEST = b"\xff\xff\xff\xff\x0f"


def sealed(body: bytes, version: int = VERSION) -> bytes:
    """A file with this body and the right checksum."""
    data = MAGIC + bytes([version]) + body
    return data + blake3(data).digest()


def body_of(code: Code) -> bytes:
    return encode(code)[START:-CHECKSUM_BYTES]


def refused(data: bytes) -> CodeError:
    with pytest.raises(CodeError) as caught:
        decode(data)
    assert caught.value.offset is not None
    assert 0 <= caught.value.offset <= len(data)
    return caught.value


def holds_or_is_refused(data: bytes) -> None:
    """Bytes are refused, or they are the one encoding of what they mean, which can be listed."""
    try:
        code = decode(data)
    except CodeError:
        return
    assert encode(code) == data
    disassemble(code)


# Round trips.


def test_the_programs_have_every_opcode() -> None:
    used = {instruction[0] for block in links().blocks for instruction in block.instructions}
    assert used == {opcode.number for opcode in op.OPCODES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_comes_back(name: str) -> None:
    for live in (False, True):
        code = code_of(PROGRAMS[name], live=live)
        assert decode(encode(code)) == code


@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_code_has_equal_bytes(name: str) -> None:
    assert encode(code_of(PROGRAMS[name])) == encode(code_of(PROGRAMS[name]))


@given(samples() | rank_samples() | lift_samples())
@examples(50)
def test_random_code_comes_back(sample: Sample) -> None:
    code = code_of(sample.text, [])
    assert decode(encode(code)) == code


@given(
    st.lists(st.text()),
    st.lists(
        st.builds(SourceRule, st.text(), st.text(), st.text(max_size=1), st.integers(0, 2**32 - 1))
    ),
)
@examples(50)
def test_any_text_comes_back(constants: list[str], rules: list[SourceRule]) -> None:
    code = replace(EMPTY, constants=tuple(constants), rules=tuple(rules))
    assert decode(encode(code)) == code


def test_numbers_of_every_length_come_back() -> None:
    for number in (0, 1, 127, 128, 2**14 - 1, 2**14, 2**28 - 1, 2**28, 2**32 - 1):
        code = replace(EMPTY, outputs=(number,))
        assert decode(encode(code)) == code


@pytest.mark.parametrize("number", [-1, 2**32, 2**64])
def test_a_number_without_a_place_in_the_format_is_not_written(number: int) -> None:
    with pytest.raises(CodeError, match="cannot be written"):
        encode(replace(EMPTY, outputs=(number,)))


def test_the_name_of_a_file_is_written_once() -> None:
    one = tuple(SourceRule("U.", "", "a/long/name.lace", line) for line in range(50))
    assert encode(replace(EMPTY, rules=one)).count(b"a/long/name.lace") == 1


# Damage, which the checksum shows.


def test_every_change_of_a_byte_is_refused() -> None:
    data = encode(code_of("Path(X,Z) :- Path(X,Y), Link(Y,Z)."))
    for at in range(len(data)):
        for other in range(1, 256):
            refused(data[:at] + bytes([data[at] ^ other]) + data[at + 1 :])


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_truncation_is_refused(name: str) -> None:
    data = encode(code_of(PROGRAMS[name]))
    for end in range(len(data)):
        refused(data[:end])


@given(st.binary(max_size=200))
@examples(100)
def test_random_bytes_are_refused(data: bytes) -> None:
    refused(data)
    refused(MAGIC + data)


# Malice, with the right checksum.


def replacements(body: bytes) -> Iterator[bytes]:
    for at in range(len(body)):
        for other in (b"", b"\x00", b"\x01", b"\x05", b"\x7f", b"\xff", LARGEST):
            yield body[:at] + other + body[at + 1 :]
        yield body[:at] + body[at : at + 1] + body[at:]


def test_bytes_that_somebody_made_are_refused_or_mean_one_thing() -> None:
    for body in replacements(body_of(lean(links()))):
        holds_or_is_refused(sealed(body))


@given(st.binary(max_size=100))
@examples(200)
def test_a_random_body_is_refused_or_means_one_thing(body: bytes) -> None:
    holds_or_is_refused(sealed(body))


def test_a_body_that_ends_early_is_refused() -> None:
    body = body_of(lean(links()))
    for end in range(len(body)):
        refused(sealed(body[:end]))


def test_huge_lengths_do_not_allocate() -> None:
    body = body_of(lean(links()))
    tracemalloc.start()
    try:
        decode(sealed(body))
        _, usual = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for at in range(len(body)):
            holds_or_is_refused(sealed(body[:at] + LARGEST + body[at + 1 :]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * usual + 2**20


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\x80\x00", "byte 5: a number is longer than it need be"),
        (b"\x80\x80\x80\x80\x80\x00", "byte 5: a number is too long"),
        (b"\xff\xff\xff\xff\x10", "byte 5: a number is too large"),
        (b"\xff", "byte 6: the end comes in the middle of a number"),
        (b"", "byte 5: the end comes in the middle of a number"),
        (b"\x02\x00", "byte 5: 2 entries are more than what is left holds"),
        (b"\x01\x02a", "byte 6: 2 bytes of text are more than there are left"),
        (b"\x01\x02a\xff", "byte 8: a text is not UTF-8"),
        (b"\x01\x03\xed\xa0\x80", "byte 7: a text is not UTF-8"),
        (b"\x00\x00\x01\x02\x00\x00\x00", "byte 8: there is no flag 2"),
        (b"\x00\x00\x01\x00\x03\x00\x00", "byte 9: there is no origin 3"),
        (
            b"\x00\x00\x00\x01\x00\x00\x04\x00\x00\x00\x00",
            "byte 11: there is no kind of block 4",
        ),
        (b"\x00\x00\x00\x01\x00\x00\x00\x00\x02\x00\x00", "byte 13: there is no flag 2"),
        (
            b"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01\x0b\x00",
            "byte 16: there is no opcode 11",
        ),
        (bytes(6) + b"\x01\x00\x00\x01\x00", "byte 14: there is no file 1"),
        (bytes(6) + b"\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00", "a file has two numbers"),
        (bytes(8), "byte 12: 1 bytes too many"),
    ],
)
def test_what_is_wrong_and_where(body: bytes, message: str) -> None:
    assert message in str(refused(sealed(body)))


def test_the_empty_body_is_seven_zeros() -> None:
    assert decode(sealed(bytes(7))) == EMPTY


def test_other_versions_are_refused() -> None:
    error = refused(sealed(bytes(7), VERSION + 1))
    assert str(error) == f"byte 4: version {VERSION + 1} is unknown, this is {VERSION}"


def test_other_files_are_refused() -> None:
    assert str(refused(b"Selected(P) :- Have(P).")) == "byte 0: these bytes are no lacec bytecode"


def test_an_unknown_number_of_a_table_is_for_the_verifier() -> None:
    code = with_operand(links(), "Big", op.COUNT, "compare", 99)
    number, _ = find(code, "Big", op.COUNT)
    code = with_block(code, number, group=99, rule=99)
    assert decode(encode(code)) == code


def test_code_errors_are_errors_of_lacec() -> None:
    assert issubclass(CodeError, LacecError)
