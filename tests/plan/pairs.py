"""Operands and plans for tests, in as few words as will do."""

from lacec.canonical.module import Module
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import OriginMode
from lacec.plan.exchange import ExchangePlan, make_plan
from lacec.plan.expose import exposure
from lacec.plan.operands import Operand, author_operand
from lacec.plan.origins import Party

HAVE = "SelectHave(P) :- Have(P)."
ADVERTISED = "SelectAdvertised(P,S) :- Advertised(P,S)."
EVERYTHING = f"{HAVE}\n{ADVERTISED}"
GROUP_X = (
    "SelectHave(P) :- Have(P), Field(P,'Group',_,'X').\n"
    "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'Group',_,'X')."
)


def operand(index: int, text: str = EVERYTHING, limits: Limits = DEFAULT_LIMITS) -> Operand:
    return author_operand(index, [(f"{index}.lace", text)], limits)


def plan_of(
    zero: str = EVERYTHING,
    one: str = EVERYTHING,
    *,
    verifiers: tuple[str | None, str | None] = (None, None),
    nonces: tuple[str | None, str | None] = (None, None),
    origins: str = "opaque",
    lowering: str = "standard-v1",
) -> ExchangePlan:
    parties = (Party(verifiers[0], nonces[0]), Party(verifiers[1], nonces[1]))
    return make_plan([operand(0, zero), operand(1, one)], parties, OriginMode(origins), lowering)


def exposing(text: str) -> Module:
    return exposure([("expose.lace", text)])
