"""The provenance sidecar (040): which rule came from which, as fact lines. Nothing evaluates it."""

from collections.abc import Iterable

from lacec.plan.lower import LoweredRule
from lacec.syntax.show import show_fact


def provenance(rules: Iterable[LoweredRule]) -> tuple[str, ...]:
    """The facts of lowered rules, sorted; each once."""
    found: set[str] = set()
    for rule in rules:
        found.add(show_fact("RuleGeneratedBy", rule.id, rule.step, rule.what))
        if rule.module is not None and rule.original is not None:
            found.add(show_fact("RuleSource", rule.id, rule.module.id, rule.original.id))
        if rule.origin is not None:
            found.add(show_fact("RuleOrigin", rule.id, rule.origin))
    return tuple(sorted(found))
