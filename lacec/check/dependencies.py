"""Which derived predicate needs which, and the strata that follow (030 Stratification).

In: rules. Out: the groups of mutually recursive predicates in the order they can
be evaluated, the strata, and for each group that needs itself through a negated
or counted atom the shortest cycle that shows it.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lacec.core.predicates import Predicate
from lacec.syntax.ast import How, Span
from lacec.syntax.source import SourceRule

Group = tuple[Predicate, ...]
Needs = dict[Predicate, list[tuple[Predicate, How, Span]]]


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


# The last outcomes without cycles, by the shapes of their rules: most changes to a file, such
# as those within a constant, leave these as they are.
_KEPT: deque[tuple[list[Any], Stratification]] = deque(maxlen=4)
MOST_KEPT = 8192


def stratify(rules: Iterable[SourceRule]) -> Stratification:
    rules = tuple(rules)
    shapes = [rule.rule.shape for rule in rules]
    for kept, found in tuple(_KEPT):
        if kept == shapes:
            return found
    found = _stratify(rules)
    if not found.cycles and len(rules) <= MOST_KEPT:
        _KEPT.append((shapes, found))
    return found


def _stratify(rules: tuple[SourceRule, ...]) -> Stratification:
    needs = _needs(rules)
    groups = _groups(needs)
    level: dict[Predicate, int] = {}
    broken: list[Group] = []
    for group in groups:
        height, wrong = 0, False
        for predicate in group:
            for needed, kind, _ in needs[predicate]:
                if needed in level:
                    height = max(height, level[needed] + (kind != "uses"))
                elif kind != "uses":  # not there yet, so it is of this group
                    wrong = True
        for predicate in group:
            level[predicate] = height
        if wrong:
            broken.append(group)
    strata: list[list[Predicate]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for predicate, height in level.items():
        strata[height].append(predicate)
    return Stratification(
        groups, tuple(tuple(sorted(stratum)) for stratum in strata), _cycles(rules, broken)
    )


def _needs(rules: Iterable[SourceRule]) -> Needs:
    """What each derived predicate reads of the derived predicates."""
    needs: Needs = {rule.rule.predicate: [] for rule in rules}
    for rule in rules:
        needs[rule.rule.predicate] += [read for read in rule.rule.reads if read[0] in needs]
    return needs


def _groups(graph: Needs) -> tuple[Group, ...]:
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
        if all(edge[0] in index for edge in out):
            groups.append((root,))  # as where each rule needs those above it, or itself
            continue
        work = [(root, iter(out))]
        stack.append(root)
        on_stack.add(root)
        while work:
            predicate, edges = work[-1]
            for needed, _, _ in edges:
                if needed not in index:
                    index[needed] = low[needed] = len(index)
                    stack.append(needed)
                    on_stack.add(needed)
                    work.append((needed, iter(graph[needed])))
                    break
                if needed in on_stack:
                    low[predicate] = min(low[predicate], index[needed])
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


def _cycles(rules: Iterable[SourceRule], groups: list[Group]) -> tuple[tuple[Edge, ...], ...]:
    """The shortest cycle of each group that needs itself in a wrong way."""
    if not groups:
        return ()
    graph: dict[Predicate, list[Edge]] = {p: [] for group in groups for p in group}
    order = 0
    for rule in rules:
        head = rule.rule.predicate
        for needs, kind, span in rule.rule.reads if head in graph else ():
            if needs in graph:
                graph[head].append(Edge(head, needs, kind, rule, span, order))
                order += 1
    found = []
    for group in groups:
        members = set(group)
        edges = (edge for predicate in group for edge in graph[predicate])
        wrong = (edge for edge in edges if edge.kind != "uses" and edge.needs in members)
        found.append(_cycle(min(wrong, key=lambda edge: edge.order), graph, members))
    return tuple(found)


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
