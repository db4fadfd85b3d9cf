"""The builtin tests: where they may stand, how many arguments, which constants (D8, D9, 030)."""

import re
from collections.abc import Iterator

from lacec.core.diagnostics import Problem, quote
from lacec.core.predicates import BUILTIN_ARITY, BUILTINS, OPERATORS
from lacec.syntax.ast import Atom, Cardinality, Constant, Negated, Rule, Term, Variable

REMOVED = {"Prefix": "TextShape"}
DECIMAL = re.compile(r"-?[0-9]+")


def check_rule(rule: Rule) -> Iterator[Problem]:
    yield from _misused(rule.head, "be a head")
    for literal in rule.body:
        match literal:
            case Atom():
                yield from _removed(literal)
                if literal.name in BUILTIN_ARITY:
                    yield from _call(literal)
            case Negated(atom):
                yield from _removed(atom)
                yield from _misused(atom, "be negated")
            case Cardinality(atom, operator, bound):
                yield from _removed(atom)
                yield from _misused(atom, "be counted")
                yield from _operator(operator)
                yield from _decimal(bound)


def _misused(atom: Atom, how: str) -> Iterator[Problem]:
    if atom.name in BUILTIN_ARITY:
        yield Problem(
            "builtin-misused",
            atom.name_span,
            f"the builtin `{atom.name}` cannot {how}",
            f"it stands in a body, not negated, as {BUILTINS[atom.name]}",
        )


def _removed(atom: Atom) -> Iterator[Problem]:
    if atom.name in REMOVED:
        yield Problem(
            "removed-builtin",
            atom.name_span,
            f"the builtin `{atom.name}` was removed from the language",
            "write TextShape(K,'links/','','') for a prefix",
        )


def _call(atom: Atom) -> Iterator[Problem]:
    arity = BUILTIN_ARITY[atom.name]
    if len(atom.terms) != arity:
        yield Problem(
            "builtin-arity",
            atom.span,
            f"`{atom.name}` takes {arity} arguments, here it has {len(atom.terms)}",
            f"write {BUILTINS[atom.name]}",
        )
    elif atom.name == "TextShape":
        delims = atom.terms[2]
        if isinstance(delims, Variable):
            yield Problem(
                "delims-not-constant",
                delims.span,
                f"the delimiters of TextShape must be a constant, not the variable `{delims.name}`",
                "write the delimiter characters in quotes, or '' for none",
            )
    else:
        yield from _operator(atom.terms[1])
        if atom.name == "IntCompare":
            yield from _decimal(atom.terms[0])
            yield from _decimal(atom.terms[2])


def _operator(term: Term) -> Iterator[Problem]:
    if isinstance(term, Variable):
        message = f"an operator is a constant, not the variable `{term.name}`"
    elif isinstance(term, Constant) and term.value not in OPERATORS:
        message = f"{quote(term.value)} is not a comparison operator"
    else:
        return
    help = "the operators are '<', '<=', '>' and '>='"
    yield Problem("bad-operator", term.span, message, help)


def _decimal(term: Term) -> Iterator[Problem]:
    if isinstance(term, Constant) and not DECIMAL.fullmatch(term.value):
        yield Problem(
            "not-a-decimal",
            term.span,
            f"{quote(term.value)} can never be a decimal integer",
            "write digits, with `-` in front of a negative number; for text there is LexCompare",
        )
