"""Fact blocks: what is read, and what is malformed (050 Fact blocks, D17)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.facts import HELLO, REQUEST, TRANSFER, read_block, write_block
from lacec.runtime.interlace.reasons import Abort
from tests.helpers import examples

ANY = {"One": 1, "Two": 2, "None": 0}


def test_a_block_is_read_line_by_line() -> None:
    block = b"Two('a','it\\'s')\nNone()\nOne('\\\\')\n"
    assert read_block(block, ANY) == [("Two", "a", "it's"), ("None",), ("One", "\\")]


def test_an_empty_block_has_no_facts() -> None:
    assert read_block(b"", ANY) == []


MALFORMED = {
    "no LF at the end": b"One('a')",
    "a blank line": b"One('a')\n\nOne('b')\n",
    "CR": b"One('a')\r\n",
    "not UTF-8": b"One('\xff')\n",
    "not NFC": "One('u\u0308')\n".encode(),
    "a line twice": b"One('a')\nOne('a')\n",
    "a variable": b"One(X)\n",
    "a space": b"Two('a', 'b')\n",
    "a full stop": b"One('a').\n",
    "an unclosed constant": b"One('a)\n",
    "a trailing comma": b"Two('a',)\n",
    "an escape that is none": b"One('\\n')\n",
    "a comment": b"# One('a')\n",
    "a wrong arity": b"One('a','b')\n",
    "a predicate of another phase": b"MayRequest('x')\n",
    "a line over 1024 bytes": b"One('" + b"a" * 1020 + b"')\n",
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_block_is_refused(what: str) -> None:
    with pytest.raises(Abort) as found:
        read_block(MALFORMED[what], ANY)
    assert found.value.reason == "malformed-fact-block"


def test_the_longest_line_is_read() -> None:
    value = "a" * (1024 - len("One('')"))
    assert read_block(f"One('{value}')\n".encode(), ANY) == [("One", value)]


def test_predicates_belong_to_phases() -> None:
    assert read_block(b"MayRequest('x')\n", REQUEST)
    for phase in (HELLO, TRANSFER):
        with pytest.raises(Abort):
            read_block(b"MayRequest('x')\n", phase)


values = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20).map(
    lambda text: text if text.isascii() else "é"
)


@given(st.lists(st.tuples(st.just("Two"), values, values), unique=True, max_size=5))
@examples(100)
def test_what_is_written_is_read_back(facts: list[tuple[str, str, str]]) -> None:
    assert read_block(write_block(facts), ANY) == facts
