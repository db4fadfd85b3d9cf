"""The pages: of a policy, of one side of a plan, of an exchange.

In: what `lacec explain` finds out of each. Out: the text of a page.
"""

from collections.abc import Mapping, Sequence

from lacec.canonical.module import Module
from lacec.core.predicates import Predicate
from lacec.explain.html_report.dependencies import (
    Dependencies,
    dependencies_part,
    of_module,
    of_side,
)
from lacec.explain.html_report.frame import Part, page
from lacec.explain.html_report.html import Budget, Child, Html, join, tag
from lacec.explain.html_report.rules import policy_cards, rules_part, side_cards
from lacec.explain.html_report.tables import facts_part
from lacec.explain.provenance import Why
from lacec.explain.query_plan import Explanation, SideExplanation
from lacec.plan.exchange import ExchangePlan
from lacec.plan.lower import CAN_QUERY, MAY_REQUEST, MAY_SEND


def policy_page(name: str, module: Module, explanation: Explanation, why: Why | None) -> str:
    """A page for one module; with what it derives where facts are given."""
    budget, found = Budget(), of_module(module)
    counts = _counts(found, why)
    numbers = {"rules": len(module.rules), "strata": len(module.strata)}
    parts = _parts(found, why, counts, found.order(), budget)
    cards = policy_cards(module, explanation.plans)
    parts.append(Part("rules", "Rules and bytecode", rules_part(cards, "", budget)))
    intro = [figures(numbers | _derived(counts)), *_no_facts(why)]
    return page(name, module.id, join(intro), parts)


def plan_page(
    name: str, plan: ExchangePlan, side: SideExplanation, why: Why | None, note: str
) -> str:
    """A page for what one side of a plan runs."""
    budget, found = Budget(), of_side(side)
    counts = _counts(found, why)
    first = [p for p in (MAY_SEND, MAY_REQUEST, CAN_QUERY) if p in found.derived]
    order = [*first, *(p for p in found.order() if p not in first)]
    parts = _parts(found, why, counts, order, budget)
    parts.append(Part("rules", "Rules and bytecode", rules_part(side_cards(side), "", budget)))
    numbers = {"rules": len(side.rules), "strata": len(found.names)}
    said = [figures(numbers | _derived(counts)), plan_ids(plan, side.program.side)]
    said += [tag("p", note), *_no_facts(why)]
    return page(name, plan.id, join(said), parts)


def plan_ids(plan: ExchangePlan, side: int | None = None) -> Html:
    """What a plan is made of."""
    rows: list[tuple[str, Child]] = []
    for operand, origin in zip(plan.operands, plan.origins, strict=True):
        own = "" if side is None else (", this side's" if operand.index == side else ", the peer's")
        said = f"{operand.module.id}  {origin.text}"
        verifier = f"  {origin.verifier}" if origin.verifier else ""
        rows.append((f"operand {operand.index}{own}", tag("code", said + verifier)))
    fields = "all" if plan.required.all else ", ".join(plan.required.names) or "none"
    rows.append(("advertised fields", fields))
    return ids(rows)


def ids(rows: Sequence[tuple[str, Child]]) -> Html:
    return tag(
        "dl",
        *[tag(n, v) for name, value in rows for n, v in (("dt", name), ("dd", value))],
        class_="ids",
    )


def _parts(
    found: Dependencies,
    why: Why | None,
    counts: Mapping[Predicate, int],
    order: Sequence[Predicate],
    budget: Budget,
) -> list[Part]:
    graph = Part("graph", "Dependencies", dependencies_part(found, counts, ""))
    if why is None:
        return [graph]
    return [Part("facts", "What it derives", facts_part(why, order, "", budget)), graph]


def _counts(found: Dependencies, why: Why | None) -> dict[Predicate, int]:
    return {} if why is None else {predicate: why.count(predicate) for predicate in found.derived}


def _derived(counts: Mapping[Predicate, int]) -> dict[str, int]:
    return {"derived facts": sum(counts.values())} if counts else {}


def figures(numbers: Mapping[str, int]) -> Html:
    boxes = [
        tag(
            "div",
            tag("b", f"{number:,}"),
            tag("span", what[:-1] if number == 1 and what.endswith("s") else what),
        )
        for what, number in numbers.items()
    ]
    return tag("div", *boxes, class_="figures")


def _no_facts(why: Why | None) -> list[Html]:
    if why is not None:
        return []
    options: list[Child] = [tag("code", "--facts FILE"), " or ", tag("code", "--store STORE")]
    rest = " the page shows what is derived, each fact with its proof."
    return [tag("p", "No facts were given: with ", *options, rest, class_="left-out")]
