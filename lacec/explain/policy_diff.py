"""What a change of policy does: which records change sides, and the rules that decide each.

In: the explanations of the old and of the new policy over the same facts. Out: the facts of a
predicate that come and go; for each the rules that decide it, those of the new policy for what
comes and those of the old one for what goes; and why the other policy does not have it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lacec.core.predicates import Predicate
from lacec.explain.proof_tree import Fact, RuleShown, WhyNot
from lacec.explain.provenance import Why

# What comes is of the new policy, what goes of the old one.
WAYS: dict[Literal["new", "old"], Literal["came", "went"]] = {"new": "came", "old": "went"}
# Of many changes, so many are explained.
MOST_EXPLAINED = 1000


@dataclass(frozen=True)
class Change:
    """A fact that comes or goes. `why_not` is of the policy that does not have it."""

    fact: Fact
    change: Literal["came", "went"]
    rules: tuple[RuleShown, ...]
    why_not: WhyNot | None

    def json(self) -> dict[str, Any]:
        return {
            "fact": str(self.fact),
            "change": self.change,
            "rules": [rule.json() for rule in self.rules],
            "why_not": None if self.why_not is None else self.why_not.json(),
        }


@dataclass(frozen=True)
class Decided:
    """A rule, and how many of the facts that come or go it decides."""

    policy: Literal["new", "old"]
    rule: RuleShown
    count: int

    def json(self) -> dict[str, Any]:
        rule = self.rule
        return {
            "policy": self.policy,
            "id": rule.id,
            "file": rule.file,
            "line": rule.line,
            "text": rule.text,
            "records": self.count,
            **({"from": rule.whose, "operand": rule.operand} if rule.whose else {}),
        }


@dataclass(frozen=True)
class Difference:
    """How many facts came and went, the rules that decide them, and changes.

    Those are in order, what came and then what went, by predicate and value: all there are, or
    the first of very many.
    """

    came: int
    went: int
    rules: tuple[Decided, ...]
    changes: tuple[Change, ...]

    def json(self) -> dict[str, Any]:
        return {
            "came": self.came,
            "went": self.went,
            "rules": [each.json() for each in self.rules],
            "changes": [each.json() for each in self.changes],
        }


def difference(
    old: Why,
    new: Why,
    predicates: Mapping[Predicate, Sequence[Predicate]],
    most: int = MOST_EXPLAINED,
) -> Difference:
    """What differs in some predicates; why not is said of the first so many changes.

    Beside each predicate stand those whose rules decide it: itself, or for what lowering
    generates the exports of the operands. Their tuples begin with those of the predicate.
    """
    changes: list[Change] = []
    rules: list[Decided] = []
    for policy, change in WAYS.items():
        having, lacking = (new, old) if policy == "new" else (old, new)
        decided: Counter[RuleShown] = Counter()
        for predicate, deciders in predicates.items():
            decided.update({rule: 0 for each in deciders for rule in having.rules(each)})
            others = set(lacking.facts(predicate))
            moved = [values for values in having.facts(predicate) if values not in others]
            deciding = _deciding(having, deciders, moved)
            for values in moved:
                fact = Fact(predicate.name, values)
                why_not = lacking.why_not(fact) if len(changes) < most else None
                decided.update(list(deciding[values]))
                changes.append(Change(fact, change, tuple(deciding[values]), why_not))
        rules += [Decided(policy, rule, count) for rule, count in decided.items()]
    came = sum(each.change == "came" for each in changes)
    return Difference(came, len(changes) - came, tuple(rules), tuple(changes))


def _deciding(
    why: Why, deciders: Sequence[Predicate], moved: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], dict[RuleShown, None]]:
    """The rules that make each of some tuples."""
    found: dict[tuple[str, ...], dict[RuleShown, None]] = {values: {} for values in moved}
    width = len(moved[0]) if moved else 0
    for predicate in deciders if moved else ():
        made = zip(why.rules(predicate), why.makers(predicate), strict=True)
        for rule, (_, rows) in made:
            for values in rows:
                if values[:width] in found:
                    found[values[:width]][rule] = None
    return found
