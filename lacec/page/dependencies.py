"""What depends on what, on a page: the picture, its legend, and the strata as a list.

In: derived predicates with their strata, and the edges between predicates. Out: a part.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lacec.canonical.module import Module
from lacec.explain import SideExplanation, edges_of
from lacec.page.graph import Edge, Node, draw
from lacec.page.html import Html, tag
from lacec.page.tables import table_anchor
from lacec.predicates import RECORD_FACTS, Predicate
from lacec.views import FULL_VIEW

MEANING = {
    "uses": "uses",
    "negates": "negates",
    "counts": "counts",
    "view": "reads records only as far as this allows",
}


@dataclass(frozen=True)
class Dependencies:
    """The derived predicates by stratum, with whose rules make them, and all edges."""

    derived: Mapping[Predicate, tuple[int, str]]
    edges: Sequence[Edge]
    groups: Sequence[Sequence[Predicate]]
    names: Mapping[int, str]

    def order(self) -> list[Predicate]:
        """Those first that nothing else needs: they are what a program is for."""
        needed = {edge.needs for edge in self.edges if edge.needs != edge.head}
        return sorted(self.derived, key=lambda p: (p in needed, -self.derived[p][0], p))


def of_module(module: Module) -> Dependencies:
    derived = {p: (n, "rule") for n, stratum in enumerate(module.strata) for p in stratum}
    edges = [Edge(each.head, each.needs, each.kind) for each in edges_of(module)]
    names = {n: f"stratum {n}" for n in range(len(module.strata))}
    return Dependencies(derived, edges, module.groups, names)


def of_side(side: SideExplanation) -> Dependencies:
    """The gates come first: what they allow decides what is read below."""
    program = side.program
    whose = {each.rule.node.head.predicate: each.whose for each in side.rules}
    strata = [*program.gates.strata, *program.main.strata]
    derived = {p: (n, whose[p]) for n, stratum in enumerate(strata) for p in stratum}
    edges = [
        Edge(each.head, each.needs, each.kind)
        for module in (program.gates, program.main)
        for each in edges_of(module)
    ]
    for each in side.rules:
        head, view = each.rule.node.head.predicate, program.reading(each.rule).view
        gate = program.resolution.views[view - 1].gate if view != FULL_VIEW else None
        if gate in derived and any(e.head == head and e.needs in RECORD_FACTS for e in edges):
            edges.append(Edge(head, gate, "view"))
    count = len(program.gates.strata)
    names = {
        n: f"exposure {n}" if n < count else f"stratum {n - count}" for n in range(len(strata))
    }
    return Dependencies(derived, edges, [*program.gates.groups, *program.main.groups], names)


def dependencies_part(found: Dependencies, counts: Mapping[Predicate, int], prefix: str) -> Html:
    """`counts` says how many facts predicates have, where that is known."""
    base = sorted({edge.needs for edge in found.edges} - found.derived.keys())
    nodes = [Node(predicate, -1, "base") for predicate in base]
    for predicate, (stratum, kind) in found.derived.items():
        count = counts.get(predicate)
        note = "" if count is None else f"{count:,} fact{'' if count == 1 else 's'}"
        href = None if not count else f"#{table_anchor(prefix, predicate)}"
        nodes.append(Node(predicate, stratum, kind, note, href))
    picture = draw(nodes, found.edges, found.groups, {-1: "base facts", **found.names})
    kinds = [kind for kind in MEANING if any(edge.kind == kind for edge in found.edges)]
    left = f"{picture.left_out:,} more predicates are not drawn; the list below has them."
    return tag(
        "div",
        tag("div", picture.svg, class_="picture"),
        tag("p", *[_legend(kind) for kind in kinds], class_="legend"),
        tag("p", left, class_="left-out") if picture.left_out else None,
        _strata(found),
    )


def _legend(kind: str) -> Html:
    line = tag("path", d="M1,6 L33,6", class_=f"edge {kind}")
    sample = tag("svg", line, width=34, height=12, class_="graph", aria_hidden="true")
    return tag("span", sample, MEANING[kind])


def _strata(found: Dependencies) -> Html:
    items = []
    for number, name in found.names.items():
        own = [predicate for predicate, (stratum, _) in found.derived.items() if stratum == number]
        entries = [
            tag("li", tag("code", str(each)), " ", _needs(found.edges, each)) for each in own
        ]
        items.append(tag("li", tag("b", name), tag("ul", *entries)))
    return tag("ol", *items, class_="strata")


def _needs(edges: Iterable[Edge], predicate: Predicate) -> Html:
    said = [f"{e.kind} {e.needs}" for e in edges if e.head == predicate and e.kind != "view"]
    return tag("span", ", ".join(dict.fromkeys(said)), class_="needs")
