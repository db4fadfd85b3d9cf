"""lacec explain: the page of a diagnostic, or how a program or a side of a plan is evaluated."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lacec.check.spelling import nearest
from lacec.cli.files import read_inputs
from lacec.cli.options import (
    ExposeOption,
    FactsOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    NarrowOption,
    Nonce0Option,
    Nonce1Option,
    OriginsOption,
    PlanOption,
    SideOption,
    StoreOption,
    TrustOption,
    Verifier0Option,
    Verifier1Option,
    WithOption,
    needs_plan,
    not_with_plan,
    one_argument,
    read_limits,
)
from lacec.cli.output import Segment, write, write_json
from lacec.diagnostics import CATALOGUE, visible
from lacec.limits import Limits
from lacec.resources import rule_page_path
from lacec.views import OriginMode

if TYPE_CHECKING:
    from lacec.cli.plan import Policy, Setup
    from lacec.explain import Explanation, Plan, SideExplanation


def explain_command(
    subjects: Annotated[
        list[str],
        typer.Argument(metavar="NAME|FILE", help="A diagnostic's name, or a source file."),
    ],
    facts: FactsOption = None,
    store: StoreOption = None,
    linked: WithOption = None,
    plan: PlanOption = False,
    side: SideOption = None,
    expose: ExposeOption = None,
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
    """Print the page of a diagnostic; or, of a program, its strata, dependencies and bytecode.

    With --facts or --store, joins are ordered by the sizes of the facts, and the sizes are shown.
    With --plan, print the lowered rules of one side: whose each is, and what it can see.

    Example: lacec explain unbound-variable
    """
    if plan:
        from lacec.cli import plan as plans

        not_with_plan(**{"with": linked})
        setup = plans.Setup((verifier0, verifier1), (nonce0, nonce1), origins, lowering)
        policy = plans.Policy(expose or (), narrow or (), trust_peer)
        _print_side(subjects, side, setup, policy, facts, store, read_limits(limit), json)
        return
    subject = one_argument(subjects, "the name of a diagnostic or a file")
    needs_plan(side=side, expose=expose, narrow=narrow, trust_peer=trust_peer)
    needs_plan(verifier0=verifier0, verifier1=verifier1, nonce0=nonce0, nonce1=nonce1)
    needs_plan(origins=origins is not OriginMode.OPAQUE, lowering=lowering)
    if subject in CATALOGUE:
        _print_page(subject, json)
    elif subject == "-" or os.path.exists(subject):
        _print_program([subject, *(linked or ())], facts, store, limit, json)
    else:
        close = nearest(subject, CATALOGUE)
        hint = f"did you mean {close}?" if close else f"the names are {', '.join(CATALOGUE)}"
        raise typer.BadParameter(f"there is no diagnostic {subject!r}; {hint}")


def _print_page(name: str, json: bool) -> None:
    page = rule_page_path(name).read_text(encoding="utf-8")
    if json:
        write_json({"name": name, "severity": CATALOGUE[name], "page": page})
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        sys.stdout.buffer.write(page.encode("utf-8"))


def _print_program(
    names: list[str],
    facts: list[str] | None,
    store: Path | None,
    limit: list[str] | None,
    json: bool,
) -> None:
    from lacec.cli.facts import read_all_facts
    from lacec.cli.report import refuse
    from lacec.explain import explain_program
    from lacec.pipeline import compile_sources

    limits = read_limits(limit)
    inputs = read_inputs(names, limits)
    outcome = compile_sources(inputs, limits=limits)
    if outcome.module is None:
        refuse(outcome.diagnostics, dict(inputs), json)
    derived = {predicate for group in outcome.module.groups for predicate in group}
    with read_all_facts(facts, store, derived, limits, json) as (database, wrong, files):
        if wrong:
            refuse(wrong, dict(inputs) | files, json)
        explanation = explain_program(outcome.module, database if facts or store else None, limits)
    if json:
        write_json(_document(explanation))
    else:
        write(_text(explanation))


def _print_side(
    files: list[str],
    side: int | None,
    setup: "Setup",
    policy: "Policy",
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    from lacec.cli.plan import read_side, read_side_facts
    from lacec.explain import explain_side

    plan, program, reader = read_side(files, side, setup, policy, limits, json)
    with read_side_facts(facts, store, plan, program, reader) as database:
        explanation = explain_side(program, database if facts or store else None, limits)
    if json:
        write_json({"id": plan.id, **_side_document(explanation)})
    else:
        write(_side_text(plan.id, explanation))


def _side_document(explanation: "SideExplanation") -> dict[str, Any]:
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


def _side_text(id: str, explanation: "SideExplanation") -> Iterator[Segment]:
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


def _document(explanation: "Explanation") -> dict[str, Any]:
    return {
        "id": explanation.id,
        "strata": [[str(predicate) for predicate in stratum] for stratum in explanation.strata],
        "dependencies": [
            {"head": str(edge.head), "needs": str(edge.needs), "kind": edge.kind}
            for edge in explanation.edges
        ],
        "rules": [_plan_document(plan) for plan in explanation.plans],
    }


def _plan_document(plan: "Plan") -> dict[str, Any]:
    return {
        "id": plan.id,
        "text": plan.text,
        "kind": plan.kind,
        "order": [{"how": s.how, "what": s.what, "size": s.size} for s in plan.steps],
        "bytecode": plan.bytecode,
    }


def _text(explanation: "Explanation") -> Iterator[Segment]:
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


def _plan_text(plan: "Plan") -> Iterator[Segment]:
    yield f"\n{plan.text}\n", "bold"
    if plan.kind != "full":
        yield f"  {plan.kind}\n", "dim"
    for step in plan.steps:
        size = "" if step.size is None else f"{step.size:,}"
        yield f"  {step.how:<7}{step.what:<50} {size:>12}".rstrip() + "\n", ""
    yield plan.bytecode, "dim"
