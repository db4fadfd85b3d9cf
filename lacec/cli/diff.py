"""lacec diff: what a change of policy does to the records of a store."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from lacec.canonical.module import Module
from lacec.cli.facts import read_all_facts
from lacec.cli.groups import grouped
from lacec.cli.modules import facet_of, read_linked
from lacec.cli.options import (
    ExposeOption,
    FacetOption,
    FactsOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    OneSide,
    OriginsOption,
    StoreOption,
    WithOption,
    needs_peer,
    not_with_peer,
    read_limits,
    read_queries,
)
from lacec.cli.output import Segment, write, write_json
from lacec.cli.plan import Policy, Reader, Setup, derived_names, read_setup, read_side
from lacec.cli.render import counted
from lacec.cli.report import refuse
from lacec.cli.why import explanation_text, rule_text
from lacec.diagnostics import visible
from lacec.difference import MOST_EXPLAINED, Change, Difference, difference
from lacec.explainer import explain_module, explain_plan
from lacec.facets import Facet
from lacec.limits import Limits
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, scope_of
from lacec.predicates import SELECTOR_EXPORTS, Predicate
from lacec.sides import PROFILE_FACTS
from lacec.views import OriginMode

SELECTED = Predicate("Selected", 1)
# What lowering generates, and the exports of both operands that decide it.
_GENERATED = {
    generated: tuple(Predicate(scope_of(index) + export.name, export.arity) for index in (0, 1))
    for generated, export in zip((MAY_SEND, MAY_REQUEST), SELECTOR_EXPORTS, strict=True)
}
# Of many changes so many are shown to people; --json has them all.
MOST_SHOWN = 20


@grouped
def diff_command(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The policy as it was.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The policy as it is to be.")],
    store: StoreOption = None,
    facts: FactsOption = None,
    query: Annotated[
        list[str] | None,
        typer.Option(
            "--query",
            metavar="NAME/ARITY",
            help="A predicate to compare; what the policies select if none. Repeatable.",
        ),
    ] = None,
    facet: FacetOption = None,
    linked: WithOption = None,
    peer: Annotated[
        str | None,
        typer.Option(
            "--peer", metavar="FILE", help="Compare what is sent to and requested of this selector."
        ),
    ] = None,
    of_plan: OneSide,
    expose: ExposeOption = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Say which records a change of policy selects or drops, and which rule decides each.

    A record that comes is shown with the rules of the new policy that select it, and why the
    old one did not; one that goes with the rules of the old policy that did, and why the new
    one does not. With --peer, the records that are sent and requested, by side 0 unless
    --side says otherwise.

    Example: lacec diff old.lace new.lace --store mine
    """
    limits = read_limits(limit)
    if [old, new, peer].count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once")
    most = MOST_EXPLAINED if json else MOST_SHOWN
    if peer is None:
        needs_peer(**vars(of_plan), expose=expose, lowering=lowering)
        needs_peer(origins=origins is not OriginMode.OPAQUE)
        found = _modules((old, new), query, facet, linked, facts, store, limits, json, most)
    else:
        not_with_peer(**{"query": query, "facet": facet, "with": linked})
        setup, policy = read_setup(of_plan, expose, origins, lowering)
        side = of_plan.side or 0
        found = _plans((old, new), peer, side, setup, policy, facts, store, limits, json, most)
    if json:
        write_json(found.json())
    else:
        write(_text(found))


def _modules(
    names: tuple[str, str],
    query: list[str] | None,
    facet: Facet | None,
    linked: list[str] | None,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
    most: int,
) -> Difference:
    reader = Reader(limits, json)
    modules = []
    for name in names:
        source, *further = read_linked(name, linked, limits)
        modules.append(reader.module(source, facet_of(name, facet), limits, further))
    reader.finish()
    old, new = (module for module in modules if module is not None)
    asked = _asked(query, old, new)
    derived = _derived(old) | _derived(new)
    with read_all_facts(facts, store, derived, limits, json) as (database, wrong, files):
        if wrong:
            refuse((*reader.diagnostics, *wrong), reader.sources | files, json)
        whys = [explain_module(module, database, limits) for module in (old, new)]
        return difference(whys[0], whys[1], {each: (each,) for each in asked}, most)


def _plans(
    names: tuple[str, str],
    peer: str,
    side: int,
    setup: Setup,
    policy: Policy,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
    most: int,
) -> Difference:
    sides = []
    for name in names:
        files = (peer, name) if side else (name, peer)
        sides.append(read_side(files, side, setup, policy, limits, json))
    derived = {each for plan, program, _ in sides for each in derived_names(plan, program)}
    with read_all_facts(facts, store, derived, limits, json, PROFILE_FACTS) as found:
        database, wrong, read = found
        if wrong:
            sources = {**sides[0][2].sources, **sides[1][2].sources}
            refuse(wrong, sources | read, json)
        old, new = (explain_plan(program, database, limits) for _, program, _ in sides)
        return difference(old, new, _GENERATED, most)


def _derived(module: Module) -> set[Predicate]:
    return {predicate for group in module.groups for predicate in group}


def _asked(query: list[str] | None, old: Module, new: Module) -> list[Predicate]:
    """What is compared: what is asked for, or what the policies select."""
    derived = _derived(old) | _derived(new)
    if not query:
        outputs: Iterable[Predicate] = new.facet.exports or (SELECTED, *SELECTOR_EXPORTS)
        # What one policy does not derive it has none of.
        found = [predicate for predicate in outputs if predicate in derived]
        if not found:
            listed = ", ".join(map(str, sorted(derived))) or "nothing"
            said = f"neither has Selected/1 or SelectHave/1; say --query; they derive {listed}"
            raise typer.BadParameter(said, param_hint="--query")
        return found
    asked = read_queries(query)
    for predicate in asked:
        if predicate not in derived:
            said = f"no rule of either policy derives {predicate}"
            raise typer.BadParameter(said, param_hint="--query")
    return asked


def _text(found: Difference) -> Iterator[Segment]:
    yield f"{found.count('came')} came, {found.count('went')} went\n", "bold"
    for each in found.rules:
        if each.count:
            sign = "+" if each.policy == "new" else "-"
            whose = f"{each.rule.whose}  " if each.rule.whose else ""
            place = f"{visible(each.rule.file)}:{each.rule.line}"
            yield f"{sign}{each.count}  {whose}{place}  {visible(each.rule.text)}\n", ""
    for change in found.changes[:MOST_SHOWN]:
        yield from _change_text(change)
    left = len(found.changes) - MOST_SHOWN
    if left > 0:
        yield f"\nand {counted(left, 'more change')}; --json has all\n", "dim"


def _change_text(change: Change) -> Iterator[Segment]:
    came = change.change == "came"
    yield f"\n{'+' if came else '-'} {visible(str(change.fact))}\n", "green" if came else "red"
    yield f"  {'now' if came else 'before'}\n", "dim"
    for rule in change.rules:
        yield from rule_text(rule, "    ")
    if change.why_not is not None:
        yield f"  {'before' if came else 'now'}\n", "dim"
        yield from explanation_text(change.why_not, "    ")
