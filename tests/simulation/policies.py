"""Policies for simulated exchanges, and the records they speak of."""

from dataclasses import dataclass
from functools import cache
from random import Random

from lacec.canonical.module import Module
from lacec.plan.expose import LocalPolicy, expose_all, expose_selected, exposure
from lacec.plan.operands import Operand, author_operand
from lacec.records.record import Record, build_blob, build_plex, build_seal
from lacec.records.signature import Secret

EVERYTHING = """\
SelectHave(P) :- Have(P).
SelectAdvertised(P,S) :- Advertised(P,S)."""

GROUP_U = """\
SelectHave(P) :- Field(P,'Group',_,'u').
SelectAdvertised(P,S) :- AdvertisedField(P,S,'Group',_,'u')."""

NOT_BLOBS = """\
SelectHave(P) :- Have(P), not Field(P,'Type',_,'B').
SelectAdvertised(P,S) :- Advertised(P,S), not AdvertisedField(P,S,'Type',_,'B')."""

# 050's example of evidence: what members wrote, once their membership has been seen.
MEMBERS = """\
SelectHave(P) :- Field(P,'App',_,'member').
SelectHave(P) :- Field(P,'App',_,'ding'), Field(P,'Signed-By',_,V), ActiveMember(V).
SelectAdvertised(P,S) :- AdvertisedField(P,S,'App',_,'member').
SelectAdvertised(P,S) :- AdvertisedField(P,S,'App',_,'ding'), \
AdvertisedField(P,S,'Signed-By',_,V), ActiveMember(V).
ActiveMember(V) :- Field(P,'App',_,'member'), Field(P,'Name',_,V)."""

# The send set grows with what the peer advertises.
ANSWERS = """\
SelectHave(P) :- Field(P,'App',_,'member').
SelectHave(P) :- Field(P,'App',_,A), AdvertisedField(_,_,'App',_,A).
SelectAdvertised(P,S) :- Advertised(P,S)."""

# It shrinks with it: nothing is offered that the peer offers too. Nobody may come to rest.
COMPLEMENT = """\
SelectHave(P) :- Have(P), not Advertised(P,_).
SelectAdvertised(P,S) :- Advertised(P,S)."""

# A ding goes only to one who offers no member that is missing here: not to be had, and later to be.
HESITANT = """\
SelectHave(P) :- Field(P,'App',_,'member').
SelectHave(P) :- Field(P,'App',_,'ding'), not Stranger().
SelectAdvertised(P,S) :- Advertised(P,S).
Stranger() :- AdvertisedField(Q,_,'App',_,'member'), not Have(Q)."""

# Dings are taken until there are three.
AT_MOST_THREE = """\
SelectHave(P) :- Have(P).
SelectAdvertised(P,S) :- Advertised(P,S), not AdvertisedField(P,S,'App',_,'ding').
SelectAdvertised(P,S) :- AdvertisedField(P,S,'App',_,'ding'), \
Cardinality(Field(_,'App',_,'ding'),'<','3')."""

# Something is sent from a time on.
LATER = """\
SelectHave(P) :- Have(P), StartTAI(A), TickTAI(B), LexCompare(B,'>',A).
SelectAdvertised(P,S) :- Advertised(P,S)."""

MONOTONE = (EVERYTHING, GROUP_U, MEMBERS, ANSWERS, NOT_BLOBS)
OTHERS = (COMPLEMENT, HESITANT, AT_MOST_THREE, LATER)
EXPOSURES = ("all", "selected", "group", "nothing")


@cache
def operand(index: int, source: str) -> Operand:
    return author_operand(index, [("policy", source)])


@cache
def modules() -> dict[str, bytes]:
    """Every module there is, by its identifier."""
    every = [operand(0, source).module for source in (*MONOTONE, *OTHERS)]
    return {module.id: module.canonical.encode() for module in every}


@cache
def local_policy(index: int, source: str, exposed: str) -> LocalPolicy:
    modules: dict[str, tuple[Module, ...]] = {
        "all": (expose_all(),),
        "selected": (expose_selected(operand(index, source)),),
        "group": (
            exposure(
                [
                    (
                        "group",
                        "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'u').",
                    )
                ]
            ),
        ),
        "nothing": (),
    }
    return LocalPolicy(modules[exposed])


@dataclass(frozen=True)
class Author:
    secret: Secret

    @property
    def verifier(self) -> str:
        return self.secret.verifier


@cache
def authors() -> tuple[Author, ...]:
    return tuple(Author(Secret(bytes([n]) * 32)) for n in (1, 2, 3))


@cache
def library() -> tuple[Record, ...]:
    """Every record there is in a simulation: signing is slow, so they are made once."""
    found: list[Record] = [build_blob(b"data %d" % n) for n in range(6)]
    for group in ("u", "x"):
        for number, author in enumerate(authors()):
            tai = f"1700000000:00000000{number}"
            member = build_plex(group, "member", author.verifier, tai, [], b"")
            found.append(member)
            found.append(build_seal(member, author.secret, b"a" * 32))
            for n in range(4):
                note = [("Note", "it's a \\ ü")] if n == 0 else []
                ding = build_plex(group, "ding", f"links/{number}/{n}", tai, note, b"x" * n * 40)
                found.append(ding)
                found.append(build_seal(ding, author.secret, b"a" * 32))
    return tuple(found)


def some_records(random: Random, most: int = 12) -> list[Record]:
    return random.sample(library(), random.randint(0, most))
