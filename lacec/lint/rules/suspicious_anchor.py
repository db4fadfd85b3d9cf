"""A TextShape whose beginning or end is probably not what was meant.

TextShape(K,'^links/','','')     `^` is a character here, no anchor
TextShape(K,'links','','')       of a path: `linksfar/x` begins so too
"""

import re
from collections.abc import Iterator

from lacec.core.diagnostics import Problem, quote
from lacec.core.predicates import NAMED_FIELDS
from lacec.lint.rule_facts import Anatomy, rewritten
from lacec.records.rules import COORDINATES
from lacec.syntax.ast import Atom, Constant, Variable
from lacec.syntax.show import show_constant

# What patterns of other languages have, and the plain text that is left.
START = re.compile(r"\^(.*?)(?:\.\*|\*|%)?|(.*?)(?:\.\*|\*|%)")
END = re.compile(r"(?:\.\*|\*|%)(.*)|(.*)\$")


def lint_rule(anatomy: Anatomy) -> Iterator[Problem]:
    paths = _paths(anatomy)
    for test in anatomy.tests:
        if not isinstance(test, Atom) or test.name != "TextShape":
            continue
        text, start, delims, end = test.terms
        if isinstance(start, Constant) and (found := START.fullmatch(start.value)):
            yield _pattern(start, _plain(found))
        if isinstance(end, Constant) and (found := END.fullmatch(end.value)):
            yield _pattern(end, _plain(found))
        if (
            not isinstance(text, Variable)
            or text.name not in paths
            or not isinstance(start, Constant)
            or not isinstance(end, Constant)
            or delims != Constant("")
        ):
            continue
        if start.value and start.value[-1].isalnum() and not end.value:
            yield _cut(start, "begins", f"{start.value}/", f"{start.value}x")
        if end.value and end.value[0].isalnum() and not start.value:
            yield _cut(end, "ends", f".{end.value}", f"x{end.value}")


def _paths(anatomy: Anatomy) -> set[str]:
    """The variables that have the value of a field that is a path."""
    return {
        value.name
        for atom, name in anatomy.fields
        if atom.predicate in NAMED_FIELDS and name.value in COORDINATES
        if isinstance(value := atom.terms[-1], Variable)
    }


def _plain(found: re.Match[str]) -> str:
    return next((group for group in found.groups() if group is not None), "")


def _pattern(term: Constant, plain: str) -> Problem:
    return Problem(
        "suspicious-anchor",
        term.span,
        f"TextShape knows no patterns: every character of {quote(term.value)} stands for itself",
        f"the ends are anchored as they are: write {show_constant(plain)}",
        rewritten(term, plain),
    )


def _cut(term: Constant, how: str, better: str, other: str) -> Problem:
    return Problem(
        "suspicious-anchor",
        term.span,
        f"a path that {how} with {quote(term.value)} may do so inside a word: {quote(other)} does",
        f"write where the word is cut, as in {show_constant(better)}",
        rewritten(term, better),
    )
