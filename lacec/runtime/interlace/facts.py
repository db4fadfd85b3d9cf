"""Fact blocks (050, D17): bytes into facts, facts into bytes.

In: the lines of one block, each ended by LF, and the predicates that belong to the phase.
Out: facts as (name, value, ...), or Abort when the block is malformed. A fact has one form
on the wire, so that equal facts are equal lines.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from lacec.runtime.interlace.reasons import Abort
from lacec.syntax.show import show_fact

Fact = tuple[str, ...]

LINE_BYTES = 1024  # 060 Limits: of a fact line, without its LF
LABEL_BYTES = 256  # D24: of a source label

# Which predicates, with how many values, may stand in a block of each phase.
SETUP: Mapping[str, int] = {"ExchangeOperand": 4, "SignerNonce": 1}
HELLO: Mapping[str, int] = {
    "HelloExchangePlan": 1,
    "HelloSigner": 1,
    "SignerProof": 1,
    "HelloTAI": 1,
    "HelloTickInterval": 1,
    "HelloRecordFormat": 1,
    "HelloAdvertisedField": 1,
    "HelloAllAdvertisedFields": 0,
    "HelloLimit": 2,
}
OFFER: Mapping[str, int] = {
    "Advertised": 2,
    "AdvertisedField": 5,
    "AdvertisementPartition": 3,
    "TickReady": 1,
}
ASK: Mapping[str, int] = {
    "ListAdvertisementPartition": 1,
    "NarrowAdvertisementPartition": 1,
    "TickReady": 1,
}
REQUEST: Mapping[str, int] = {"MayRequest": 1, "TickReady": 1}
TRANSFER: Mapping[str, int] = {"NotAvailable": 1}

_CONSTANT = r"'((?:[^'\\\n]|\\['\\])*+)'"
_LINE = re.compile(rf"([A-Za-z]+)\(((?:{_CONSTANT}(?:,(?=')|(?=\))))*+)\)")
_EACH = re.compile(_CONSTANT)
_ESCAPED = re.compile(r"\\(.)")


def read_block(data: bytes, allowed: Mapping[str, int]) -> list[Fact]:
    """The facts of a block, in the order of their lines."""
    if not data:
        return []
    if not data.endswith(b"\n"):
        raise _malformed("its last line does not end")
    lines = data[:-1].split(b"\n")
    longest = max(map(len, lines))
    if longest > LINE_BYTES:
        raise _malformed(f"a line has {longest} bytes, over the limit of {LINE_BYTES}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} is not UTF-8") from None
    if "\r" in text:
        raise _malformed("a line has a carriage return")
    if not text.isascii() and not all(
        unicodedata.is_normalized("NFC", line) for line in text.split("\n")
    ):
        raise _malformed("a line is not in Unicode's composed form (NFC)")
    if len(set(lines)) < len(lines):
        raise _malformed("a line stands in it twice")
    return [
        _read_line(number, line, allowed) for number, line in enumerate(text[:-1].split("\n"), 1)
    ]


def _read_line(number: int, line: str, allowed: Mapping[str, int]) -> Fact:
    found = _LINE.fullmatch(line)
    if found is None:
        raise _malformed(f"line {number} is not a fact")
    name = found[1]
    values = _EACH.findall(found[2])
    if allowed.get(name) != len(values):
        raise _malformed(f"line {number}: {name[:40]}/{len(values)} does not belong to this phase")
    if "\\" in line:
        values = [_ESCAPED.sub(r"\1", value) for value in values]
    return (name, *values)


def write_block(facts: Iterable[Fact]) -> bytes:
    """The lines of facts whose values can stand in a line."""
    return "".join(show_fact(*fact) + "\n" for fact in facts).encode("utf-8")


def _malformed(why: str) -> Abort:
    return Abort("malformed-fact-block", why)
