"""TOML of anybody: what is wrong is one error, with its line, and soon."""

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.toml import TomlError, bare, read_toml
from tests.helpers import examples


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read_toml(b"\xef\xbb\xbfa = 1\r\n") == {"a": 1}


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a = 1\n\xff", 2, "it is not UTF-8: save it as that"),
        (b"a = 1\nb = ?\n", 2, "this is not TOML: invalid value"),
        (b"a = 1\na = 2\n", 2, "this is not TOML: cannot overwrite a value"),
        (b"a = " + b"1" * 5000, 1, "it has a number of too many digits"),
        (b"a = " + b"[" * 100_000, 1, "it is nested too deeply"),
        (b"a = 1\n" + b"b." * 1_000_000 + b"c = 1", 2, "a key has more than 64 parts"),
        (b"a = {" + b"'b' . " * 100_000 + b"c = 1}", 1, "a key has more than 64 parts"),
        (b"[" + b"b." * 1_000_000 + b"c]", 1, "a key has more than 64 parts"),
    ],
)
def test_what_is_wrong_has_its_line_and_is_soon_found(
    content: bytes, line: int, message: str
) -> None:
    started = process_time()
    with pytest.raises(TomlError) as error:
        read_toml(content)
    assert (error.value.line, error.value.message) == (line, message)
    assert process_time() - started < 10


@pytest.mark.parametrize("piece", ['"""\\', '"\\', "'''", '"""', '"', "#", "'\n", '\\"""', "\\"])
def test_strings_that_do_not_close_take_one_pass(piece: str) -> None:
    started = process_time()
    bare(piece * 300_000)
    assert process_time() - started < 10


def test_points_in_texts_make_no_key_longer() -> None:
    points = "a." * 100
    text = f'a = \'{points}\' # {points}\nb = """\n{points}\\""""""\n'
    assert read_toml(text.encode()) == {"a": points, "b": f'{points}"""'}


@given(st.text(alphabet="\"'\\#\n=[]a. ", max_size=40))
@examples(300)
def test_bare_text_has_the_lines_and_lengths_of_the_text(text: str) -> None:
    found = bare(text)
    assert [len(line) for line in found.split("\n")] == [len(line) for line in text.split("\n")]
    assert not re.search(r"[\"'#]", found)
