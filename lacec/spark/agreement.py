"""What two sides agree on before an exchange (050 Setup, Hello), without Spark.

In: the policies of both sides. Out: the plan, what each side runs, the source and the fields
of their advertisements, and the runtime facts: as two sides in one process have them.
"""

from dataclasses import dataclass

from lacec.core.predicates import ADVERTISEMENT_FACTS, Predicate
from lacec.plan.exchange import ExchangePlan, make_plan
from lacec.plan.lower import MAY_SEND, SideProgram
from lacec.plan.origins import Party
from lacec.runtime.exchange.side import Policy
from lacec.runtime.interlace.advertisement import NO_FIELDS, Schema
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.hello import offered_schema
from lacec.syntax.ast import body_atoms


@dataclass(frozen=True)
class Agreed:
    """What setup and hello agree on; what belongs to a side comes by operand index."""

    plan: ExchangePlan
    programs: tuple[SideProgram, SideProgram]
    sources: tuple[str, str]
    schema: Schema
    runtime: tuple[tuple[Fact, ...], tuple[Fact, ...]]


def agree(
    policies: tuple[Policy, Policy],
    start: str,
    verifiers: tuple[str | None, str | None] = (None, None),
    fields: Schema = NO_FIELDS,
) -> Agreed:
    """As two sides in one process agree that begin at this TAI; PlanError if they cannot."""
    one, other = verifiers
    known = one is not None and other is not None
    claims = (one, other) if known else (None, None)  # D24b
    parties = (Party(claims[0]), Party(claims[1]))
    operands = [policy.operand for policy in policies]
    plan = make_plan(operands, parties, policies[0].origins, policies[0].lowering)
    programs = [plan.side(index, policy.local) for index, policy in enumerate(policies)]
    sources = [claim or origin.label for claim, origin in zip(claims, plan.origins, strict=True)]
    facts: tuple[Fact, ...] = (("StartTAI", start), ("TickTAI", start), ("ClockSkewSeconds", "0"))
    runtime = [
        (*facts, ("Here", own), ("Peer", peer)) if own is not None and peer is not None else facts
        for own, peer in (claims, claims[::-1])
    ]
    required = Schema(frozenset(plan.required.names), plan.required.all)
    return Agreed(
        plan,
        (programs[0], programs[1]),
        (sources[0], sources[1]),
        offered_schema(required, fields),
        (runtime[0], runtime[1]),
    )


def reads_claims(program: SideProgram) -> bool:
    """Whether what a side may send depends on what its peer advertises."""
    rules: dict[Predicate, list[Predicate]] = {}
    for rule in (*program.gates.rules, *program.main.rules):
        needed = [atom.predicate for atom in body_atoms(rule.node)]
        rules.setdefault(rule.node.head.predicate, []).extend(needed)
    # A view is decided by its gate, which no rule names.
    waiting = [MAY_SEND, *(view.gate for view in program.resolution.views)]
    seen = set(waiting)
    for predicate in waiting:
        new = [each for each in rules.get(predicate, ()) if each not in seen]
        seen.update(new)
        waiting += new
    return not seen.isdisjoint(ADVERTISEMENT_FACTS)
