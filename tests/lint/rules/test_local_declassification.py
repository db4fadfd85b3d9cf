"""A selector whose selection depends on records that the peer may not query."""

import pytest

from tests.helpers import Found, exposing, lines, lints

OFFERED = "SelectAdvertised(P,S) :- Advertised(P,S)."
GROUP_X = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(P,'Group',_,'X')."
ALL = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P)."
PRIVATE = lines("SelectHave(P) :- Have(P), Field(_,'Group',_,'Y').", OFFERED)
FOUND = [("local-declassification", 1, 27)]


def selector(body: str) -> str:
    return lines(f"SelectHave(P) :- {body}.", OFFERED)


@pytest.mark.parametrize(
    ("source", "exposures", "expected"),
    [
        pytest.param(PRIVATE, [], [], id="no exposure is given"),
        pytest.param(PRIVATE, [GROUP_X], FOUND, id="other records"),
        pytest.param(PRIVATE, [ALL], [], id="all records are exposed"),
        pytest.param(PRIVATE, [ALL, GROUP_X], FOUND, id="every exposure counts"),
        pytest.param(selector("Have(P), PlexHash(P,_)"), [GROUP_X], [], id="the record itself"),
        pytest.param(
            selector("PlexHash(P,Q), Field(Q,'Group',_,'X')"), [GROUP_X], [], id="an exposed record"
        ),
        pytest.param(
            selector("Have(P), not Field(_,'Group',_,'Y')"),
            [GROUP_X],
            [("local-declassification", 1, 31)],
            id="negated",
        ),
        pytest.param(
            selector("Have(P), Cardinality(Have(_),'<','9')"),
            [GROUP_X],
            [("local-declassification", 1, 39)],
            id="counted",
        ),
        pytest.param(
            PRIVATE,
            ["AllowQueryRecord('V.alice',P) :- Have(P)."],
            FOUND,
            id="exposed to somebody else",
        ),
    ],
)
def test_local_declassification(source: str, exposures: list[str], expected: Found) -> None:
    found = lints(source, "selector", exposures=exposing(*exposures))
    assert [each for each in found if each[0] == "local-declassification"] == expected


def test_by_way_of_a_helper() -> None:
    source = lines("SelectHave(P) :- Have(P), On().", "On() :- Field(_,'Group',_,'Y').", OFFERED)
    found = lints(source, "selector", exposures=exposing(GROUP_X))
    assert found == [("local-declassification", 2, 9)]
