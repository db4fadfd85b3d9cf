"""Range restriction (030 Safety, D7): every value in a rule comes from a positive atom of its body.

A rule that was read past a syntax error is left alone: what it binds is a guess.
"""

from collections.abc import Iterator

from lacec.check.spelling import Spelling
from lacec.core.diagnostics import Problem
from lacec.core.predicates import BUILTIN_ARITY
from lacec.syntax.ast import (
    Anonymous,
    Atom,
    Cardinality,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
)

# Arguments that must be constants; the check of builtins speaks for them.
CONSTANT_ARGUMENT = {"IntCompare": 1, "LexCompare": 1, "TextShape": 2}


def check_rule(rule: Rule) -> Iterator[Problem]:
    yield from _anonymous(rule)
    yield from _unbound(rule)


def _anonymous(rule: Rule) -> Iterator[Problem]:
    for term in rule.head.terms:
        if isinstance(term, Anonymous):
            yield Problem(
                "anonymous-in-head",
                term.span,
                "`_` in a head has no value to give",
                "name a variable that a positive atom of the body binds",
            )
    for name, terms in _tests(rule):
        for term in terms:
            if isinstance(term, Anonymous):
                yield Problem(
                    "anonymous-in-builtin",
                    term.span,
                    f"`_` cannot be tested by {name}: it has no value",
                    "name the value in a positive atom, and use that name here",
                )


def _tests(rule: Rule) -> Iterator[tuple[str, tuple[Term, ...]]]:
    """The builtin tests of a body, each with the terms it looks at."""
    for literal in rule.body:
        match literal:
            case Atom(name, terms) if len(terms) == BUILTIN_ARITY.get(name):
                yield name, terms
            case Unequal(left, right):
                yield "!=", (left, right)
            case Cardinality(_, operator, bound):
                yield "Cardinality", (operator, bound)


def _unbound(rule: Rule) -> Iterator[Problem]:
    bound = {
        variable.name
        for literal in rule.body
        if isinstance(literal, Atom) and literal.name not in BUILTIN_ARITY
        for variable in literal.variables
    }
    reported = set(bound)
    spelling: Spelling | None = None
    for variable, where in _uses(rule):
        if variable.name in reported:
            continue
        reported.add(variable.name)
        spelling = spelling or Spelling(bound)
        close = spelling.nearest(variable.name)
        help = f"add a positive atom that contains it, such as Have({variable.name})"
        if where == "is in a negated atom":
            help += "; or write `_` to match anything"
        yield Problem(
            "unbound-variable",
            variable.span,
            f"`{variable.name}` {where}, but no positive atom of the body binds it",
            f"did you mean `{close}`?" if close else help,
        )
    counted: dict[str, Cardinality] = {}
    for literal in rule.body:
        if not isinstance(literal, Cardinality):
            continue
        for variable in literal.atom.variables:
            first = counted.setdefault(variable.name, literal)
            if first is not literal and variable.name not in reported:
                reported.add(variable.name)
                yield Problem(
                    "shared-local-variable",
                    variable.span,
                    f"`{variable.name}` is used in two Cardinality atoms and bound by neither",
                    "bind it in a positive atom, or give each Cardinality atom a name of its own",
                )


def _uses(rule: Rule) -> Iterator[tuple[Variable, str]]:
    """Each use of a variable that needs a value, and where it is."""
    for variable in rule.head.variables:
        yield variable, "is in the head"
    for literal in rule.body:
        match literal:
            case Negated(atom):
                for variable in atom.variables:
                    yield variable, "is in a negated atom"
            case Unequal(left, right):
                for term in (left, right):
                    if isinstance(term, Variable):
                        yield term, "is tested by !="
            case Atom(name, terms) if name in CONSTANT_ARGUMENT:
                for position, term in enumerate(terms):
                    if isinstance(term, Variable) and position != CONSTANT_ARGUMENT[name]:
                        yield term, f"is tested by {name}"
            case Cardinality(_, _, Variable() as limit):
                yield limit, "is the bound of a Cardinality"
