"""lacec audit: what the peer's rules can learn here, and what this side's own let through."""

import sys
from collections.abc import Iterator
from typing import Any

from lacec.cli.options import (
    ExposeOption,
    FactsOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    NarrowOption,
    Nonce0Option,
    Nonce1Option,
    Operand0Argument,
    Operand1Argument,
    OriginsOption,
    SideOption,
    StoreOption,
    TrustOption,
    Verifier0Option,
    Verifier1Option,
    read_limits,
)
from lacec.cli.plan import Policy, Setup, exposure_note, read_side, read_side_facts
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import Segment, write, write_json
from lacec.core.diagnostics import visible
from lacec.core.origins import OriginMode
from lacec.explain.audit import (
    ALWAYS,
    Audit,
    Count,
    Declassification,
    Observation,
    Read,
    audit_side,
)
from lacec.syntax.show import show_atom


def audit_command(
    file0: Operand0Argument,
    file1: Operand1Argument,
    side: SideOption = None,
    expose: ExposeOption = None,
    facts: FactsOption = None,
    store: StoreOption = None,
    narrow: NarrowOption = None,
    trust_peer: TrustOption = False,
    verifier0: Verifier0Option = None,
    verifier1: Verifier1Option = None,
    nonce0: Nonce0Option = None,
    nonce1: Nonce1Option = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Say what one side of an exchange plan discloses under its policy.

    What the peer's operand can observe, rule by rule; which local rules make what the peer
    sees depend on records that it may not query, and by which path; and what is disclosed
    whatever the policy is. With --facts or --store, over how many records.

    Example: lacec audit mine.lace theirs.lace --side 0 --expose selected --facts all.facts
    """
    limits = read_limits(limit)
    setup = Setup((verifier0, verifier1), (nonce0, nonce1), origins, lowering)
    policy = Policy(expose or (), narrow or (), trust_peer)
    plan, program, reader = read_side((file0, file1), side, setup, policy, limits, json)
    with read_side_facts(facts, store, plan, program, reader) as database:
        audit = audit_side(program, database if facts or store else None, limits)
    if json:
        write_json({"id": plan.id, **_document(audit)})
    else:
        if not program.policy.trust_peer:
            # Any store may have what the peer names.
            write([(exposure_note(program, sending=True) + "\n", "dim")], sys.stderr)
        write(_text(plan.id, audit))


def _document(audit: Audit) -> dict[str, Any]:
    program, totals = audit.program, audit.totals
    return {
        "side": program.side,
        "viewer": program.viewer,
        "trusted": program.policy.trust_peer,
        "exposures": [module.id for module in program.policy.exposures],
        "narrow": [module.id for module in program.policy.narrow],
        "records": totals and totals.records,
        "can_query": totals and totals.can_query,
        "selected": totals and totals.selected,
        "selected_not_exposed": totals and totals.unexposed,
        "observes": [
            {**_read(each.read), "used": each.used, "visible": _count(each.visible)}
            for each in audit.observations
        ],
        "public": [str(predicate) for predicate in audit.public],
        "declassifies": [
            {
                **_read(each.read),
                "about": each.about,
                "path": [str(predicate) for predicate in each.path],
                "private": _count(each.private),
            }
            for each in audit.declassifications
        ],
        "always": list(ALWAYS),
    }


def _read(read: Read) -> dict[str, Any]:
    original = read.rule.original
    return {
        "rule": original.id if original else read.rule.id,
        "text": original.text if original else read.rule.text,
        "file": original.file if original else None,
        "line": original.line if original else None,
        "predicate": str(read.atom.predicate),
        "atom": show_atom(read.atom),
        "how": read.how,
        "field": read.field,
        "constants": list(read.constants),
    }


def _count(count: Count | None) -> dict[str, int] | None:
    return None if count is None else {"facts": count.facts, "records": count.records}


def _text(id: str, audit: Audit) -> Iterator[Segment]:
    yield f"{id}\n", "bold"
    totals, policy = audit.totals, audit.program.policy
    if policy.trust_peer:
        yield exposure_note(audit.program, sending=True) + "\n", ""
    if totals is not None:
        yield f"the peer may query {totals.can_query} of {counted(totals.records, 'record')}\n", ""
        if totals.unexposed:
            some = counted(totals.unexposed, "record")
            yield f"this side selects {some} that the peer may not query, but can name\n", ""
    if policy.narrow:
        yield "this side's own operand is narrowed\n", ""
    yield "\nThe peer's operand observes\n", "bold"
    yield from _observations(audit.observations)
    if audit.public:
        names = ", ".join(str(predicate) for predicate in audit.public)
        yield f"  and of the exchange: {names}\n", ""
    yield "\nLocal rules declassify\n", "bold"
    yield from _declassifications(audit.declassifications)
    yield "\nDisclosed whatever the policy\n", "bold"
    yield "".join(f"  {what}\n" for what in ALWAYS), ""


def _observations(found: tuple[Observation, ...]) -> Iterator[Segment]:
    if not found:
        yield "  no record facts\n", ""
    said = ""
    for each in found:
        if each.read.rule.text != said:
            said = each.read.rule.text
            yield f"  {visible(_source(each.read))}\n", ""
            if not each.used:
                yield "    (nothing that is exchanged needs this rule)\n", "dim"
        count = f"  {counted(each.visible.records, 'record')}" if each.visible else ""
        yield f"    {each.read.how} {visible(show_atom(each.read.atom))}{count}\n", "dim"


def _declassifications(found: tuple[Declassification, ...]) -> Iterator[Segment]:
    if not found:
        yield "  nothing\n", ""
    for each in found:
        yield f"  {visible(_source(each.read))}\n", ""
        yield f"    {each.read.how} {visible(show_atom(each.read.atom))} of {each.about}", ""
        if each.private is not None:
            yield f"  {counted(each.private.records, 'record')} the peer may not query", ""
        yield "\n    " + " -> ".join(str(predicate) for predicate in each.path) + "\n", "dim"


def _source(read: Read) -> str:
    """A rule as its author knows it, and where it stands."""
    original = read.rule.original
    return f"{original.file}:{original.line}  {original.text}" if original else read.rule.text
