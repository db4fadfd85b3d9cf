"""lacec explain: the page of a diagnostic, or how a program is evaluated."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lacec.check.spelling import nearest
from lacec.cli.files import read_inputs
from lacec.cli.options import (
    FactsOption,
    JsonOption,
    LimitOption,
    StoreOption,
    WithOption,
    read_limits,
)
from lacec.cli.output import Segment, write, write_json
from lacec.diagnostics import CATALOGUE
from lacec.resources import rule_page_path

if TYPE_CHECKING:
    from lacec.explain import Explanation


def explain_command(
    subject: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A diagnostic's name, or a source file.")
    ],
    facts: FactsOption = None,
    store: StoreOption = None,
    linked: WithOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Print the page of a diagnostic; or, of a program, its strata, dependencies and bytecode.

    With --facts or --store, joins are ordered by the sizes of the facts, and the sizes are shown.

    Example: lacec explain unbound-variable
    """
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
        explanation = explain_program(outcome.module, database if facts or store else None)
    if json:
        write_json(_document(explanation))
    else:
        write(_text(explanation))


def _document(explanation: "Explanation") -> dict[str, Any]:
    return {
        "id": explanation.id,
        "strata": [[str(predicate) for predicate in stratum] for stratum in explanation.strata],
        "dependencies": [
            {"head": str(edge.head), "needs": str(edge.needs), "kind": edge.kind}
            for edge in explanation.edges
        ],
        "rules": [
            {
                "id": plan.id,
                "text": plan.text,
                "kind": plan.kind,
                "order": [{"how": s.how, "what": s.what, "size": s.size} for s in plan.steps],
                "bytecode": plan.bytecode,
            }
            for plan in explanation.plans
        ],
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
        yield f"\n{plan.text}\n", "bold"
        if plan.kind != "full":
            yield f"  {plan.kind}\n", "dim"
        for step in plan.steps:
            size = "" if step.size is None else f"{step.size:,}"
            yield f"  {step.how:<7}{step.what:<50} {size:>12}".rstrip() + "\n", ""
        yield plan.bytecode, "dim"
