"""The builtin tests: where they may stand, how many arguments, which constants (D8, D9, 030)."""

import re
from collections.abc import Iterator

from lacec.check.program import Program
from lacec.diagnostics import Diagnostic, quote
from lacec.predicates import BUILTIN_ARITY, BUILTINS, OPERATORS
from lacec.syntax.ast import Atom, Cardinality, Constant, Negated, Term, Variable
from lacec.syntax.source import SourceRule

REMOVED = {"Prefix": "TextShape"}
DECIMAL = re.compile(r"-?[0-9]+")


def check_builtins(program: Program) -> Iterator[Diagnostic]:
    for rule in program.rules:
        yield from _misused(rule, rule.rule.head, "be a head")
        for literal in rule.rule.body:
            match literal:
                case Atom():
                    yield from _removed(rule, literal)
                    if literal.name in BUILTIN_ARITY:
                        yield from _call(rule, literal)
                case Negated(atom):
                    yield from _removed(rule, atom)
                    yield from _misused(rule, atom, "be negated")
                case Cardinality(atom, operator, bound):
                    yield from _removed(rule, atom)
                    yield from _misused(rule, atom, "be counted")
                    yield from _operator(rule, operator)
                    yield from _decimal(rule, bound)


def _misused(rule: SourceRule, atom: Atom, how: str) -> Iterator[Diagnostic]:
    if atom.name in BUILTIN_ARITY:
        yield rule.diagnostic(
            "builtin-misused",
            atom.name_span,
            f"the builtin `{atom.name}` cannot {how}",
            f"it stands in a body, not negated, as {BUILTINS[atom.name]}",
        )


def _removed(rule: SourceRule, atom: Atom) -> Iterator[Diagnostic]:
    if atom.name in REMOVED:
        yield rule.diagnostic(
            "removed-builtin",
            atom.name_span,
            f"the builtin `{atom.name}` was removed from the language",
            "write TextShape(K,'links/','','') for a prefix",
        )


def _call(rule: SourceRule, atom: Atom) -> Iterator[Diagnostic]:
    arity = BUILTIN_ARITY[atom.name]
    if len(atom.terms) != arity:
        yield rule.diagnostic(
            "builtin-arity",
            atom.span,
            f"`{atom.name}` takes {arity} arguments, here it has {len(atom.terms)}",
            f"write {BUILTINS[atom.name]}",
        )
    elif atom.name == "TextShape":
        delims = atom.terms[2]
        if isinstance(delims, Variable):
            yield rule.diagnostic(
                "delims-not-constant",
                delims.span,
                f"the delimiters of TextShape must be a constant, not the variable `{delims.name}`",
                "write the delimiter characters in quotes, or '' for none",
            )
    else:
        yield from _operator(rule, atom.terms[1])
        if atom.name == "IntCompare":
            yield from _decimal(rule, atom.terms[0])
            yield from _decimal(rule, atom.terms[2])


def _operator(rule: SourceRule, term: Term) -> Iterator[Diagnostic]:
    if isinstance(term, Variable):
        message = f"an operator is a constant, not the variable `{term.name}`"
    elif isinstance(term, Constant) and term.value not in OPERATORS:
        message = f"{quote(term.value)} is not a comparison operator"
    else:
        return
    help = "the operators are '<', '<=', '>' and '>='"
    yield rule.diagnostic("bad-operator", term.span, message, help)


def _decimal(rule: SourceRule, term: Term) -> Iterator[Diagnostic]:
    if isinstance(term, Constant) and not DECIMAL.fullmatch(term.value):
        yield rule.diagnostic(
            "not-a-decimal",
            term.span,
            f"{quote(term.value)} can never be a decimal integer",
            "write digits, with `-` in front of a negative number; for text there is LexCompare",
        )
