"""lacec eval: evaluate a module, or one side of a plan, over facts."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lacec.canonical.module import Module
from lacec.cli.facts import read_all_facts
from lacec.cli.modules import facet_of, read_linked
from lacec.cli.options import (
    ExposeOption,
    FacetOption,
    FactsOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    NarrowOption,
    Nonce0Option,
    Nonce1Option,
    OriginsOption,
    OutputOption,
    PlanFilesArgument,
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
    read_queries,
)
from lacec.cli.render.output import Segment, write, write_json, write_lines
from lacec.cli.render.report import refuse, warn
from lacec.core.errors import FactError
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.origins import OriginMode
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import Evaluation, check_outputs, evaluate
from lacec.facts.bulk_reader import write_facts
from lacec.facts.tables import write_csv, write_parquet
from lacec.pipeline import compile_sources


class FileFormat(StrEnum):
    FACTS = "facts"
    CSV = "csv"
    PARQUET = "parquet"


QueryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--query",
        metavar="NAME/ARITY",
        help="An output; every derived predicate if none. Repeatable.",
    ),
]


def eval_command(
    files: PlanFilesArgument,
    facts: FactsOption = None,
    store: StoreOption = None,
    query: QueryOption = None,
    facet: FacetOption = None,
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
    output: OutputOption = None,
    file_format: Annotated[
        FileFormat, typer.Option("--as", help="The form of the files that -o writes.")
    ] = FileFormat.FACTS,
    profile: Annotated[
        bool, typer.Option("--profile", help="Print the time and rows of each rule to stderr.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Evaluate a module over facts, and print the facts it derives.

    With -o, write one file NAME.facts, NAME.csv or NAME.parquet for each output. With
    --plan, print what one side of an exchange plan may send and request, and what the
    peer may query there.

    Example: lacec eval links.lace --facts links.facts --query Selected/1
    """
    limits = read_limits(limit)
    if plan:
        from lacec.cli import plan as plans

        not_with_plan(query=query, facet=facet, output=output, profile=profile)
        not_with_plan(**{"with": linked, "as": file_format is not FileFormat.FACTS})
        setup = plans.Setup((verifier0, verifier1), (nonce0, nonce1), origins, lowering)
        policy = plans.Policy(expose or (), narrow or (), trust_peer)
        plans.evaluate_plan(files, side, setup, policy, facts, store, limits, json)
        return
    file = one_argument(files, "a file")
    needs_plan(side=side, expose=expose, narrow=narrow, trust_peer=trust_peer)
    needs_plan(verifier0=verifier0, verifier1=verifier1, nonce0=nonce0, nonce1=nonce1)
    needs_plan(origins=origins is not OriginMode.OPAQUE, lowering=lowering)
    _evaluate(file, facts, store, query, facet, linked, limits, output, file_format, profile, json)


def _evaluate(
    file: str,
    facts: list[str] | None,
    store: Path | None,
    query: list[str] | None,
    facet: Facet | None,
    linked: list[str] | None,
    limits: Limits,
    output: Path | None,
    file_format: FileFormat,
    profile: bool,
    json: bool,
) -> None:
    """One module."""
    inputs = read_linked(file, linked, limits)
    outcome = compile_sources(inputs, facet_of(file, facet), limits)
    if outcome.module is None:
        refuse(outcome.diagnostics, dict(inputs), json)
    module = outcome.module
    derived = {predicate for group in module.groups for predicate in group}
    outputs = read_outputs(query, module)
    with read_all_facts(facts, store, derived, limits, json) as (database, wrong, files):
        if wrong:
            refuse((*outcome.diagnostics, *wrong), dict(inputs) | files, json)
        given = database.predicates()
        result = evaluate(module, database, outputs, limits)
        lacking = not facts and store is None and not any(map(result.facts, outputs))
        warn(outcome.diagnostics, dict(inputs), None if lacking else given, json)
        if profile:
            write(_profile(module, result), sys.stderr)
        _write_result(result, outputs, output, file_format, json)


def _write_result(
    result: Evaluation,
    outputs: list[Predicate],
    output: Path | None,
    file_format: FileFormat,
    json: bool,
) -> None:
    try:
        if output is not None:
            _write_files(result, outputs, output, file_format)
        elif json:
            write_json({"facts": {str(p): [list(row) for row in result.facts(p)] for p in outputs}})
        else:
            for predicate in outputs:
                write_lines(write_facts(predicate, result.facts(predicate)))
    except FactError as error:
        raise typer.BadParameter(f"{error}; --json can hold every value") from None


def read_outputs(query: list[str] | None, module: Module) -> list[Predicate]:
    """The predicates that are asked for; every derived one if none is."""
    if not query:
        return sorted(predicate for group in module.groups for predicate in group)
    outputs = read_queries(query)
    try:
        check_outputs(module, outputs)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--query") from None
    return outputs


def _profile(module: Module, result: Evaluation) -> Iterator[Segment]:
    """Rules by the time they took, the most first."""
    yield "    time ms     rows  runs  rule\n", "bold"
    ordered = sorted(result.profile.items(), key=lambda item: -item[1].seconds)
    for number, cost in ordered:
        text = module.rules[number].text if number >= 0 else "(a sub-join that rules share)"
        yield f"{cost.seconds * 1000:11.3f} {cost.rows:8} {cost.runs:5}  {text}\n", ""


def _write_files(
    result: Evaluation, outputs: list[Predicate], folder: Path, form: FileFormat
) -> None:
    names = [predicate.name for predicate in outputs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise typer.BadParameter(f"two outputs are called {twice}: choose one with --query")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for predicate in outputs:
            path = folder / f"{predicate.name}.{form.value}"
            if form is FileFormat.PARQUET:
                relation = result.relations[predicate]
                write_parquet(path, relation, result.database.symbols)
            elif form is FileFormat.CSV:
                path.write_bytes(write_csv(result.facts(predicate)))
            else:
                path.write_bytes(write_facts(predicate, result.facts(predicate)))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot write to {folder}: {reason}") from None
