"""A module: a program's canonical text, its identity, and what is known of its rules.

In: the rules of a checked program. Out: one rule for each canonical line, in
canonical order, with the annotations of every place where it was written (D5, D6).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lacec.canonical.identifiers import lacegram_id, rule_id
from lacec.core.diagnostics import Diagnostic
from lacec.core.facets import Facet
from lacec.core.predicates import Predicate
from lacec.syntax.ast import Rule
from lacec.syntax.source import SourceRule


@dataclass(frozen=True, slots=True)
class ModuleRule:
    """One canonical rule; file and line are those of its first occurrence."""

    id: str
    text: str
    file: str
    line: int
    annotations: Mapping[str, Any]
    node: Rule = field(repr=False)


@dataclass(frozen=True, slots=True)
class Module:
    """A compiled lacegram. `diagnostics` holds warnings: a module has no errors.

    `groups` holds the derived predicates that need each other, in an order that
    can be evaluated; `strata` the same predicates by stratum.
    """

    facet: Facet
    id: str
    canonical: str = field(repr=False)
    rules: tuple[ModuleRule, ...] = field(repr=False, hash=False)
    groups: tuple[tuple[Predicate, ...], ...] = field(repr=False, hash=False)
    strata: tuple[tuple[Predicate, ...], ...] = field(repr=False, hash=False)
    diagnostics: tuple[Diagnostic, ...] = field(repr=False, hash=False)

    @property
    def annotations(self) -> dict[str, Mapping[str, Any]]:
        """The annotations by U. identifier, of the rules that have any."""
        return {rule.id: rule.annotations for rule in self.rules if rule.annotations}


def canonical_rules(rules: Iterable[SourceRule]) -> tuple[ModuleRule, ...]:
    """Each distinct rule once, in the order of the bytes of its line."""
    first: dict[str, SourceRule] = {}
    annotations: dict[str, dict[str, Any]] = {}
    for rule in rules:
        first.setdefault(rule.text, rule)
        annotations.setdefault(rule.text, {}).update(rule.annotations)
    return tuple(
        ModuleRule(
            rule_id(text),
            text,
            first[text].source.name,
            first[text].line,
            annotations[text],
            first[text].rule,
        )
        # UTF-8 keeps the order of code points, so sorting text sorts its bytes.
        for text in sorted(first)
    )


def build_module(
    facet: Facet,
    rules: Iterable[SourceRule],
    groups: tuple[tuple[Predicate, ...], ...],
    strata: tuple[tuple[Predicate, ...], ...],
    diagnostics: tuple[Diagnostic, ...],
) -> Module:
    distinct = canonical_rules(rules)
    canonical = "\n".join(rule.text for rule in distinct)
    return Module(facet, lacegram_id(canonical), canonical, distinct, groups, strata, diagnostics)
