"""Bytes from others: no change of a record goes unseen, and every refusal has a reason."""

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lacec.core.errors import RecordError
from lacec.records.head import find_head, read_head
from lacec.records.limits import DEFAULT_RECORD_LIMITS
from lacec.records.record import parse_record
from lacec.records.rules import NAMES
from tests.helpers import examples
from tests.records import made

FORMS = {"B": made.blob().data, "P": made.plex().data, "S": made.seal().data}
CHANGES = (1, 2, 4, 8, 16, 32, 64, 128, 0x2A, 255)


@pytest.mark.parametrize("letter", FORMS)
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_one_byte_is_refused(letter: str, change: int) -> None:
    data = FORMS[letter]
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= change
        with pytest.raises(RecordError) as caught:
            parse_record(bytes(changed))
        assert caught.value.name in NAMES
        assert 0 <= caught.value.offset <= len(data)


@pytest.mark.parametrize("letter", FORMS)
def test_every_byte_left_out_or_written_twice_is_refused(letter: str) -> None:
    data = FORMS[letter]
    for at in range(len(data)):
        for changed in (data[:at] + data[at + 1 :], data[: at + 1] + data[at:], data[:at]):
            with pytest.raises(RecordError):
                parse_record(changed)


PIECES = st.sampled_from(
    [
        b"Group: u\n",
        b"App: a\n",
        b"Name: n/m\n",
        f"TAI: {made.TAI}\n".encode(),
        b"TAI: 1\n",
        b"A: x\n",
        b"B:  y\n",
        b"B: \n",
        b": y\n",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"Data-Length: 0\n",
        b"Data-Length: 3\n",
        b"Data-Length: 99999999999999999999\n",
        f"🖧: B.{'0' * 43}.H3\n".encode(),
        f"🖧: P.{'0' * 43}.H3\n".encode(),
        f"🖧: S.{'0' * 43}.H3\n".encode(),
        "🖧: ".encode(),
        "⋯🖧: ".encode(),
        f"Signed-By: {made.SECRET.verifier}\n".encode(),
        f"Signature: {'0' * 86}\n".encode(),
        made.COORDINATES,
        b"x" * 2000,
        "u\u0308: ü\n".encode(),
        b"\xff: x\n",
    ]
)


def refusal(data: bytes) -> RecordError | None:
    """Why the head of these bytes is refused, if it is."""
    try:
        stop = find_head(data, 0, DEFAULT_RECORD_LIMITS)
        if stop is not None:
            read_head(data, 0, stop, DEFAULT_RECORD_LIMITS)
    except RecordError as error:
        return error
    return None


@examples(1000)
@given(st.lists(PIECES | st.binary(max_size=8), max_size=14), st.booleans())
def test_a_head_that_is_refused_is_refused_by_a_rule(pieces: list[bytes], marked: bool) -> None:
    """The fast way in and the slow explanation agree: what one refuses, the other explains."""
    data = b"".join([FORMS["P"][:55] if marked else b"", *pieces])
    error = refusal(data)
    if error is not None:
        assert error.name in NAMES
        assert error.name not in ("truncated", "wrong-digest", "wrong-signature", "trailing-bytes")
        assert 0 <= error.offset <= len(data)
    with pytest.raises(RecordError):
        parse_record(data)


@examples(300)
@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
)
@example("A", "u\u0308")
def test_what_can_be_built_can_be_read_and_says_the_same(name: str, value: str) -> None:
    """What breaks a rule is not built, and is not read either."""
    line = f"{name}: {value}".encode()
    try:
        record = made.plex([(name, value)])
    except RecordError:
        record = None
    if record is not None:
        assert parse_record(record.data).extras == ((name, value),)
    elif b"\n" not in line and ":" not in name:
        assert refusal(made.plex_with(line)) is not None


def test_text_that_is_slow_to_normalise_is_refused_by_its_length_first() -> None:
    """Thousands of combining marks out of order, in one line of 60 KB."""
    line = b"A: a" + "\u0301\u0323".encode() * 15_000
    with pytest.raises(RecordError) as caught:
        parse_record(made.plex_with(line))
    assert caught.value.name == "line-too-long"


def test_an_error_survives_a_trip_to_another_process() -> None:
    with pytest.raises(RecordError) as caught:
        parse_record(b"")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert (again.name, again.offset) == ("truncated", 0)
