"""The lowerings by name (D16): the two rules that turn the selected set into enforcement.

The name stands in the transcript, so both sides use the same one.
"""

from lacec.syntax.ast import Rule
from lacec.syntax.parse import parse_line

STANDARD = "standard-v1"

_TEXTS = {
    STANDARD: (
        "MaySend(P) :- MergedSelectHave(P).",
        "MayRequest(P) :- MergedSelectAdvertised(P,S).",
    ),
    "encrypted-v1": (
        "MaySend(P) :- MergedSelectHave(P), TransportEncrypted().",
        "MayRequest(P) :- MergedSelectAdvertised(P,S), TransportEncrypted().",
    ),
    "proven-peer-v1": (
        "MaySend(P) :- MergedSelectHave(P), Peer(_).",
        "MayRequest(P) :- MergedSelectAdvertised(P,S), Peer(S).",
    ),
}
LOWERINGS: tuple[str, ...] = tuple(_TEXTS)


def lowering_rules(name: str) -> list[Rule]:
    nodes = [parse_line(text).node for text in _TEXTS[name]]
    return [node for node in nodes if isinstance(node, Rule)]
