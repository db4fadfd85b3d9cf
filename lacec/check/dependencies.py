"""Which derived predicate needs which, and the strata that follow (030 Stratification).

In: rules. Out: the groups of mutually recursive predicates in the order they can
be evaluated, the strata, and for each group that needs itself through a negated
or counted atom the shortest cycle that shows it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lacec.predicates import Predicate
from lacec.syntax.ast import How, Span
from lacec.syntax.source import SourceRule

Group = tuple[Predicate, ...]


class Edge(NamedTuple):
    """The head of a rule needs the predicate of one of its body atoms."""

    head: Predicate
    needs: Predicate
    kind: How
    rule: SourceRule
    span: Span
    order: int  # its place among all edges, in the order of the sources


@dataclass(frozen=True, slots=True)
class Stratification:
    groups: tuple[Group, ...]
    strata: tuple[tuple[Predicate, ...], ...]
    cycles: tuple[tuple[Edge, ...], ...]


def stratify(rules: Iterable[SourceRule]) -> Stratification:
    graph = _graph(rules)
    groups = _groups(graph)
    level: dict[Predicate, int] = {}
    cycles: list[tuple[Edge, ...]] = []
    for group in groups:
        height = 0
        wrong: list[Edge] = []
        for predicate in group:
            for edge in graph[predicate]:
                if edge.needs in level:
                    height = max(height, level[edge.needs] + (edge.kind != "uses"))
                elif edge.kind != "uses":  # not there yet, so it is of this group
                    wrong.append(edge)
        level.update(dict.fromkeys(group, height))
        if wrong:
            first = min(wrong, key=lambda edge: edge.order)
            cycles.append(_cycle(first, graph, set(group)))
    strata: list[list[Predicate]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for predicate, height in level.items():
        strata[height].append(predicate)
    return Stratification(
        groups, tuple(tuple(sorted(stratum)) for stratum in strata), tuple(cycles)
    )


def _graph(rules: Iterable[SourceRule]) -> dict[Predicate, list[Edge]]:
    """The edges out of each derived predicate, to derived predicates only."""
    rules = list(rules)
    graph: dict[Predicate, list[Edge]] = {rule.rule.predicate: [] for rule in rules}
    order = 0
    for rule in rules:
        head = rule.rule.predicate
        for needs, kind, span in rule.rule.reads:
            if needs in graph:
                graph[head].append(Edge(head, needs, kind, rule, span, order))
                order += 1
    return graph


def _groups(graph: dict[Predicate, list[Edge]]) -> tuple[Group, ...]:
    """Strongly connected components, each after those it needs (Tarjan, without recursion)."""
    index: dict[Predicate, int] = {}
    low: dict[Predicate, int] = {}
    stack: list[Predicate] = []
    on_stack: set[Predicate] = set()
    groups: list[Group] = []
    for root, out in graph.items():
        if root in index:
            continue
        index[root] = low[root] = len(index)
        if all(edge.needs in index for edge in out):
            groups.append((root,))  # as where each rule needs those above it, or itself
            continue
        work = [(root, iter(out))]
        stack.append(root)
        on_stack.add(root)
        while work:
            predicate, edges = work[-1]
            for edge in edges:
                if edge.needs not in index:
                    index[edge.needs] = low[edge.needs] = len(index)
                    stack.append(edge.needs)
                    on_stack.add(edge.needs)
                    work.append((edge.needs, iter(graph[edge.needs])))
                    break
                if edge.needs in on_stack:
                    low[predicate] = min(low[predicate], index[edge.needs])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[predicate])
                if low[predicate] == index[predicate]:
                    at = len(stack) - 1
                    while stack[at] != predicate:
                        at -= 1
                    groups.append(tuple(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return tuple(groups)


def _cycle(
    first: Edge, graph: dict[Predicate, list[Edge]], members: set[Predicate]
) -> tuple[Edge, ...]:
    """The edge and the shortest way back from what it needs to its head."""
    came_by: dict[Predicate, Edge] = {}
    queue = [first.needs]
    for predicate in queue:
        if first.head in came_by or first.needs == first.head:
            break
        for edge in graph[predicate]:
            if edge.needs in members and edge.needs not in came_by and edge.needs != first.needs:
                came_by[edge.needs] = edge
                queue.append(edge.needs)
    back: list[Edge] = []
    at = first.head
    while at != first.needs:
        back.append(came_by[at])
        at = came_by[at].head
    return (first, *reversed(back))
