"""lacec query: an ad-hoc conjunction over facts."""

from dataclasses import replace
from typing import Annotated

import typer

from lacec.cli.facts import read_all_facts
from lacec.cli.modules import read_all_linked
from lacec.cli.options import (
    FactsOption,
    JsonOption,
    LimitOption,
    StoreOption,
    WithOption,
    read_limits,
)
from lacec.cli.render.output import write, write_json
from lacec.cli.render.report import refuse, warn
from lacec.core.diagnostics import Diagnostic, visible
from lacec.core.predicates import BUILTIN_ARITY, Predicate
from lacec.engine.evaluation import evaluate
from lacec.pipeline import compile_sources
from lacec.syntax.ast import Atom, Rule, variables_of
from lacec.syntax.parse import parse_line

NAME = "<query>"
HEAD = "_Query"


def query_command(
    body: Annotated[str, typer.Argument(metavar="BODY", help="Body atoms, joined by commas.")],
    facts: FactsOption = None,
    store: StoreOption = None,
    linked: WithOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Answer a conjunction of atoms over facts; its named variables are the columns.

    With --with, the atoms may use what the rules of a file derive, and of those that its
    lace.toml links to it.

    Example: lacec query "Have(P), Field(P,'Group',_,G)" --facts links.facts
    """
    limits = read_limits(limit)
    text = body.strip().removesuffix(".")
    columns = _columns(text)
    head = f"{HEAD}({','.join(columns)}) :- "
    further = read_all_linked(linked or (), limits)
    outcome = compile_sources([(NAME, f"{head}{text}."), *further], limits=limits)
    sources = {NAME: text, **dict(further)}
    diagnostics = [_shift(each, len(head)) for each in outcome.diagnostics]
    if outcome.module is None:
        refuse(diagnostics, sources, json)
    derived = {predicate for group in outcome.module.groups for predicate in group}
    answer = Predicate(HEAD, len(columns))
    with read_all_facts(facts, store, derived, limits, json) as (database, wrong, files):
        if wrong:
            refuse(wrong, sources | files, json)
        given = database.predicates()
        rows = evaluate(outcome.module, database, [answer], limits).facts(answer)
    lacking = not facts and store is None and not rows
    warn(diagnostics, sources, None if lacking else given, json)
    if json:
        write_json({"columns": columns, "rows": [list(row) for row in rows]})
    else:
        write([("\t".join(columns) + "\n", "bold"), *_lines(columns, rows)])


def _columns(body: str) -> list[str]:
    """The variables that positive atoms bind, in the order they appear."""
    node = parse_line(f"{HEAD}() :- {body}.").node
    if not isinstance(node, Rule):
        return []
    names = [
        name
        for literal in node.body
        if isinstance(literal, Atom) and literal.name not in BUILTIN_ARITY
        for name in variables_of(literal)
    ]
    return list(dict.fromkeys(names))


def _shift(diagnostic: Diagnostic, by: int) -> Diagnostic:
    """A diagnostic of the rule made from the body, as one of the body."""
    place = diagnostic.place
    if place.file != NAME:
        return diagnostic
    column = max(place.column - by, 1)
    end = max(place.end_column - by, column + 1)
    return replace(diagnostic, place=replace(place, column=column, end_column=end))


def _lines(columns: list[str], rows: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    if not columns:
        return [("yes\n" if rows else "no\n", "")]
    return [("\t".join(visible(value) for value in row) + "\n", "") for row in rows]
