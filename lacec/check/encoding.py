"""The bytes of a source: UTF-8, NFC, no byte order mark, no CR (030 Values, D5, D6, D28).

Text is checked for NFC, never normalised. Characters that cannot be seen, or
that turn the direction of a line around, are warned about where they are legal.
"""

import re
import unicodedata
from collections.abc import Iterator

from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic, Problem
from lacec.syntax.source import BYTE_ORDER_MARK, SURROGATE, ParsedSource

# Controls, zero-width characters and bidirectional marks; not the joiners that scripts need.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u2069\ufeff]"
)


def check_encoding(program: Program) -> Iterator[Diagnostic]:
    for parsed in program.sources:
        yield from _carriage_returns(parsed)
        reported = {(d.place.line, d.place.column - 1) for d in parsed.diagnostics}
        for number, text in enumerate(parsed.source.lines, start=1):
            if text.isascii() and text.isprintable():
                continue
            for problem in _line_problems(number, text):
                if (number, problem.span[0]) not in reported:
                    yield problem.at(parsed.source.name, number)


def _carriage_returns(parsed: ParsedSource) -> Iterator[Diagnostic]:
    """One diagnostic for all the lines that end in CR LF, one for each other line with a CR."""
    ended = []
    for number, text in enumerate(parsed.source.lines, start=1):
        at = text.find("\r")
        if at < 0:
            continue
        if at == len(text) - 1:
            ended.append((number, at))
        else:
            message = "a carriage return stands inside the line"
            yield _carriage_return(at, message).at(parsed.source.name, number)
    if ended:
        number, at = ended[0]
        lines = "this line ends" if len(ended) == 1 else f"{len(ended)} lines end"
        message = f"{lines} in CR LF, and lines end in LF alone"
        yield _carriage_return(at, message).at(parsed.source.name, number)


def _carriage_return(at: int, message: str) -> Problem:
    help = "save the file with Unix line endings"
    return Problem("carriage-return", (at, at + 1), message, help)


def _line_problems(number: int, text: str) -> Iterator[Problem]:
    start = 0
    if number == 1 and text.startswith(BYTE_ORDER_MARK):
        start = 1
        message = "the source begins with a byte order mark"
        yield Problem("byte-order-mark", (0, 1), message, "save the file as UTF-8 without a BOM")
    if text.isascii():
        wrong = None
    else:
        wrong = SURROGATE.search(text)
        if wrong is None and not unicodedata.is_normalized("NFC", text):
            yield _not_nfc(text)
    if wrong is not None:
        message = "these bytes are not UTF-8"
        help = "save the file as UTF-8"
        yield Problem("not-utf8", (wrong.start(), wrong.start() + 1), message, help)
        return
    for match in INVISIBLE.finditer(text, start):
        character = match.group()
        name = unicodedata.name(character, "a control character").lower()
        message = f"U+{ord(character):04X} ({name}) cannot be seen, and may mislead a reader"
        help = "remove it, unless the value really contains it"
        yield Problem("invisible-character", match.span(), message, help)
        return


def _not_nfc(text: str) -> Problem:
    """The first character whose prefix is not NFC: every prefix of NFC text is NFC."""
    good, bad = 0, len(text)
    while bad - good > 1:
        middle = (good + bad) // 2
        if unicodedata.is_normalized("NFC", text[:middle]):
            good = middle
        else:
            bad = middle
    message = "this is not in Unicode's composed form (NFC): equal text would get two identities"
    help = "normalise the text to NFC in your editor"
    return Problem("not-nfc", (bad - 1, bad), message, help)
