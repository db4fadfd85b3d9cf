"""Which names a module may define and read (030 Shadowing, D11).

Nobody defines a base predicate or a generated name; selectors and exposure
modules leave the predicates of lowering alone; a selector is closed.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Problem
from lacec.core.facets import Facet
from lacec.core.predicates import BASE, EXPOSE_EXPORTS, GENERATED, GENERATED_PREFIX
from lacec.syntax.ast import Atom, Rule, body_atoms


def check_rule(rule: Rule, facet: Facet) -> Iterator[Problem]:
    head = rule.head
    if head.predicate in BASE:
        yield Problem(
            "base-predicate",
            head.name_span,
            f"`{head.predicate}` is a base predicate, so no rule may define it",
            f"choose another name for the head; {BASE[head.predicate]}",
        )
    elif (why := _reserved(head, facet)) is not None:
        yield Problem(
            "reserved-name",
            head.name_span,
            f"{_module(facet)} may not define `{head.predicate}`: {why}",
            "choose another name for the head",
        )
    if facet is not Facet.SELECTOR:
        return
    for atom in body_atoms(rule):
        why = _unreadable(atom)
        if why is not None:
            yield Problem(
                "closed-selector",
                atom.name_span,
                f"a selector may not read `{atom.predicate}`: {why}",
                "it reads record, runtime and advertisement facts, and its own predicates",
            )


def _module(facet: Facet) -> str:
    return {
        Facet.PLAIN: "a lacegram",
        Facet.SELECTOR: "a selector",
        Facet.EXPOSE: "an exposure module",
    }[facet]


def _reserved(head: Atom, facet: Facet) -> str | None:
    """Why a module of that facet may not define a head; None if it may."""
    if GENERATED_PREFIX.match(head.name):
        return "its prefix is for generated rules"
    if facet is not Facet.PLAIN and head.predicate in GENERATED:
        return "lowering generates it"
    if facet is Facet.SELECTOR:
        if head.name.startswith("Merged"):
            return "names with `Merged` in front are for generated rules"
        if head.name.startswith("Allow"):
            return "what a peer may query is decided by local exposure modules"
        if head.name.startswith("_"):
            return "names with `_` in front are local"
    return None


def _unreadable(atom: Atom) -> str | None:
    """Why a selector may not read an atom; None if it may."""
    if atom.predicate in GENERATED:
        return "lowering generates it from the selectors"
    if atom.predicate in EXPOSE_EXPORTS:
        return "exposure is local to the side that exposes"
    if atom.name.startswith("_"):
        return "names with `_` in front are local to one side"
    if atom.name.startswith("Merged") or GENERATED_PREFIX.match(atom.name):
        return "it belongs to generated rules"
    return None
