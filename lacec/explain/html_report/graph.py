"""A graph as a picture, in rows: what is needed stands above those who need it.

In: named nodes in bands, edges, and groups of nodes that need each other, in an order in which
they can be evaluated. Out: SVG. Of predicates a band is a stratum, and base facts stand on top.
An edge that passes rows has a place of its own in each, so that it crosses no node.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from lacec.explain.html_report.html import Html, join, tag

# So many nodes are drawn; of more, those nearest to what nothing else needs.
MOST_DRAWN = 60
CHARACTER, HEIGHT, PAD = 7.3, 30, 12
BETWEEN, ROW, MARGIN, LEFT = 22, 78, 16, 78
SWEEPS = 8


class Node(NamedTuple):
    name: str
    band: int
    kind: str  # the class of its box
    note: str = ""
    href: str | None = None


class Edge(NamedTuple):
    head: str
    needs: str
    kind: str  # the class of its line
    said: str  # what it means, in words


@dataclass(frozen=True)
class Picture:
    svg: Html
    left_out: int  # nodes that are not drawn


@dataclass
class _Spot:
    """A node in its row, or a place where an edge passes through it."""

    row: int
    width: float
    node: Node | None = None
    above: list["_Spot"] = field(default_factory=list)
    below: list["_Spot"] = field(default_factory=list)
    x: float = 0.0


def draw(
    nodes: Sequence[Node],
    edges: Iterable[Edge],
    groups: Sequence[Sequence[str]],
    names: Mapping[int, str],
    title: str,
) -> Picture:
    """A picture; `names` are those of the bands."""
    edges = list(dict.fromkeys(edges))
    drawn = _nearest(nodes, edges)
    kept = [node for node in nodes if node.name in drawn]
    edges = [edge for edge in edges if edge.head in drawn and edge.needs in drawn]
    rows = _rows(kept, edges, groups)
    spots = {node.name: _Spot(rows[node.name], _width(node), node) for node in kept}
    paths = [(edge, _path(edge, spots)) for edge in edges]
    every = list({id(s): s for s in [*spots.values(), *(s for _, p in paths for s in p)]}.values())
    layers = _ordered(every)
    width = _place(layers)
    svg = _svg(width, layers, paths, names, title)
    return Picture(svg, len(nodes) - len(kept))


def _nearest(nodes: Sequence[Node], edges: Sequence[Edge]) -> set[str]:
    """The nodes to draw, found from what nothing else needs upwards."""
    needed = {edge.needs for edge in edges if edge.needs != edge.head}
    needs: dict[str, list[str]] = {}
    for edge in edges:
        needs.setdefault(edge.head, []).append(edge.needs)
    queue = [node.name for node in nodes if node.name not in needed]
    queue += [node.name for node in nodes[:1] if not queue]
    found = dict.fromkeys(queue)
    for name in queue:
        new = [each for each in needs.get(name, ()) if each not in found]
        found |= dict.fromkeys(new)
        queue += dict.fromkeys(new)
    rest = (node.name for node in nodes if node.name not in found)
    return set([*found, *rest][:MOST_DRAWN])


def _rows(
    nodes: Sequence[Node], edges: Sequence[Edge], groups: Sequence[Sequence[str]]
) -> dict[str, int]:
    """The row of each node; every band begins below the one before."""
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    rows: dict[str, int] = {}
    first = 0
    for band in sorted({node.band for node in nodes}):
        own = {node.name for node in nodes if node.band == band}
        rows |= dict.fromkeys(own - group_of.keys(), first)
        for group in groups:
            members = [name for name in group if name in own]
            above = [
                rows[edge.needs]
                for edge in edges
                if edge.head in members
                and edge.needs in own
                and group_of[edge.needs] < group_of[edge.head]
            ]
            rows |= dict.fromkeys(members, max(above, default=first - 1) + 1)
        first = max((rows[name] for name in own), default=first - 1) + 1
    return rows


def _width(node: Node) -> float:
    return max(len(node.name), len(node.note) * 0.85) * CHARACTER + 2 * PAD


def _path(edge: Edge, spots: Mapping[str, _Spot]) -> list[_Spot]:
    """From what is needed down to who needs it, with a spot in every row between."""
    start, end = spots[edge.needs], spots[edge.head]
    if end.row <= start.row:
        return [start, end]
    between = [_Spot(row, 4.0) for row in range(start.row + 1, end.row)]
    path = [start, *between, end]
    for one, other in pairwise(path):
        one.below.append(other)
        other.above.append(one)
    return path


def _ordered(spots: Sequence[_Spot]) -> list[list[_Spot]]:
    """The rows, each in an order with few crossings: by the middle of the neighbours."""
    count = max((spot.row for spot in spots), default=-1) + 1
    layers = [[spot for spot in spots if spot.row == row] for row in range(count)]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            places = {id(s): n for each in layers for n, s in enumerate(each)}

            def middle(spot: _Spot, down: bool = down, places: dict[int, int] = places) -> float:
                near = spot.above if down else spot.below
                found = [places[id(each)] for each in near]
                return sum(found) / len(found) if found else places[id(spot)]

            layer.sort(key=middle)
    return layers


def _place(layers: Sequence[Sequence[_Spot]]) -> float:
    """Give every spot its x, the middle of its box; the width of it all."""
    for layer in layers:
        _spread(layer, [0.0] * len(layer))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            wanted = []
            for spot in layer:
                near = (spot.above if down else spot.below) or [spot]
                wanted.append(sum(each.x for each in near) / len(near))
            _spread(layer, wanted)
    spots = [spot for layer in layers for spot in layer]
    left = min((spot.x - spot.width / 2 for spot in spots), default=0.0)
    for spot in spots:
        spot.x += LEFT + MARGIN - left
    return max((spot.x + spot.width / 2 for spot in spots), default=0.0) + MARGIN


def _spread(layer: Sequence[_Spot], wanted: Sequence[float]) -> None:
    """As near to where each wants to be as leaves room for all, in their order."""
    clusters: list[tuple[list[_Spot], float, float]] = []  # spots, where its first is, weight
    for spot, x in zip(layer, wanted, strict=True):
        cluster = ([spot], x, 1.0)
        while clusters:
            before, begin, weight = clusters[-1]
            reach = _reach(before, cluster[0][0])
            if begin + reach <= cluster[1]:
                break
            clusters.pop()
            both = weight + cluster[2]
            start = (begin * weight + (cluster[1] - reach) * cluster[2]) / both
            cluster = (before + cluster[0], start, both)
        clusters.append(cluster)
    for spots, begin, _ in clusters:
        x = begin
        for number, spot in enumerate(spots):
            x += _gap(spots[number - 1], spot) if number else 0.0
            spot.x = x


def _gap(one: _Spot, other: _Spot) -> float:
    return (one.width + other.width) / 2 + BETWEEN


def _reach(spots: Sequence[_Spot], after: _Spot) -> float:
    """From the first of some spots to the one that follows their last."""
    row = [*spots, after]
    return sum(_gap(one, other) for one, other in pairwise(row))


# SVG.


def _svg(
    width: float,
    layers: Sequence[Sequence[_Spot]],
    paths: Sequence[tuple[Edge, Sequence[_Spot]]],
    names: Mapping[int, str],
    title: str,
) -> Html:
    height = MARGIN * 2 + ROW * len(layers) - (ROW - HEIGHT) + 8
    bands = _bands(layers, width, names)
    curves = [_curve(edge, path) for edge, path in paths]
    boxes = [_box(spot) for layer in layers for spot in layer if spot.node is not None]
    markers = join(
        tag(
            "marker",
            tag("path", d="M0,0 L8,4 L0,8 z", class_=f"tip {kind}"),
            id=f"tip-{kind}",
            markerWidth=8,
            markerHeight=8,
            refX=7,
            refY=4,
            orient="auto",
        )
        for kind in dict.fromkeys(edge.kind for edge, _ in paths)
    )
    return tag(
        "svg",
        tag("title", title),
        tag("defs", markers),
        *bands,
        *curves,
        *boxes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        class_="graph",
        role="img",
    )


def _top(row: int) -> float:
    return MARGIN + 4 + row * ROW


def _bands(
    layers: Sequence[Sequence[_Spot]], width: float, names: Mapping[int, str]
) -> Iterable[Html]:
    """A band behind its rows, with its name."""
    rows: dict[int, list[int]] = {}
    for layer in layers:
        for spot in layer:
            if spot.node is not None:
                rows.setdefault(spot.node.band, []).append(spot.row)
    for number, (band, own) in enumerate(sorted(rows.items())):
        top, end = _top(min(own)) - 14, _top(max(own)) + HEIGHT + 14
        yield tag(
            "rect",
            x=2,
            y=f"{top:.0f}",
            width=f"{width - 4:.0f}",
            height=f"{end - top:.0f}",
            rx=8,
            class_=f"band b{number % 2}",
        )
        yield tag("text", names[band], x=14, y=f"{(top + end) / 2 + 4:.0f}", class_="band")


def _curve(edge: Edge, path: Sequence[_Spot]) -> Html:
    start, end = path[0], path[-1]
    if end.row <= start.row:  # of one group: around the side
        return _loop(edge, start, end)
    x, y = start.x, _top(start.row) + HEIGHT
    parts = [f"M{x:.1f},{y:.1f}"]
    for spot in path[1:]:
        last = spot is end
        to_y = _top(spot.row) - (2 if last else 0)
        bend = (to_y - y) / 2
        parts.append(
            f"C{x:.1f},{y + bend:.1f} {spot.x:.1f},{to_y - bend:.1f} {spot.x:.1f},{to_y:.1f}"
        )
        x, y = spot.x, to_y
        if not last:
            y += HEIGHT
            parts.append(f"L{x:.1f},{y:.1f}")
    return _edge(edge, " ".join(parts))


def _loop(edge: Edge, start: _Spot, end: _Spot) -> Html:
    """To itself around the right side; to another of the group below both."""
    if start is end:
        x, y = start.x + start.width / 2, _top(start.row) + HEIGHT / 2
        bend = f"{x + 20:.1f},{y - 18:.1f} {x + 20:.1f},{y + 18:.1f}"
        return _edge(edge, f"M{x:.1f},{y - 6:.1f} C{bend} {x + 1:.1f},{y + 6:.1f}")
    y, to_y = _top(start.row) + HEIGHT, _top(end.row) + HEIGHT
    bend = f"{start.x:.1f},{y + 26:.1f} {end.x:.1f},{to_y + 26:.1f}"
    return _edge(edge, f"M{start.x:.1f},{y:.1f} C{bend} {end.x:.1f},{to_y + 2:.1f}")


def _edge(edge: Edge, path: str) -> Html:
    return tag(
        "path",
        tag("title", edge.said),
        d=path,
        class_=f"edge {edge.kind}",
        marker_end=f"url(#tip-{edge.kind})",
    )


def _box(spot: _Spot) -> Html:
    node = spot.node
    assert node is not None
    x, y = spot.x - spot.width / 2, _top(spot.row)
    name_y = y + (13 if node.note else 19)
    note = tag("text", node.note, x=f"{spot.x:.1f}", y=f"{y + 25:.1f}", class_="note")
    inner = join(
        [
            tag("title", f"{node.name}, {node.kind}"),
            tag(
                "rect",
                x=f"{x:.1f}",
                y=f"{y:.1f}",
                width=f"{spot.width:.1f}",
                height=HEIGHT,
                rx=6,
                class_=f"node {node.kind}",
            ),
            tag("text", node.name, x=f"{spot.x:.1f}", y=f"{name_y:.1f}"),
            *([note] if node.note else []),
        ]
    )
    return tag("a", inner, href=node.href) if node.href else tag("g", inner)
