"""Nodes back into canonical text (D5): the one way each rule is written."""

from lacec.syntax.ast import (
    Always,
    Anonymous,
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
)


def show_rule(rule: Rule) -> str:
    body = ", ".join([show_literal(literal) for literal in rule.body])
    return f"{show_atom(rule.head)} :- {body}."


def show_literal(literal: Literal) -> str:
    match literal:
        case Atom():
            return show_atom(literal)
        case Negated(atom):
            return f"not {show_atom(atom)}"
        case Unequal(left, right):
            return f"{show_term(left)} != {show_term(right)}"
        case Always():
            return "true"
        case Cardinality(atom, operator, bound):
            return f"Cardinality({show_atom(atom)},{show_term(operator)},{show_term(bound)})"


def show_atom(atom: Atom) -> str:
    return f"{atom.name}({','.join([show_term(term) for term in atom.terms])})"


def show_term(term: Term) -> str:
    match term:
        case Variable(name):
            return name
        case Constant(value):
            return show_constant(value)
        case Anonymous():
            return "_"


def show_constant(value: str) -> str:
    if "\\" in value or "'" in value:
        value = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{value}'"


def show_fact(name: str, *values: str) -> str:
    """A fact line (050) without its line feed."""
    return f"{name}({','.join([show_constant(value) for value in values])})"
