"""lacec spark evaluate: the facts that a module derives, over tables."""

from typing import Annotated

import typer

from lacec.cli.commands.eval import QueryOption, read_outputs
from lacec.cli.commands.spark.evaluation import (
    CorpusOption,
    OutOption,
    SparkOptions,
    check_new,
    evaluating,
    evaluator,
    folders_and_files,
    stages,
    write_results,
)
from lacec.cli.facts import read_fact_files
from lacec.cli.groups import grouped
from lacec.cli.modules import facet_of, read_linked
from lacec.cli.options import FacetOption, JsonOption, LimitOption, WithOption, read_limits
from lacec.cli.render.output import write_json
from lacec.cli.render.report import refuse
from lacec.pipeline import compile_sources


@grouped
def evaluate_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A source file, or - for standard input.")
    ],
    spark: SparkOptions,
    facts: CorpusOption = None,
    query: QueryOption = None,
    facet: FacetOption = None,
    linked: WithOption = None,
    limit: LimitOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Evaluate a module on Spark over ingested records, and say how many facts it derives.

    The answers are those of `lacec eval`. With --out, write a table NAME.parquet for each
    output; with --json and no --out, print all facts.

    Example: lacec spark evaluate links.lace --facts tables --query Selected/1
    """
    limits = read_limits(limit)
    check_new(out)
    inputs = read_linked(file, linked, limits)
    outcome = compile_sources(inputs, facet_of(file, facet), limits)
    if outcome.module is None:
        refuse(outcome.diagnostics, dict(inputs), json)
    module = outcome.module
    outputs = read_outputs(query, module)
    folders, files = folders_and_files(facts)
    derived = {predicate for group in module.groups for predicate in group}
    plain, wrong, read = read_fact_files(files, derived, limits)
    if wrong:
        refuse((*outcome.diagnostics, *wrong), dict(inputs) | read, json)
    with evaluating(spark, json) as (session, folder), stages() as tell:
        from lacec.spark.evaluate import collect

        found = evaluator(session, folder, folders, plain, limits, tell).evaluate(module, outputs)
        if json and out is None:
            rows = collect(found)
            write_json({"facts": {str(p): [list(row) for row in rows[p]] for p in outputs}})
        else:
            counts = write_results({p: found[p] for p in outputs}, out, folder, tell, json)
            if json:
                write_json({"counts": counts})
