"""Suppression: an annotation that says which warning a rule may draw, and why.

    #:json {"allow":{"disconnected-body":"the switch is meant for all links"}}
    Selected(P) :- Link(P), Have(Q), Field(Q,'App',_,'on').

An error cannot be allowed, and a reason is not left out.
"""

import json
from typing import Any

from lacec.check.program import Program
from lacec.core.diagnostics import CATALOGUE, Place, place
from lacec.syntax.ast import Annotation, Rule
from lacec.syntax.source import ParsedSource, SourceRule

KEY = "allow"
Line = tuple[str, int]


def allowed(program: Program) -> dict[Line, dict[str, SourceRule]]:
    """The names that each line is allowed to draw."""
    found: dict[Line, dict[str, SourceRule]] = {}
    for rule in program.rules:
        if KEY in rule.annotations:
            names = {name: rule for name, reason in entries(rule) if is_good(name, reason)}
            found[rule.source.name, rule.line] = names
    return found


def entries(rule: SourceRule) -> list[tuple[str, Any]]:
    """What an annotation wants to allow, as it is written; nothing when it has another form."""
    value = rule.annotations.get(KEY)
    return list(value.items()) if isinstance(value, dict) else []


def is_good(name: str, reason: Any) -> bool:
    known = CATALOGUE.get(name, "error") != "error"
    return known and isinstance(reason, str) and bool(reason.strip())


def place_of(source: ParsedSource, rule: SourceRule, word: str) -> Place:
    """Where the annotations of a rule have a word; the last of those lines that do."""
    quoted = json.dumps(word, ensure_ascii=False)
    for number in range(rule.line - 1, 0, -1):
        node = source.nodes[number - 1]
        if node is None or isinstance(node, Rule):
            break
        if isinstance(node, Annotation) and quoted in node.text:
            at = node.span[0] + node.text.index(quoted)
            return place(rule.source.name, number, (at, at + len(quoted)))
    return rule.place(rule.rule.head.span)
