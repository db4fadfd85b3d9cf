"""Local exposure modules (040, D16a): which records a viewer may query here.

In: a person's sources, or one of the two shortcuts, which are written as sources too.
Out: a module that defines AllowQueryRecord/2. Exposure is never part of the plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lacec.canonical.module import Module
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.pipeline import Input, compile_module
from lacec.plan.operands import Operand

ALL = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P)."
SELECTED = "AllowQueryRecord(V,P) :- _Viewer(V), SelectHave(P)."


@dataclass(frozen=True, slots=True)
class LocalPolicy:
    """What one side decides alone.

    Every exposure applies: a record is queryable when all of them allow it, and none is
    when there are none. A trusted peer sees all facts; `narrow` are exposure-like modules
    that narrow what this side's own operand sees (D16b).
    """

    exposures: tuple[Module, ...] = ()
    trust_peer: bool = False
    narrow: tuple[Module, ...] = ()


NO_POLICY = LocalPolicy()


def exposure(sources: Sequence[Input], limits: Limits = DEFAULT_LIMITS) -> Module:
    """The exposure module of a person's files; CompileError with every diagnostic."""
    return compile_module(sources, Facet.EXPOSE, limits)


def exposure_of(
    text: str | bytes, own: Operand, limits: Limits = DEFAULT_LIMITS, name: str = "<expose>"
) -> Module:
    """The exposure module of a text, which may be the name of a shortcut."""
    if text == "all":
        return expose_all(limits)
    if text == "selected":
        return expose_selected(own, limits)
    return exposure([(name, text)], limits)


def local_policy(
    own: Operand,
    expose: Sequence[str | bytes],
    narrow: Sequence[str | bytes],
    trust_peer: bool,
    limits: Limits = DEFAULT_LIMITS,
) -> LocalPolicy:
    """The local policy of texts, each of which may be the name of a shortcut."""
    return LocalPolicy(
        tuple(exposure_of(text, own, limits) for text in expose),
        trust_peer,
        tuple(exposure_of(text, own, limits) for text in narrow),
    )


def expose_all(limits: Limits = DEFAULT_LIMITS) -> Module:
    """`all`: the peer may query every record."""
    return exposure([("all", ALL)], limits)


def expose_selected(operand: Operand, limits: Limits = DEFAULT_LIMITS) -> Module:
    """`selected`: the peer may query what this side's own operand selects, by a copy of it."""
    # The operand is within the limits, and the shortcut adds a rule and a file to it.
    room = replace(limits, rules=limits.rules + 1)
    copy = exposure([("selected", SELECTED), ("operand", operand.module.canonical)], room)
    # The copied rules stand where their author wrote them.
    written = {rule.id: rule for rule in operand.module.rules}
    return replace(copy, rules=tuple(written.get(rule.id, rule) for rule in copy.rules))
