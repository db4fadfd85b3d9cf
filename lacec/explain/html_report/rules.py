"""Rules on a page: each in a card, with what the machine does beside it.

In: rules, and the plans of their blocks. Out: cards, and the anchors by which proofs name
them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lacec.canonical.module import Module
from lacec.explain.html_report.html import Budget, Html, join, lines, piece, tag
from lacec.explain.proof_tree import RuleShown
from lacec.explain.query_plan import ExplainedRule, Plan, SideExplanation

_TOKENS = re.compile(
    r"(?P<constant>'(?:[^'\\]|\\.)*')|(?P<word>\bnot\b|:-)|(?P<predicate>\w+(?=\())|(?P<variable>\w+)"
)


def lace(text: str) -> Html:
    """A rule or a fact in colours."""
    parts: list[Html] = []
    at = 0
    for found in _TOKENS.finditer(text):
        parts.append(piece(text[at : found.start()]))
        parts.append(tag("i", found[0], class_=found.lastgroup))
        at = found.end()
    return join([*parts, piece(text[at:])])


def anchor(prefix: str, whose: str, id: str) -> str:
    return f"{prefix}rule-{whose}-{id}"


def rule_link(rule: RuleShown, prefix: str) -> Html:
    """Who made a step of a proof: a link to the card of the rule."""
    whose = rule.whose if rule.operand is None else f"operand {rule.operand}, {rule.whose}"
    place = "generated" if rule.whose == "generated" else f"{rule.file}:{rule.line}"
    said = ", ".join(filter(None, [place if place != whose else "", whose]))
    return tag("a", said, href=f"#{anchor(prefix, rule.whose, rule.id)}", title=rule.text)


@dataclass(frozen=True)
class Card:
    """A rule, and what becomes of it."""

    id: str
    text: str
    heading: str = ""  # what the card and those after it stand under
    whose: str = ""
    place: str = ""
    sees: str = ""
    original: str = ""  # of a lowered rule: as its author wrote it
    original_id: str = ""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    plans: Sequence[Plan] = ()


def policy_cards(module: Module, plans: Iterable[Plan]) -> list[Card]:
    by_rule = _by_rule(plans)
    cards = [
        Card(
            rule.id,
            rule.text,
            place=f"{rule.file}:{rule.line}",
            original_id=rule.id,
            annotations=rule.annotations,
            plans=by_rule.pop(rule.id, ()),
        )
        for rule in module.rules
    ]
    return cards + _shared(by_rule)


def side_cards(side: SideExplanation) -> list[Card]:
    by_rule = _by_rule([*side.gates, *side.main])
    cards = [_side_card(each, by_rule.pop(each.rule.id, ())) for each in side.rules]
    return cards + _shared(by_rule)


def _side_card(each: ExplainedRule, plans: Sequence[Plan]) -> Card:
    rule, original = each.rule, each.rule.original
    headings = {
        "own": "This side's own selector",
        "peer": "The peer's selector, as it runs here",
        "exposure": "What this side exposes",
        "generated": "Made from both: the intersection, and what may be sent and requested",
    }
    return Card(
        rule.id,
        rule.text,
        headings[each.whose],
        each.whose if original else "generated",
        f"{original.file}:{original.line}" if original else "",
        "" if each.sees == "no record facts" else each.sees,
        original.text if original and original.text != rule.text else "",
        original.id if original else rule.id,
        original.annotations if original else {},
        plans,
    )


def _by_rule(plans: Iterable[Plan]) -> dict[str, list[Plan]]:
    found: dict[str, list[Plan]] = {}
    for plan in plans:
        found.setdefault(plan.id, []).append(plan)
    return found


def _shared(rest: Mapping[str, Sequence[Plan]]) -> list[Card]:
    """What belongs to no rule: sub-joins that several of them share."""
    return [
        Card(id, plan.text, "Shared", plans=[plan]) for id, plans in rest.items() for plan in plans
    ]


def rules_part(cards: Sequence[Card], prefix: str, budget: Budget) -> Html:
    parts: list[Html] = []
    heading = ""
    for number, card in enumerate(cards):
        shown = _card(card, prefix)
        if not budget.take(shown):
            left = (
                f"{len(cards) - number:,} of {len(cards):,} rules are left out: the page is full."
            )
            parts.append(tag("p", left, class_="left-out"))
            break
        if card.heading != heading:
            heading = card.heading
            parts.append(tag("h4", heading))
        parts.append(shown)
    return join(parts)


def _card(card: Card, prefix: str) -> Html:
    known = {key: value for key, value in card.annotations.items() if isinstance(value, str)}
    said = [tag("p", f"{value}", class_=f"annotation {key}") for key, value in known.items()]
    meta = [
        tag("span", card.place, class_="place") if card.place else None,
        tag("span", f"sees {card.sees}", class_="sees") if card.sees else None,
        tag("span", card.id, class_="id") if card.id else None,
    ]
    wrote = tag("p", "written as ", tag("code", lace(card.original)), class_="original")
    left = tag(
        "div",
        tag("pre", tag("code", lace(card.text)), class_="rule"),
        wrote if card.original else None,
        *said,
        tag("p", *meta, class_="meta"),
        *[_order(plan) for plan in card.plans],
        class_="left",
    )
    code = [_code(plan) for plan in card.plans]
    right = tag("div", *code, class_="right")
    return tag(
        "article",
        left,
        right,
        class_=f"card {card.whose}",
        id=anchor(prefix, card.whose, card.original_id),
        data_s="",
    )


def _order(plan: Plan) -> Html | None:
    """The steps of a block, as people think of them."""
    rows = [
        tag(
            "tr",
            tag("th", step.how),
            tag("td", tag("code", lace(step.what))),
            tag("td", "" if step.size is None else f"{step.size:,}", class_="number"),
        )
        for step in plan.steps
    ]
    caption = tag("caption", plan.kind) if plan.kind != "full" else None
    return tag("table", caption, tag("tbody", *rows), class_="order") if rows else None


def _code(plan: Plan) -> Html:
    heading = tag("p", plan.kind, class_="kind") if plan.kind != "full" else None
    text = "\n".join(line[4:] for line in plan.bytecode.splitlines())
    return tag("div", heading, tag("pre", lines(text), class_="bytecode"))
