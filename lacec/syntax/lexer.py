"""Tokens of one line. The scanner never fails: what no token fits becomes a mistake token.

The patterns of well-formed tokens come from the grammar through tables.py; the
mistake kinds below exist so that an error can say what was probably meant.
"""

import re
from typing import NamedTuple

from lacec.syntax.tables import TERMINALS

END = "$END"

# Tried in this order where no terminal of the grammar fits.
MISTAKES: tuple[tuple[str, str], ...] = (
    ("BAD_ESCAPE", r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"),
    ("UNTERMINATED", r"'.*+"),
    ("QUOTED", r"\"[^\"]*+\"?|“[^”]*+”?|‘[^’]*+’?|`[^`]*+`?"),
    ("NUMBER", r"[+-]?[0-9]++(?:\.[0-9]++)?"),
    ("UNDERSCORED", r"_[A-Za-z0-9_~-]++"),
    ("OPERATOR", r"<-+|<=>|=>|->|:=|-:|::|<=|>=|=<|<>|==|\\\+|\|\||&&|//|--|/\*|[=<>!~;&|:%-]"),
    ("OTHER", r"."),
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return (self.start, self.end)


_SCANNER = re.compile(
    "[ \t]*+(?:" + "|".join(f"(?P<{kind}>{regex})" for kind, regex in TERMINALS + MISTAKES) + ")",
    re.DOTALL,
)


RawToken = tuple[str, str, int, int]


def tokens_of(line: str) -> list[RawToken]:
    """The tokens of a line, as plain tuples of Token's shape, ended by an empty END."""
    text = line.rstrip(" \t")
    tokens: list[RawToken] = []
    for match in _SCANNER.finditer(text):
        kind = match.lastgroup
        start, end = match.span(kind)  # type: ignore[arg-type]
        tokens.append((kind, text[start:end], start, end))  # type: ignore[arg-type]
    tokens.append((END, "", len(text), len(text)))
    return tokens
