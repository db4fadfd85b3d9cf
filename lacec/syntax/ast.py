"""The nodes of one line. They are frozen, shared by equal lines, and know no file.

A span is a pair of character offsets within the line. Spans take no part in
equality: two nodes are equal when they print the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from typing import Literal as OneOf

from lacec.core.predicates import Predicate

Span = tuple[int, int]
NOWHERE: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Anonymous:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant:
    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Term = Variable | Anonymous | Constant


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate with its terms; in a body, a positive atom or a builtin test by name."""

    name: str
    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def predicate(self) -> Predicate:
        return Predicate(self.name, len(self.terms))

    @property
    def name_span(self) -> Span:
        return (self.span[0], self.span[0] + len(self.name))

    @property
    def variables(self) -> Iterator[Variable]:
        return (term for term in self.terms if isinstance(term, Variable))


@dataclass(frozen=True, slots=True)
class Negated:
    atom: Atom


@dataclass(frozen=True, slots=True)
class Unequal:
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Always:
    """The body atom `true`."""


@dataclass(frozen=True, slots=True)
class Cardinality:
    atom: Atom
    operator: Term
    bound: Term


Literal = Atom | Negated | Unequal | Always | Cardinality


How = OneOf["uses", "negates", "counts"]


@dataclass(frozen=True)
class Rule:
    """A head and a body, with whatever was derived from them: a line that stands costs it once."""

    head: Atom
    body: tuple[Literal, ...]

    @cached_property
    def predicate(self) -> Predicate:
        return self.head.predicate

    @cached_property
    def reads(self) -> tuple[tuple[Predicate, How, Span], ...]:
        """The predicates of the body, positive, negated and counted, each with its atom's span."""
        found: list[tuple[Predicate, How, Span]] = []
        for literal in self.body:
            match literal:
                case Atom():
                    found.append((literal.predicate, "uses", literal.span))
                case Negated(atom):
                    found.append((atom.predicate, "negates", atom.span))
                case Cardinality(atom):
                    found.append((atom.predicate, "counts", atom.span))
        return tuple(found)

    @cached_property
    def shape(self) -> tuple[Predicate, tuple[tuple[Predicate, How], ...]]:
        """All of the rule that strata depend on."""
        return self.predicate, tuple((needs, how) for needs, how, _ in self.reads)

    @cached_property
    def read(self) -> frozenset[Predicate]:
        return frozenset(predicate for predicate, _, _ in self.reads)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What the checks and the lints found out about this rule alone, each by its name."""
        return {}


@dataclass(frozen=True, slots=True)
class Comment:
    """A line for people: blank when the text is empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A `#:json` line: the text after the marker."""

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Line = Rule | Comment | Annotation


def body_atoms(rule: Rule) -> Iterator[Atom]:
    """The atoms of a body in order: positive, negated and counted alike."""
    for literal in rule.body:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negated | Cardinality):
            yield literal.atom


def variables_of(part: Literal) -> Iterator[str]:
    """The names of the variables of a literal, or of a head, with repetitions."""
    match part:
        case Atom(_, terms):
            found: tuple[Term, ...] = terms
        case Negated(atom):
            found = atom.terms
        case Unequal(left, right):
            found = (left, right)
        case Cardinality(atom, operator, bound):
            found = (*atom.terms, operator, bound)
        case Always():
            found = ()
    return (term.name for term in found if isinstance(term, Variable))
