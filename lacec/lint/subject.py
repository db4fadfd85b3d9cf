"""What the lints read: a program, what is known about its use, and indexes that they share.

The first source of a program is the one that is linted; the others are linked to it, and
are linted on their own. Each index is made once, when a lint first asks for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from lacec.check.program import Program
from lacec.core.diagnostics import Severity
from lacec.core.facets import Facet
from lacec.core.predicates import BASE, Predicate
from lacec.lint.rule_facts import Anatomy
from lacec.syntax.ast import Term, body_atoms
from lacec.syntax.parse import legible
from lacec.syntax.source import SourceRule

Level = Severity | Literal["off"]


@dataclass(frozen=True)
class Context:
    """What a source does not say itself, from a `lace.toml` or a command line.

    `inputs` are predicates that facts are given for, `outputs` what a plain module is read
    for, `fields` the extra headers that records have; where they are empty, nothing is known.
    `exposures` are the modules that say what the peer of a selector may query.
    """

    levels: Mapping[str, Level] = field(default_factory=dict)
    inputs: frozenset[Predicate] = frozenset()
    outputs: frozenset[Predicate] = frozenset()
    fields: frozenset[str] = frozenset()
    exposures: tuple[Program, ...] = ()


Own = tuple[SourceRule, Anatomy]
Reached = tuple[SourceRule, Anatomy, set[Term]]


@dataclass(frozen=True)
class Subject:
    program: Program
    context: Context

    @cached_property
    def own(self) -> tuple[Own, ...]:
        """The rules of the source that is linted, but for large ones and those with mistakes."""
        most = len(self.program.sources[0].rules) if self.program.sources else 0
        return tuple(
            (rule, anatomy)
            for rule, anatomy in self.everything[:most]
            if not rule.repaired and not anatomy.is_large
        )

    @cached_property
    def linked(self) -> tuple[SourceRule, ...]:
        return tuple(rule for source in self.program.sources[1:] for rule in source.rules)

    @cached_property
    def everything(self) -> tuple[Own, ...]:
        """The rules of all sources."""
        return tuple((rule, anatomy_of(rule)) for rule in self.program.rules)

    @cached_property
    def by_head(self) -> dict[Predicate, list[Own]]:
        found: dict[Predicate, list[Own]] = {}
        for each in self.everything:
            found.setdefault(each[1].head, []).append(each)
        return found

    @cached_property
    def known(self) -> frozenset[Predicate]:
        """The predicates that are not empty by definition."""
        return frozenset({*BASE, *self.by_head, *self.context.inputs})

    @cached_property
    def reads(self) -> frozenset[Predicate]:
        """The predicates that some rule of some source reads."""
        return frozenset().union(*(anatomy.reads for _, anatomy in self.everything))

    @cached_property
    def strangers(self) -> frozenset[Predicate]:
        """The predicates that some rule reads and nothing defines."""
        return self.reads - self.known

    @cached_property
    def exports(self) -> frozenset[Predicate]:
        """What the module is read for; nothing is known of a plain one unless it is told."""
        if self.program.facet is Facet.PLAIN:
            return self.context.outputs
        return frozenset(self.program.facet.exports)

    def is_own(self, rule: SourceRule) -> bool:
        return rule.source is self.program.sources[0].source

    def reachable(self, roots: Iterable[Predicate]) -> set[Predicate]:
        """The predicates that the roots need, and the roots."""
        queue = list(roots)
        found = set(queue)
        for predicate in queue:
            for _, anatomy in self.by_head.get(predicate, ()):
                for needed in anatomy.reads - found:
                    found.add(needed)
                    queue.append(needed)
        return found

    def about(self, root: Predicate, position: int, positive: bool = False) -> Iterator[Reached]:
        """The rules that decide about a record, and the terms that stand for it in each.

        From the rules of an export, which has the record at a position, to those of the
        predicates that they read: all of them, or only where none is negated or counted.
        """
        seen = {(root, frozenset({position}))}
        queue = [(root, frozenset({position}))]
        for predicate, positions in queue:
            for rule, anatomy in self.by_head.get(predicate, ()):
                if anatomy.is_large:
                    continue
                record = {rule.rule.head.terms[n] for n in positions}
                yield rule, anatomy, record
                atoms = anatomy.positive if positive else body_atoms(rule.rule)
                for atom in atoms:
                    there = frozenset(n for n, term in enumerate(atom.terms) if term in record)
                    if atom.predicate in self.by_head and (atom.predicate, there) not in seen:
                        seen.add((atom.predicate, there))
                        queue.append((atom.predicate, there))

    @cached_property
    def tables(self) -> frozenset[Predicate]:
        """The predicates that are lists of constants: every rule of theirs has no condition."""
        return frozenset(
            predicate
            for predicate, rules in self.by_head.items()
            if all(anatomy.is_fact for _, anatomy in rules)
        )


def anatomy_of(rule: SourceRule) -> Anatomy:
    """A rule taken apart; kept with the rule, which equal lines share."""
    found: Anatomy | None = rule.rule.kept.get("anatomy")
    if found is None:
        line = legible(rule.line, rule.source.lines[rule.line - 1])
        found = rule.rule.kept["anatomy"] = Anatomy(rule.rule, line)
    return found
