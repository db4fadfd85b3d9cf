"""A predicate that nothing needs which is exported."""

from lacec.core.predicates import Predicate
from tests.helpers import REST, Found, cases, lints


@cases(
    ("a selector", "B(V) :- Peer(V)." + REST["selector"], "selector", [("unused-helper", 1, 1)]),
    (
        "an exposure module",
        "B(V) :- Peer(V)." + REST["expose"],
        "expose",
        [("unused-helper", 1, 1)],
    ),
    ("a plain module", "B(V) :- Peer(V).", "plain", []),
    (
        "told once",
        "B(V) :- Peer(V).\nB(V) :- Here(V)." + REST["selector"],
        "selector",
        [("unused-helper", 1, 1)],
    ),
    (
        "needed by itself alone",
        "B(V) :- Peer(V), B(V), C(V).\nC(V) :- B(V)." + REST["selector"],
        "selector",
        [("unused-helper", 1, 1), ("subsumed-rule", 1, 1), ("unused-helper", 2, 1)],
    ),
    (
        "needed by way of another",
        "B(V) :- Peer(V).\nC(V) :- B(V).\nSelectHave(P) :- C(P)." + REST["selector"],
        "selector",
        [],
    ),
)
def test_unused_helper(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_outputs_of_a_plain_module_may_be_known() -> None:
    outputs = frozenset({Predicate("A", 1)})
    assert lints("A(P) :- Have(P).\nB(P) :- Have(P).", outputs=outputs) == [("unused-helper", 2, 1)]
    assert lints("A(P) :- B(P).\nB(P) :- Have(P).", outputs=outputs) == []
