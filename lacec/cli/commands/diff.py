"""lacec diff: what a change of policy does to the records of a store."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
from lacec.cli.plan import Reader, derived_names, read_setup, read_side
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import Segment, write, write_json
from lacec.cli.render.report import refuse
from lacec.cli.why import explanation_text, rule_text
from lacec.core.diagnostics import visible
from lacec.core.limits import Limits
from lacec.core.origins import OriginMode
from lacec.core.predicates import SELECTOR_EXPORTS, Predicate
from lacec.engine.side import PROFILE_FACTS
from lacec.explain.policy_diff import MOST_EXPLAINED, Change, Difference, difference
from lacec.explain.provenance import explain_module, explain_plan
from lacec.plan.exchange import ExchangePlan
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, SideProgram, scope_of

SELECTED = Predicate("Selected", 1)
# What lowering generates, and the exports of both operands that decide it.
GENERATED = {
    generated: tuple(Predicate(scope_of(index) + export.name, export.arity) for index in (0, 1))
    for generated, export in zip((MAY_SEND, MAY_REQUEST), SELECTOR_EXPORTS, strict=True)
}
# Of many changes so many are shown to people; --json has them all.
MOST_SHOWN = 20


OldArgument = Annotated[str, typer.Argument(metavar="OLD", help="The policy as it was.")]
NewArgument = Annotated[str, typer.Argument(metavar="NEW", help="The policy as it is to be.")]


@dataclass(frozen=True)
class Compared:
    """What is compared of two policies, as options say: of modules, or of one side of plans."""

    query: Annotated[
        list[str] | None,
        typer.Option(
            "--query",
            metavar="NAME/ARITY",
            help="A predicate to compare; what the policies select if none. Repeatable.",
        ),
    ] = None
    facet: FacetOption = None
    linked: WithOption = None
    peer: Annotated[
        str | None,
        typer.Option(
            "--peer", metavar="FILE", help="Compare what is sent to and requested of this selector."
        ),
    ] = None
    expose: ExposeOption = None
    origins: OriginsOption = OriginMode.OPAQUE
    lowering: LoweringOption = None

    def check(self, old: str, new: str, of_plan: OneSide) -> None:
        """Refuse options that cannot stand together."""
        if [old, new, self.peer].count("-") > 1:
            raise typer.BadParameter("standard input (-) can be read only once")
        if self.peer is None:
            needs_peer(**vars(of_plan), expose=self.expose, lowering=self.lowering)
            needs_peer(origins=self.origins is not OriginMode.OPAQUE)
        else:
            not_with_peer(**{"query": self.query, "facet": self.facet, "with": self.linked})

    def modules(
        self, names: tuple[str, str], limits: Limits, json: bool
    ) -> tuple[Module, Module, Reader]:
        """Both policies as modules; what is wrong with them is reported together."""
        reader = Reader(limits, json)
        modules = []
        for name in names:
            source, *further = read_linked(name, self.linked, limits)
            modules.append(reader.module(source, facet_of(name, self.facet), limits, further))
        reader.finish()
        old, new = (module for module in modules if module is not None)
        return old, new, reader

    def sides(
        self, names: tuple[str, str], of_plan: OneSide, limits: Limits, json: bool
    ) -> list[tuple[ExchangePlan, SideProgram, Reader]]:
        """One side of the plan of each policy with the selector of the peer."""
        setup, policy = read_setup(of_plan, self.expose, self.origins, self.lowering)
        peer, side = self.peer or "", of_plan.side or 0
        both = [(peer, name) if side else (name, peer) for name in names]
        return [read_side(files, side, setup, policy, limits, json) for files in both]


@grouped
def diff_command(
    *,
    old: OldArgument,
    new: NewArgument,
    compared: Compared,
    of_plan: OneSide,
    store: StoreOption = None,
    facts: FactsOption = None,
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
    compared.check(old, new, of_plan)
    most = MOST_EXPLAINED if json else MOST_SHOWN
    names = (old, new)
    if compared.peer is None:
        found = _modules(compared, names, facts, store, limits, json, most)
    else:
        found = _plans(compared, names, of_plan, facts, store, limits, json, most)
    if json:
        write_json(found.json())
    else:
        write(difference_text(found, "--json"))


def _modules(
    compared: Compared,
    names: tuple[str, str],
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
    most: int,
) -> Difference:
    old, new, reader = compared.modules(names, limits, json)
    asked = asked_predicates(compared.query, old, new)
    derived = derived_by(old) | derived_by(new)
    with read_all_facts(facts, store, derived, limits, json) as (database, wrong, files):
        if wrong:
            refuse((*reader.diagnostics, *wrong), reader.sources | files, json)
        whys = [explain_module(module, database, limits) for module in (old, new)]
        return difference(whys[0], whys[1], {each: (each,) for each in asked}, most)


def _plans(
    compared: Compared,
    names: tuple[str, str],
    of_plan: OneSide,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
    most: int,
) -> Difference:
    sides = compared.sides(names, of_plan, limits, json)
    derived = {each for plan, program, _ in sides for each in derived_names(plan, program)}
    with read_all_facts(facts, store, derived, limits, json, PROFILE_FACTS) as found:
        database, wrong, read = found
        if wrong:
            sources = {**sides[0][2].sources, **sides[1][2].sources}
            refuse(wrong, sources | read, json)
        old, new = (explain_plan(program, database, limits) for _, program, _ in sides)
        return difference(old, new, GENERATED, most)


def derived_by(module: Module) -> set[Predicate]:
    return {predicate for group in module.groups for predicate in group}


def asked_predicates(query: list[str] | None, old: Module, new: Module) -> list[Predicate]:
    """What is compared: what is asked for, or what the policies select."""
    derived = derived_by(old) | derived_by(new)
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


def difference_text(found: Difference, rest: str) -> Iterator[Segment]:
    """Counts, rules and some changes; `rest` is the option that gives all of them."""
    yield f"{found.came} came, {found.went} went\n", "bold"
    for each in found.rules:
        if each.count:
            sign = "+" if each.policy == "new" else "-"
            whose = f"{each.rule.whose}  " if each.rule.whose else ""
            place = f"{visible(each.rule.file)}:{each.rule.line}"
            yield f"{sign}{each.count}  {whose}{place}  {visible(each.rule.text)}\n", ""
    for change in found.changes[:MOST_SHOWN]:
        yield from _change_text(change)
    left = found.came + found.went - MOST_SHOWN
    if left > 0:
        yield f"\nand {counted(left, 'more change')}; {rest} has all\n", "dim"


def _change_text(change: Change) -> Iterator[Segment]:
    came = change.change == "came"
    yield f"\n{'+' if came else '-'} {visible(str(change.fact))}\n", "green" if came else "red"
    yield f"  {'now' if came else 'before'}\n", "dim"
    for rule in change.rules:
        yield from rule_text(rule, "    ")
    if change.why_not is not None:
        yield f"  {'before' if came else 'now'}\n", "dim"
        yield from explanation_text(change.why_not, "    ")
