"""A source: its name and its lines, as they were given.

In: bytes or text. Out: lines, cut at LF alone (D6). Bytes that are not UTF-8
stay in the text as lone surrogates, so that one bad line hides no other; the
encoding check reports them, and the parser leaves such lines alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from lacec.core.diagnostics import Diagnostic, Place, place
from lacec.core.limits import Limits
from lacec.syntax.ast import Line, Rule, Span

SURROGATE = re.compile("[\ud800-\udfff]")
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Source:
    name: str
    size: int
    lines: tuple[str, ...] = field(repr=False)


def read(name: str, content: str | bytes, limits: Limits) -> Source:
    """Cut a source into lines; one over the size limit is not cut at all."""
    if len(content) > limits.source_bytes:
        return Source(name, len(content), ())
    if isinstance(content, str):
        text, size = content, len(content.encode("utf-8", "surrogatepass"))
    else:
        text, size = content.decode("utf-8", "surrogateescape"), len(content)
    if size > limits.source_bytes:
        return Source(name, size, ())
    return Source(name, size, tuple(text.split("\n")))


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class SourceRule(NamedTuple):
    """A rule, where it stands, its canonical text, and what its annotations say.

    `repaired` marks a rule read past a syntax error: good enough for the checks
    of names, not for those that count its variables.
    """

    source: Source
    line: int
    rule: Rule
    text: str
    repaired: bool = False
    annotations: Mapping[str, Any] = MappingProxyType({})

    def place(self, span: Span) -> Place:
        return place(self.source.name, self.line, span)

    def diagnostic(
        self, name: str, span: Span, message: str, help: str | None = None
    ) -> Diagnostic:
        return Diagnostic(name, message, self.place(span), help)


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """The lines of a source as nodes, None for a line that could not be read."""

    source: Source
    nodes: tuple[Line | None, ...] = field(repr=False)
    rules: tuple[SourceRule, ...] = field(repr=False)
    diagnostics: tuple[Diagnostic, ...]
