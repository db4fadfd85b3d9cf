"""The predicates and builtins that the language and its profiles define.

One table each, read by the checks, the spelling hints and the editor. Predicates
are told apart by name and arity (D11).
"""

import re
from typing import NamedTuple


class Predicate(NamedTuple):
    name: str
    arity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"


def read_predicate(text: str) -> Predicate:
    """A predicate from NAME/ARITY; ValueError for anything else."""
    name, slash, arity = text.rpartition("/")
    if not slash or not name or not arity.isascii() or not arity.isdecimal() or len(arity) > 3:
        raise ValueError(f"{text!r} is not NAME/ARITY")
    return Predicate(name, int(arity))


# 020: facts of validated local records.
RECORD_FACTS: dict[Predicate, str] = {
    Predicate("Have", 1): "Have(P): the record P is stored here",
    Predicate("Field", 4): "Field(P,Name,Index,Value): one field of the record P",
    Predicate("RecordLink", 5): "RecordLink(P,Name,Index,Data,Target): one link of the record P",
    Predicate("BlobHash", 2): "BlobHash(P,H): the Blob embedded in the Plex or Seal P",
    Predicate("PlexHash", 2): "PlexHash(P,H): the Plex embedded in the Seal P",
}

# 050: facts of the exchange that is running.
RUNTIME_FACTS: dict[Predicate, str] = {
    Predicate("Here", 1): "Here(V): the verifier of this side",
    Predicate("Peer", 1): "Peer(V): the proven verifier of the other side",
    Predicate("Transport", 1): "Transport(S): the address of the connection",
    Predicate("TransportEncrypted", 0): "TransportEncrypted(): the connection is confidential",
    Predicate("StartTAI", 1): "StartTAI(T): the agreed start of the exchange",
    Predicate("TickTAI", 1): "TickTAI(T): the shared time of this evaluation",
    Predicate("ClockSkewSeconds", 1): "ClockSkewSeconds(N): how far apart the two clocks are",
}

# 050: what the peer says it has. Claims, not record facts.
ADVERTISEMENT_FACTS: dict[Predicate, str] = {
    Predicate("Advertised", 2): "Advertised(P,S): the source S offers the record P",
    Predicate("AdvertisedField", 5): "AdvertisedField(P,S,Name,Index,Value): a claimed field of P",
}

# D16a: known to local exposure modules only.
LOCAL_FACTS: dict[Predicate, str] = {
    Predicate("_Viewer", 1): "_Viewer(V): the viewer of this exchange",
}

BASE: dict[Predicate, str] = RECORD_FACTS | RUNTIME_FACTS | ADVERTISEMENT_FACTS | LOCAL_FACTS

# 020: the fields that a record has by its form, each once; any other name is an extra header.
FIELDS: dict[str, str] = {
    "Type": "the type of the record: B, P or S",
    "Data-Length": "the length of the data, as decimal text",
    "Group": "the path of the group",
    "App": "the namespace of the application",
    "Name": "the name within the application",
    "TAI": "when the record was made",
    "Signed-By": "the verifier of a Seal",
    "Signature": "the signature of a Seal",
}
# The atoms that have a field's name and the index of its occurrence, and where.
NAMED_FIELDS: dict[Predicate, tuple[int, int]] = {
    Predicate("Field", 4): (1, 2),
    Predicate("RecordLink", 5): (1, 2),
    Predicate("AdvertisedField", 5): (2, 3),
}

# 040: what each facet exports.
SELECTOR_EXPORTS: dict[Predicate, str] = {
    Predicate("SelectHave", 1): "SelectHave(P): the stored record P is selected",
    Predicate("SelectAdvertised", 2): "SelectAdvertised(P,S): P, offered by S, is selected",
}
EXPOSE_EXPORTS: dict[Predicate, str] = {
    Predicate("AllowQueryRecord", 2): "AllowQueryRecord(V,P): the viewer V may query the record P",
}

# 040: predicates that lowering generates.
GENERATED: frozenset[Predicate] = frozenset(
    {Predicate("MaySend", 1), Predicate("MayRequest", 1), Predicate("CanQueryRecord", 2)}
)

# D11, D16: the names that lowering makes of those of operands and of exposure modules.
SCOPE_PREFIX = re.compile(r"o[01]_")
GENERATED_PREFIX = re.compile(r"(?:o[01]|m[0-9]+)_")

# 040: the origin of an operand whose side proves nothing: one symbol of B64A after the prefix.
OPAQUE_PREFIX = "Opq_"
OPAQUE_LABEL = re.compile(rf"{OPAQUE_PREFIX}[0-9A-Z_a-z~]")

# 030: builtin tests, each with its one form (D8).
BUILTINS: dict[str, str] = {
    "IntCompare": "IntCompare(A,Op,B)",
    "LexCompare": "LexCompare(A,Op,B)",
    "TextShape": "TextShape(Text,Start,Delims,End)",
    "Cardinality": "Cardinality(Predicate(Term,...),Op,N)",
}
BUILTIN_MEANING: dict[str, str] = {
    "IntCompare": "compares decimal integers; Op is '<', '<=', '>' or '>='. "
    "False where a value is no decimal.",
    "LexCompare": "compares texts by the order of their bytes; Op is '<', '<=', '>' or '>='.",
    "TextShape": "with Delims '' the text is Start, anything, End. Otherwise it is Start, a "
    "segment that is not empty, the first character that is one of Delims, End.",
    "Cardinality": "counts the facts that match the atom, and compares their number with N; "
    "Op is '<', '<=', '>' or '>='. No match counts as zero. It binds no variable.",
}
BUILTIN_ARITY: dict[str, int] = {"IntCompare": 3, "LexCompare": 3, "TextShape": 4, "Cardinality": 3}
OPERATORS: tuple[str, ...] = ("<", "<=", ">", ">=")
