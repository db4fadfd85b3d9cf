"""What depends on what, on a page: the picture, its legend, and the strata as a list.

In: derived predicates with their strata, and the edges between predicates. Out: a part.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lacec.canonical.module import Module
from lacec.core.origins import FULL_VIEW
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.explain.html_report.graph import Edge, Node, Picture, draw
from lacec.explain.html_report.html import Html, tag
from lacec.explain.html_report.tables import table_anchor
from lacec.explain.query_plan import SideExplanation, edges_of

MEANING = {
    "uses": "uses",
    "negates": "negates",
    "counts": "counts",
    "view": "reads records only as far as this allows",
}


class Needed(NamedTuple):
    """That a predicate needs another; `view` means that it reads records as far as that allows."""

    head: Predicate
    needs: Predicate
    kind: str

    @property
    def said(self) -> str:
        if self.kind == "view":
            return f"{self.head} reads records that {self.needs} allows"
        return f"{self.head} {self.kind} {self.needs}"


@dataclass(frozen=True)
class Dependencies:
    """The derived predicates by stratum, with whose rules make them, and what each needs."""

    derived: Mapping[Predicate, tuple[int, str]]
    edges: Sequence[Needed]
    groups: Sequence[Sequence[Predicate]]
    names: Mapping[int, str]

    def order(self) -> list[Predicate]:
        """Those first that nothing else needs: they are what a program is for."""
        needed = {edge.needs for edge in self.edges if edge.needs != edge.head}
        return sorted(self.derived, key=lambda p: (p in needed, -self.derived[p][0], p))

    def picture(self, counts: Mapping[Predicate, int], prefix: str) -> Picture:
        base = sorted({edge.needs for edge in self.edges} - self.derived.keys())
        nodes = [Node(str(predicate), -1, "base") for predicate in base]
        for predicate, (stratum, kind) in self.derived.items():
            count = counts.get(predicate)
            note = "" if count is None else f"{count:,} fact{'' if count == 1 else 's'}"
            href = f"#{table_anchor(prefix, predicate)}" if count else None
            nodes.append(Node(str(predicate), stratum, kind, note, href))
        edges = [Edge(str(e.head), str(e.needs), e.kind, e.said) for e in self.edges]
        groups = [[str(predicate) for predicate in group] for group in self.groups]
        names = {-1: "base facts", **self.names}
        return draw(nodes, edges, groups, names, "Which predicates need which")


def of_module(module: Module) -> Dependencies:
    derived = {p: (n, "rule") for n, stratum in enumerate(module.strata) for p in stratum}
    edges = [Needed(each.head, each.needs, each.kind) for each in edges_of(module)]
    names = {n: f"stratum {n}" for n in range(len(module.strata))}
    return Dependencies(derived, edges, module.groups, names)


def of_side(side: SideExplanation) -> Dependencies:
    """The gates come first: what they allow decides what is read below."""
    program = side.program
    whose = {each.rule.node.head.predicate: each.whose for each in side.rules}
    strata = [*program.gates.strata, *program.main.strata]
    derived = {p: (n, whose[p]) for n, stratum in enumerate(strata) for p in stratum}
    edges = [
        Needed(each.head, each.needs, each.kind)
        for module in (program.gates, program.main)
        for each in edges_of(module)
    ]
    for each in side.rules:
        head, view = each.rule.node.head.predicate, program.reading(each.rule).view
        gate = program.resolution.views[view - 1].gate if view != FULL_VIEW else None
        if gate in derived and any(e.head == head and e.needs in RECORD_FACTS for e in edges):
            edges.append(Needed(head, gate, "view"))
    count = len(program.gates.strata)
    names = {
        n: f"exposure {n}" if n < count else f"stratum {n - count}" for n in range(len(strata))
    }
    return Dependencies(derived, edges, [*program.gates.groups, *program.main.groups], names)


def dependencies_part(found: Dependencies, counts: Mapping[Predicate, int], prefix: str) -> Html:
    """`counts` says how many facts predicates have, where that is known."""
    picture = found.picture(counts, prefix)
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


def _needs(edges: Iterable[Needed], predicate: Predicate) -> Html:
    said = [f"{e.kind} {e.needs}" for e in edges if e.head == predicate and e.kind != "view"]
    return tag("span", ", ".join(dict.fromkeys(said)), class_="needs")
