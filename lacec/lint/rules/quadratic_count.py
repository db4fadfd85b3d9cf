"""A count over pairs that are only compared: it grows with the square of the facts.

    Newer(P,Q) :- At(P,T), At(Q,U), Field(Q,'App',_,'x'), LexCompare(U,'>',T).
    Latest(P) :- At(P,_), Cardinality(Newer(P,_),'<','100').

In the form of std:latest no pair is made: the machine counts by rank.
"""

from collections.abc import Iterator

from lacec.bytecode.rank import KINDS, ranking_of
from lacec.core.diagnostics import Diagnostic, Related
from lacec.core.predicates import OPERATORS
from lacec.lint.rule_facts import Anatomy
from lacec.lint.subject import Own, Subject
from lacec.syntax.ast import Atom, Constant, Rule, Span


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    for rule, anatomy in subject.own:
        for count in anatomy.counted:
            rules = subject.by_head.get(count.atom.predicate, [])
            small = (each for each in rules if not each[1].is_large)
            pairs = next((each for each in small if each[1].makes_pairs), None)
            if pairs is None or _known_ranked(anatomy, count.atom, rules):
                continue
            other = pairs[0]
            yield Diagnostic(
                "quadratic-count",
                f"to count `{count.atom.predicate}` every pair is compared",
                rule.place(count.atom.span),
                "in each of its rules, write two atoms of one predicate and one comparison, as "
                "std:latest does: then no pair is made",
                (Related("the pairs come from here", other.place(other.rule.head.span)),),
            )


def _known_ranked(anatomy: Anatomy, atom: Atom, rules: list[Own]) -> bool:
    """The same as `_ranked`, kept with the rule that counts until the rules of the atom change."""
    nodes = [rule.rule for rule, _ in rules]
    kept: dict[Span, tuple[list[Rule], bool]] = anatomy.rule.kept.setdefault("ranked", {})
    if atom.span not in kept or kept[atom.span][0] != nodes:
        kept[atom.span] = nodes, _ranked(atom, anatomy.bound, rules)
    return kept[atom.span][1]


def _ranked(atom: Atom, outer: frozenset[str], rules: list[Own]) -> bool:
    """Whether the machine counts by rank; not asked of rules with errors in their comparisons."""
    for _, anatomy in rules:
        for test in anatomy.tests:
            if isinstance(test, Atom) and test.name in KINDS:
                operator = test.terms[1]
                if not isinstance(operator, Constant) or operator.value not in OPERATORS:
                    return True
    return ranking_of(atom, outer, [rule.rule for rule, _ in rules]) is not None
