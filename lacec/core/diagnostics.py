"""Diagnostics are values: a name, a place, a message, a help line, related places.

They are collected, sorted and handed on; nothing here raises or prints. The
severity belongs to the name unless a `lace.toml` gives another, and CATALOGUE is
the one list of names: each has a page in docs/rules, which `lacec explain NAME` prints.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "info"]

CATALOGUE: dict[str, Severity] = {
    # the bytes of a source
    "not-utf8": "error",
    "byte-order-mark": "error",
    "carriage-return": "error",
    "not-nfc": "error",
    "invisible-character": "warning",
    "empty-source": "warning",
    # the form of a line
    "syntax-error": "error",
    "unexpected-character": "error",
    "missing-full-stop": "error",
    "missing-comma": "error",
    "missing-body": "error",
    "missing-parentheses": "error",
    "unbalanced-parentheses": "error",
    "split-rule": "error",
    "trailing-text": "error",
    "wrong-quotes": "error",
    "unterminated-constant": "error",
    "bad-escape": "error",
    "unquoted-number": "error",
    "bad-variable": "error",
    "underscore-variable": "error",
    "equality-atom": "error",
    "infix-comparison": "error",
    "wrong-arrow": "error",
    "wrong-negation": "error",
    "wrong-connective": "error",
    "wrong-comment": "error",
    "keyword-as-predicate": "error",
    "nested-atom": "error",
    "bad-head": "error",
    # annotations
    "bad-annotation": "error",
    "dangling-annotation": "error",
    "unknown-annotation": "warning",
    # names
    "base-predicate": "error",
    "reserved-name": "error",
    "closed-selector": "error",
    "missing-export": "error",
    "exposes-nothing": "warning",
    "opaque-viewer": "warning",
    "misspelt-predicate": "warning",
    "wrong-arity": "warning",
    # builtins
    "removed-builtin": "error",
    "builtin-misused": "error",
    "builtin-arity": "error",
    "bad-operator": "error",
    "not-a-decimal": "error",
    "delims-not-constant": "error",
    # facts
    "bad-fact": "error",
    "derived-fact": "error",
    "unknown-fact": "error",
    # policy tests
    "bad-test": "error",
    # safety
    "unbound-variable": "error",
    "shared-local-variable": "error",
    "anonymous-in-head": "error",
    "anonymous-in-builtin": "error",
    # strata
    "unstratified": "error",
    # limits
    "too-many-rules": "error",
    "large-selector": "warning",
    "too-many-atoms": "error",
    "too-many-arguments": "error",
    "constant-too-long": "error",
    "line-too-long": "error",
    "source-too-long": "error",
    "too-many-problems": "error",
    # lints: what is legal and seldom meant; each is a file in lacec/lint
    "undefined-predicate": "warning",
    "unused-helper": "warning",
    "shadowed-name": "warning",
    "singleton-variable": "warning",
    "unknown-field": "warning",
    "field-mismatch": "warning",
    "ignored-source": "warning",
    "stored-advertisement": "warning",
    "disconnected-body": "warning",
    "quadratic-count": "warning",
    "never-fires": "warning",
    "pointless-test": "warning",
    "repeated-atom": "warning",
    "duplicate-rule": "warning",
    "subsumed-rule": "warning",
    "time-without-tick": "warning",
    "local-declassification": "warning",
    "suspicious-anchor": "warning",
    "builtin-look-alike": "warning",
    "leading-zeros": "warning",
    "bad-suppression": "warning",
    "unused-suppression": "warning",
}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Lines and columns count from 1, columns in Unicode scalar values; the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
        }


@dataclass(frozen=True, slots=True)
class Related:
    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Edit:
    """Other text for a place, which may end where the next line begins: then that line moves up."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a problem. `lacec check --fix` makes those that keep what a module means."""

    title: str
    edits: tuple[Edit, ...]
    keeps_meaning: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    name: str
    message: str
    place: Place
    help: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    level: Severity | None = None

    @property
    def severity(self) -> Severity:
        return self.level or CATALOGUE[self.name]

    def json(self) -> dict[str, Any]:
        """The form that CLI users rely on."""
        return {
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            **self.place.json(),
            "help": self.help,
            "related": [{"message": r.message, **r.place.json()} for r in self.related],
        }


@dataclass(frozen=True, slots=True)
class Problem:
    """A diagnostic of one line before the line has a number: offsets, not a place."""

    name: str
    span: tuple[int, int]
    message: str
    help: str | None = None
    mend: "Mend | None" = None

    def at(self, file: str, line: int) -> Diagnostic:
        fix = None if self.mend is None else self.mend.at(file, line)
        where = place(file, line, self.span)
        return Diagnostic(self.name, self.message, where, self.help, fix=fix)


@dataclass(frozen=True, slots=True)
class Mend:
    """A fix of one line before the line has a number: spans and the text for each."""

    title: str
    edits: tuple[tuple[tuple[int, int], str], ...]
    keeps_meaning: bool = False

    def at(self, file: str, line: int) -> Fix:
        edits = (
            Edit(Place(file, line, start + 1, line, end + 1), text)
            for (start, end), text in self.edits
        )
        return Fix(self.title, tuple(edits), self.keeps_meaning)


def place(file: str, line: int, span: tuple[int, int]) -> Place:
    """The place of a span of character offsets within a line; never empty."""
    start, end = span
    return Place(file, line, start + 1, line, max(end, start + 1) + 1)


def sort(diagnostics: Iterable[Diagnostic], files: Iterable[str]) -> tuple[Diagnostic, ...]:
    """Each diagnostic once, in the order of the files and then of their text."""
    rank = {file: i for i, file in enumerate(dict.fromkeys(files))}
    return tuple(
        sorted(
            dict.fromkeys(diagnostics),
            key=lambda d: (rank[d.place.file], d.place, d.name, d.message),
        )
    )


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


_UNSEEN = {code: 0x2400 + code for code in range(32)} | {0x7F: 0x2421}


def visible(text: str) -> str:
    """Text that cannot steer a terminal or turn its line around: one sign for each character."""
    if text.isascii():
        return text if text.isprintable() else text.translate(_UNSEEN)
    return "".join(
        character if character.isprintable() else chr(_UNSEEN.get(ord(character), 0xFFFD))
        for character in text
    )


def quote(text: str) -> str:
    """Source text for use in a message: visible, short, in backquotes."""
    shown = visible(text if len(text) <= 40 else text[:39] + "…")
    return f"`{shown}`"
