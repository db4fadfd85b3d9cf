"""What the checks read: the sources of a program as one set of rules (linked by union)."""

from dataclasses import dataclass, field
from functools import cached_property

from lacec.check.dependencies import Stratification, stratify
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.syntax.source import ParsedSource, SourceRule


@dataclass(frozen=True)
class Program:
    facet: Facet
    limits: Limits
    sources: tuple[ParsedSource, ...] = field(repr=False)

    @cached_property
    def rules(self) -> tuple[SourceRule, ...]:
        return tuple(rule for source in self.sources for rule in source.rules)

    @cached_property
    def defined(self) -> dict[Predicate, SourceRule]:
        """The derived predicates, each with its first rule."""
        first: dict[Predicate, SourceRule] = {}
        for rule in self.rules:
            first.setdefault(rule.rule.predicate, rule)
        return first

    @cached_property
    def unread_lines(self) -> bool:
        """Whether some line, or a whole source, could not be read, and a rule may be missing."""
        return any(not s.source.lines or None in s.nodes for s in self.sources)

    @cached_property
    def stratification(self) -> Stratification:
        return stratify(self.rules)
