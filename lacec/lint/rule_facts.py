"""One rule taken apart, once for all the lints that look at it.

In: a rule and the text of its line. Out: its atoms by what they do, its variables by how
often they stand there, where each literal is. What is derived is kept, and equal lines
share it, so that a changed line costs what one line costs.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lacec.core.diagnostics import Mend
from lacec.core.predicates import BUILTIN_ARITY, FIELDS, NAMED_FIELDS, Predicate
from lacec.syntax.ast import (
    Always,
    Anonymous,
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Span,
    Term,
    Unequal,
    Variable,
    body_atoms,
    variables_of,
)
from lacec.syntax.lexer import tokens_of
from lacec.syntax.show import show_constant, show_rule

Test = Atom | Unequal
# Larger rules are errors unless limits were raised, and lints that compare pairs leave them alone.
MOST_LITERALS, MOST_TERMS = 256, 64


@dataclass(frozen=True, eq=False)
class Anatomy:
    rule: Rule
    line: str

    @cached_property
    def head(self) -> Predicate:
        return self.rule.head.predicate

    @cached_property
    def is_large(self) -> bool:
        atoms = (self.rule.head, *body_atoms(self.rule))
        return len(self.rule.body) > MOST_LITERALS or any(len(a.terms) > MOST_TERMS for a in atoms)

    @cached_property
    def reads(self) -> frozenset[Predicate]:
        """The predicates of the body: positive, negated and counted; no builtins."""
        atoms = body_atoms(self.rule)
        return frozenset(atom.predicate for atom in atoms if atom.name not in BUILTIN_ARITY)

    @cached_property
    def positive(self) -> tuple[Atom, ...]:
        """The atoms that bind variables."""
        return tuple(
            literal
            for literal in self.rule.body
            if isinstance(literal, Atom) and literal.name not in BUILTIN_ARITY
        )

    @cached_property
    def negated(self) -> tuple[Atom, ...]:
        return tuple(each.atom for each in self.rule.body if isinstance(each, Negated))

    @cached_property
    def counted(self) -> tuple[Cardinality, ...]:
        return tuple(each for each in self.rule.body if isinstance(each, Cardinality))

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """Comparisons, TextShape and `!=`."""
        return tuple(
            literal
            for literal in self.rule.body
            if isinstance(literal, Unequal)
            or (isinstance(literal, Atom) and len(literal.terms) == BUILTIN_ARITY.get(literal.name))
        )

    @cached_property
    def times(self) -> Counter[str]:
        """How often each variable stands in the rule."""
        parts: tuple[Literal, ...] = (self.rule.head, *self.rule.body)
        return Counter(name for part in parts for name in variables_of(part))

    @cached_property
    def fields(self) -> tuple[tuple[Atom, Constant], ...]:
        """The atoms that name a field, each with the constant that names it."""
        found = []
        for atom in body_atoms(self.rule):
            where = NAMED_FIELDS.get(atom.predicate)
            if where is not None:
                name = atom.terms[where[0]]
                if isinstance(name, Constant):
                    found.append((atom, name))
        return tuple(found)

    @cached_property
    def odd_fields(self) -> tuple[tuple[Atom, Constant], ...]:
        """Of these, what is no field that records have by their form."""
        return tuple(
            each
            for each in self.fields
            if each[1].value not in FIELDS or each[0].name == "RecordLink"
        )

    @cached_property
    def is_fact(self) -> bool:
        """Whether the rule has no condition."""
        return self.rule.body == (Always(),)

    @cached_property
    def constant_columns(self) -> tuple[int, ...]:
        """Where the head has constants."""
        return tuple(n for n, t in enumerate(self.rule.head.terms) if isinstance(t, Constant))

    @cached_property
    def bound(self) -> frozenset[str]:
        """The variables that the positive atoms bind."""
        return frozenset(v.name for atom in self.positive for v in atom.variables)

    @cached_property
    def is_circular(self) -> bool:
        """Whether the head stands in the body, so that nothing new is derived."""
        return self.rule.head in self.positive

    @cached_property
    def makes_pairs(self) -> bool:
        """Whether the head has of two parts of the body that nothing but tests join."""
        head = {variable.name for variable in self.rule.head.variables}
        parts = [
            island
            for island in self.unjoined
            if any(variable.name in head for atom in island for variable in atom.variables)
        ]
        return len(parts) > 1

    @cached_property
    def literal_spans(self) -> tuple[Span, ...]:
        """Where each literal of the body begins and ends."""
        found: list[Span] = []
        depth, start, end = 0, -1, 0
        for kind, _, at, after in tokens_of(self.line):
            if kind == "ARROW":
                start = -1
                found.clear()
            elif depth == 0 and kind in ("COMMA", "STOP"):
                found.append((start, end))
                start = -1
            else:
                depth += (kind == "LPAR") - (kind == "RPAR")
                start, end = (at if start < 0 else start), after
        return tuple(found)

    @cached_property
    def islands(self) -> tuple[tuple[Atom, ...], ...]:
        """The positive atoms, those together that variables join; tests join too.

        Atoms whose variables all stand once only ask whether there is something: no island.
        """
        return self._islands((*self.tests, *(Negated(a) for a in self.negated), *self.counted))

    @cached_property
    def unjoined(self) -> tuple[tuple[Atom, ...], ...]:
        """The islands that there are when tests join nothing."""
        return self._islands(())

    def _islands(self, joins: tuple[Literal, ...]) -> tuple[tuple[Atom, ...], ...]:
        atoms = [a for a in self.positive if any(self.times[v.name] > 1 for v in a.variables)]
        if len(atoms) < 2:
            return (tuple(atoms),) if atoms else ()
        root: dict[str, str] = {}

        def find(name: str) -> str:
            while root.setdefault(name, name) != name:
                root[name] = root[root[name]]
                name = root[name]
            return name

        for part in (*atoms, *joins):
            names = list(variables_of(part))
            for name in names[1:]:
                root[find(name)] = find(names[0])
        found: dict[str, list[Atom]] = {}
        for atom in atoms:
            found.setdefault(find(next(atom.variables).name), []).append(atom)
        return tuple(tuple(island) for island in found.values())

    @cached_property
    def shape(self) -> str:
        """The rule with its variables numbered: equal for rules that differ in their names."""
        numbers: dict[str, str] = {}
        return show_rule(
            rename(self.rule, lambda name: numbers.setdefault(name, f"V{len(numbers)}"))
        )

    @cached_property
    def features(self) -> frozenset[str]:
        """What a rule that asks for more has too: predicates and constants, by their place."""
        found = set(_constants("head", self.rule.head.terms))
        for literal in self.rule.body:
            match literal:
                case Atom(name, terms):
                    found.add(f"{name}/{len(terms)}")
                    found.update(_constants(name, terms))
                case Negated(atom):
                    found.add(f"not {atom.name}/{len(atom.terms)}")
                case Cardinality(atom):
                    found.add(f"count {atom.name}/{len(atom.terms)}")
                case Unequal():
                    found.add("!=")
        return frozenset(found)

    def without(self, literal: int, title: str) -> Mend:
        """The fix that takes one literal out of the body."""
        spans = self.literal_spans
        start, end = spans[literal]
        if len(spans) == 1:
            return Mend(title, (((start, end), "true"),), True)
        if literal == 0:
            return Mend(title, (((start, spans[1][0]), ""),), True)
        return Mend(title, (((spans[literal - 1][1], end), ""),), True)


def rewritten(constant: Constant, value: str, keeps_meaning: bool = False) -> Mend:
    """The fix that writes another constant in the place of one."""
    text = show_constant(value)
    return Mend(f"write {text}", ((constant.span, text),), keeps_meaning)


def rename(rule: Rule, to: Callable[[str], str]) -> Rule:
    """The same rule with other names for its variables."""

    def atom(old: Atom) -> Atom:
        return Atom(old.name, tuple(term(each) for each in old.terms), old.span)

    def term(old: Term) -> Term:
        return Variable(to(old.name), old.span) if isinstance(old, Variable) else old

    def literal(old: Literal) -> Literal:
        match old:
            case Atom():
                return atom(old)
            case Negated(inner):
                return Negated(atom(inner))
            case Unequal(left, right):
                return Unequal(term(left), term(right))
            case Cardinality(inner, operator, bound):
                return Cardinality(atom(inner), term(operator), term(bound))
            case Always():
                return old

    return Rule(atom(rule.head), tuple(literal(each) for each in rule.body))


def _constants(name: str, terms: tuple[Term, ...]) -> Iterator[str]:
    return (f"{name} {n} {t.value}" for n, t in enumerate(terms) if isinstance(t, Constant))


def covers(general: Atom, special: Atom) -> bool:
    """Whether an atom matches whatever another does, its variables being the same."""
    return general.predicate == special.predicate and all(
        isinstance(one, Anonymous) or one == other
        for one, other in zip(general.terms, special.terms, strict=True)
    )
