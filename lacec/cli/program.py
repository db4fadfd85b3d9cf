"""How a program or a side of a plan is evaluated, as `lacec explain` prints it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lacec.canonical.module import Module
from lacec.cli.facts import read_all_facts
from lacec.cli.modules import read_linked
from lacec.cli.plan import Policy, Setup, read_side, read_side_facts
from lacec.cli.render.output import Segment, write, write_json
from lacec.cli.render.report import refuse
from lacec.core.diagnostics import visible
from lacec.core.limits import Limits
from lacec.explain.query_plan import (
    Explanation,
    Plan,
    SideExplanation,
    explain_program,
    explain_side,
)
from lacec.pipeline import compile_sources
from lacec.vm.database import Database


@contextmanager
def read_program(
    name: str,
    linked: list[str] | None,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> Iterator[tuple[Module, Database]]:
    """A module and its facts; what is wrong with either ends the command."""
    inputs = read_linked(name, linked, limits)
    outcome = compile_sources(inputs, limits=limits)
    if outcome.module is None:
        refuse(outcome.diagnostics, dict(inputs), json)
    derived = {predicate for group in outcome.module.groups for predicate in group}
    with read_all_facts(facts, store, derived, limits, json) as (database, wrong, files):
        if wrong:
            refuse(wrong, dict(inputs) | files, json)
        yield outcome.module, database


def print_program(
    name: str,
    linked: list[str] | None,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    with read_program(name, linked, facts, store, limits, json) as (module, database):
        explanation = explain_program(module, database if facts or store else None, limits)
    if json:
        write_json(_document(explanation))
    else:
        write(_text(explanation))


def print_side(
    files: list[str],
    side: int | None,
    setup: Setup,
    policy: Policy,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    plan, program, reader = read_side(files, side, setup, policy, limits, json)
    with read_side_facts(facts, store, plan, program, reader) as database:
        explanation = explain_side(program, database if facts or store else None, limits)
    if json:
        write_json({"id": plan.id, **_side_document(explanation)})
    else:
        write(_side_text(plan.id, explanation))


def _side_document(explanation: SideExplanation) -> dict[str, Any]:
    program = explanation.program
    return {
        "side": program.side,
        "viewer": program.viewer,
        "rules": [
            {
                "id": each.rule.id,
                "text": each.rule.text,
                "from": each.whose,
                "sees": each.sees,
                "origin": each.rule.origin,
                "step": each.rule.step,
                "what": each.rule.what,
                "file": each.rule.original.file if each.rule.original else None,
                "line": each.rule.original.line if each.rule.original else None,
            }
            for each in explanation.rules
        ],
        "gates": [_plan_document(plan) for plan in explanation.gates],
        "main": [_plan_document(plan) for plan in explanation.main],
    }


def _side_text(id: str, explanation: SideExplanation) -> Iterator[Segment]:
    yield f"{id}\n", "bold"
    said = ""
    for each in explanation.rules:
        origin = f" {each.rule.origin}" if each.rule.origin else ""
        heading = f"{each.whose}, {each.rule.what}{origin}" if each.rule.module else each.whose
        if heading != said:
            yield f"\n{visible(heading)}\n", "bold"
            said = heading
        yield f"  {visible(each.rule.text)}\n", ""
        if each.sees != "no record facts":
            yield f"    sees {visible(each.sees)}\n", "dim"
    for plan in (*explanation.gates, *explanation.main):
        yield from _plan_text(plan)


def _document(explanation: Explanation) -> dict[str, Any]:
    return {
        "id": explanation.id,
        "strata": [[str(predicate) for predicate in stratum] for stratum in explanation.strata],
        "dependencies": [
            {"head": str(edge.head), "needs": str(edge.needs), "kind": edge.kind}
            for edge in explanation.edges
        ],
        "rules": [_plan_document(plan) for plan in explanation.plans],
    }


def _plan_document(plan: Plan) -> dict[str, Any]:
    return {
        "id": plan.id,
        "text": plan.text,
        "kind": plan.kind,
        "order": [{"how": s.how, "what": s.what, "size": s.size} for s in plan.steps],
        "bytecode": plan.bytecode,
    }


def _text(explanation: Explanation) -> Iterator[Segment]:
    yield f"{explanation.id}\n", "bold"
    for number, stratum in enumerate(explanation.strata):
        yield f"\nstratum {number}\n", "bold"
        for predicate in stratum:
            yield f"  {predicate}", ""
            edges = [edge for edge in explanation.edges if edge.head == predicate]
            said = [f"{edge.kind} {edge.needs}" for edge in edges]
            yield (f"  {', '.join(dict.fromkeys(said))}\n" if said else "\n"), "dim"
    for plan in explanation.plans:
        yield from _plan_text(plan)


def _plan_text(plan: Plan) -> Iterator[Segment]:
    yield f"\n{plan.text}\n", "bold"
    if plan.kind != "full":
        yield f"  {plan.kind}\n", "dim"
    for step in plan.steps:
        size = "" if step.size is None else f"{step.size:,}"
        yield f"  {step.how:<7}{step.what:<50} {size:>12}".rstrip() + "\n", ""
    yield plan.bytecode, "dim"
