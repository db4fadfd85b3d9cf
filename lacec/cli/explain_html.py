"""lacec explain --html: pages to look at, written to a file."""

from pathlib import Path

import typer

from lacec.cli.exchange import ending, finish, results_of
from lacec.cli.explain_exchange import ExchangeAsked
from lacec.cli.files import replace_file
from lacec.cli.plan import Policy, Setup, exposure_note, read_side, read_side_facts
from lacec.cli.program import read_program
from lacec.cli.render.output import write
from lacec.core.limits import Limits
from lacec.explain.html_report.exchange import exchange_page
from lacec.explain.html_report.pages import plan_page, policy_page
from lacec.explain.provenance import explain_module, explain_plan
from lacec.explain.query_plan import explain_program, explain_side
from lacec.plan.lower import MAY_SEND
from lacec.runtime.exchange.explaining import explain_all
from lacec.runtime.exchange.in_process import limit_exceeded, system_clock
from lacec.runtime.exchange.recording.recorder import NAMES


def write_policy_page(
    target: Path,
    name: str,
    linked: list[str] | None,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
) -> None:
    with read_program(name, linked, facts, store, limits, False) as (module, database):
        given = bool(facts or store)
        explanation = explain_program(module, database if given else None, limits)
        why = explain_module(module, database, limits) if given else None
        write_page(
            target, policy_page(" + ".join([name, *(linked or ())]), module, explanation, why)
        )


def write_plan_page(
    target: Path,
    files: list[str],
    side: int | None,
    setup: Setup,
    policy: Policy,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
) -> None:
    plan, program, reader = read_side(files, side, setup, policy, limits, False)
    with read_side_facts(facts, store, plan, program, reader) as database:
        given = bool(facts or store)
        explanation = explain_side(program, database if given else None, limits)
        why = explain_plan(program, database, limits) if given else None
        sending = why is not None and why.count(MAY_SEND) > 0
        name = f"{' and '.join(files)}, side {program.side}"
        note = exposure_note(program, sending)
        write_page(target, plan_page(name, plan, explanation, why, note))


def write_exchange_page(target: Path, asked: ExchangeAsked) -> None:
    with asked.participants() as both:
        overview = explain_all(*both, system_clock, asked.limits)
        name = f"{asked.sides[0].store.name} and {asked.sides[1].store.name}"
        explained = [
            None if each is None else explain_side(*each, asked.limits)
            for each in overview.evaluated
        ]
        text = exchange_page(name, overview, explained)
    results = results_of(overview.pair)
    write_page(target, text)
    if not all(result.converged for result in results):
        write(ending(NAMES, results))
    finish(limit_exceeded(overview.pair), results, False, False)


def write_page(target: Path, text: str) -> None:
    """The page, whole or not at all."""
    replace_file(target, text.encode("utf-8", "replace"), "--html")
    typer.echo(f"wrote {target}", err=True)
