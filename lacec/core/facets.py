"""The three kinds of module (040): a plain lacegram, a selector, an exposure module."""

from enum import StrEnum

from lacec.core.predicates import EXPOSE_EXPORTS, SELECTOR_EXPORTS, Predicate

# What stands for an exposure module: this side's own selection, or all records.
SHORTCUTS = ("selected", "all")


class Facet(StrEnum):
    PLAIN = "plain"
    SELECTOR = "selector"
    EXPOSE = "expose"

    @property
    def exports(self) -> dict[Predicate, str]:
        """What a module of this facet is read for, and what each export means."""
        match self:
            case Facet.SELECTOR:
                return SELECTOR_EXPORTS
            case Facet.EXPOSE:
                return EXPOSE_EXPORTS
            case Facet.PLAIN:
                return {}
