"""The picture of dependencies: who needs something stands below it, and no boxes overlap."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lacec import compile
from lacec.explain.html_report.dependencies import of_module
from lacec.explain.html_report.graph import MOST_DRAWN, Edge, Node, Picture, draw
from tests.explain.html_report.reading import Page

Boxes = dict[str, tuple[float, float, float]]


def boxes(picture: Picture) -> Boxes:
    """The left, the top and the width of each box, by its predicate."""
    found: Boxes = {}
    pattern = r'<title>([^,<]*), \w+</title><rect x="([^"]*)" y="([^"]*)" width="([^"]*)"'
    for name, x, y, width in re.findall(pattern, picture.svg.text):
        assert name not in found
        found[name] = (float(x), float(y), float(width))
    return found


def drawn(source: str) -> tuple[Picture, Boxes]:
    picture = of_module(compile(source)).picture({}, "")
    return picture, boxes(picture)


POLICY = """\
Link(P) :- Have(P), Field(P,'Group',_,'u').
Good(P) :- Link(P), not Bad(P).
Bad(P) :- Have(P), Cardinality(Link(P),'>=','1').
Near(A,B) :- RecordLink(A,_,_,_,B).
Near(A,C) :- Near(A,B), Near(B,C).
"""


def test_what_is_needed_stands_above() -> None:
    picture, found = drawn(POLICY)
    assert found["Have/1"][1] < found["Link/1"][1] < found["Bad/1"][1] < found["Good/1"][1]
    text = Page(picture.svg.text).text
    assert "base facts" in text
    assert "stratum 2" in text
    assert "Good/1 negates Bad/1" in text
    assert "Bad/1 counts Link/1" in text
    assert "Near/2 uses Near/2" in text


NUMBERS = st.integers(0, 11)


@given(st.sets(st.tuples(NUMBERS, NUMBERS), max_size=30))
def test_no_two_boxes_overlap(pairs: set[tuple[int, int]]) -> None:
    """Whatever depends on whatever that comes before it."""
    nodes = sorted((Node(f"P{n}", n % 3, "rule") for n in range(12)), key=lambda node: node.band)
    edges = [
        Edge(nodes[max(pair)].name, nodes[min(pair)].name, "uses", "") for pair in sorted(pairs)
    ]
    groups = [[node.name] for node in nodes]
    picture = draw(nodes, edges, groups, {0: "0", 1: "1", 2: "2"}, "")
    found = boxes(picture)
    assert set(found) == {node.name for node in nodes}
    rows: dict[float, list[tuple[float, float]]] = {}
    for x, y, width in found.values():
        rows.setdefault(y, []).append((x, x + width))
    for row in rows.values():
        row.sort()
        assert all(end < start for (_, end), (start, _) in pairwise(row))
    assert draw(nodes, edges, groups, {0: "0", 1: "1", 2: "2"}, "") == picture


def test_of_many_predicates_those_nearest_to_the_end_are_drawn() -> None:
    rules = [f"P{n + 1}(X) :- P{n}(X)." for n in range(200)]
    picture, found = drawn("\n".join(rules))
    assert len(found) == MOST_DRAWN
    assert picture.left_out == 201 - MOST_DRAWN
    assert "P200/1" in found
    assert "P0/1" not in found
