"""The page of an exchange: what moves, what stays though the other side lacks it, and why.

In: an exchange with its explanations, and what each side runs. Out: the text of a page.
"""

from collections.abc import Sequence

from lacec.explain.html_report.dependencies import dependencies_part, of_side
from lacec.explain.html_report.frame import Part, page
from lacec.explain.html_report.html import Budget, Html, join, tag
from lacec.explain.html_report.pages import figures, ids
from lacec.explain.html_report.proofs import explanation
from lacec.explain.html_report.rules import rules_part, side_cards
from lacec.explain.html_report.tables import fields_line, fields_of
from lacec.explain.proof_tree import Proof
from lacec.explain.query_plan import SideExplanation
from lacec.runtime.exchange.explaining import OUTCOMES, Explained, Overview
from lacec.runtime.interlace.reasons import REASONS

SIDES = ("left", "right")


def exchange_page(name: str, overview: Overview, sides: Sequence[SideExplanation | None]) -> str:
    budget = Budget()
    results = [seat.result for seat in overview.pair.seats]
    ended = [result for result in results if result is not None]
    moved = len(overview.moves) + overview.more_moves
    size = sum(result.bytes_received for result in ended)
    loops = max((result.loops for result in ended), default=0)
    stays = len(overview.stays) + overview.more_stays
    numbers = {"records move": moved, "bytes": size, "records stay": stays, "loops": loops}
    said = [
        (SIDES[index], _ending(result.converged, result.aborted, result.detail))
        for index, result in enumerate(ended)
    ]
    plan = next((r.exchange_plan_id for r in ended if r.exchange_plan_id), "no plan")
    moves = _records(overview, overview.moves, overview.more_moves, "No record moves.", budget)
    none = "Each side has all that the other has."
    kept = _records(overview, overview.stays, overview.more_stays, none, budget)
    parts = [Part("moves", "What moves", moves), Part("stays", "What stays", kept)]
    for index, side in enumerate(sides):
        if side is not None:
            title = f"What the {SIDES[index]} runs"
            parts.append(Part(f"{SIDES[index]}-side", title, _side(side, index, budget)))
    return page(name, plan, join([figures(numbers), ids(said)]), parts)


def _ending(converged: bool, aborted: str | None, detail: str | None) -> str:
    if converged:
        return "converged"
    why = detail or (REASONS[aborted] if aborted is not None else "")
    return f"not converged: {': '.join(filter(None, [aborted or '', why]))}"


def _records(
    overview: Overview, found: Sequence[Explained], more: int, none: str, budget: Budget
) -> Html:
    """A row for each record, unfolding into why each side does what it does."""
    rows: list[Html] = []
    for each in found:
        row = _row(overview, each, unfold=not rows)
        if not budget.take(row):
            break
        rows.append(row)
    more += len(found) - len(rows)
    left = tag("p", f"{more:,} more are left out.", class_="left-out") if more else None
    if not rows:
        return join([tag("p", none), *([left] if left else [])])
    return join([tag("div", *rows, class_="rows"), *([left] if left else [])])


def _row(overview: Overview, each: Explained, unfold: bool) -> Html:
    to = each.direction.to
    evaluated = overview.evaluated[1 - to]
    fields = {} if evaluated is None else fields_of(evaluated[1], [each.hash])[each.hash]
    moves = each.direction.outcome == "moves"
    way = f"{SIDES[1 - to]} → {SIDES[to]}"
    said = f"{each.size:,} bytes" if moves else OUTCOMES[each.direction.outcome]
    head = tag(
        "summary",
        tag("span", way, class_=f"badge {'moves' if moves else 'stays'}"),
        tag("code", each.hash),
        tag("span", said, class_="size"),
        fields_line(fields),
    )
    below = []
    for side, what, found in each.direction.explanations:
        how = "because" if isinstance(found, Proof) else "no, because"
        below.append(tag("p", f"{SIDES[side]} {what} it: {how}", class_="who"))
        below.append(explanation(found, f"{SIDES[side]}-"))
    is_open = "" if unfold else None
    return tag("details", head, *below, class_="row", data_s="", open=is_open)


def _side(side: SideExplanation, index: int, budget: Budget) -> Html:
    prefix = f"{SIDES[index]}-"
    return join(
        [
            dependencies_part(of_side(side), {}, prefix),
            rules_part(side_cards(side), prefix, budget),
        ]
    )
