"""Parts of a body that share no variable."""

from tests.helpers import Found, cases, lints


@cases(
    ("two parts", "A(P,Q) :- Have(P), Peer(P), Have(Q).", "plain", [("disconnected-body", 1, 29)]),
    (
        "a switch",
        "A(P) :- Have(P), Field(Q,'App',_,_), Field(Q,'Name',_,'on').",
        "plain",
        [("disconnected-body", 1, 18)],
    ),
    (
        "the part of the head comes first",
        "A(P) :- Field(Q,'App',_,_), Field(Q,'Name',_,'on'), Have(P).",
        "plain",
        [("disconnected-body", 1, 9)],
    ),
    (
        "three parts",
        "A(P,Q,R) :- Have(P), Have(Q), Have(R).",
        "plain",
        [("disconnected-body", 1, 22), ("disconnected-body", 1, 31)],
    ),
    ("joined", "A(P,Q) :- Have(P), PlexHash(P,Q), Have(Q).", "plain", []),
    ("joined by a comparison", "A(P,Q) :- Have(P), Have(Q), LexCompare(P,'<',Q).", "plain", []),
    ("joined by what is not", "A(P,Q) :- Have(P), Have(Q), not PlexHash(P,Q).", "plain", []),
    ("runtime facts are few", "A(P,V) :- Have(P), Peer(V).", "plain", []),
    ("lists are short", "Friend('V.a') :- true.\nA(P,V) :- Have(P), Friend(V).", "plain", []),
    ("whether there is any", "A(P) :- Have(P), Field(_,'App',_,'on').", "plain", []),
    (
        "a viewer",
        "B(V) :- Field(P,'Name',_,V), PlexHash(P,_).\nAllowQueryRecord(V,P) :- B(V), Have(P).",
        "expose",
        [],
    ),
)
def test_disconnected_body(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected
