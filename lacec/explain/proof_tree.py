"""Proofs, and what stands in their place where there is none: values, and their JSON.

Selected('x')                        a fact, by a rule, because of
  Have('x')                          facts that were given,
  Wanted('x')                        facts with steps of their own,
  not Blocked('v')                   and checks: something absent, a count, a test
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lacec.canonical.module import ModuleRule
from lacec.core.predicates import Predicate
from lacec.plan.lower import GENERATED_FILE, LoweredRule, SideProgram
from lacec.syntax.show import show_constant, show_fact


class Fact(NamedTuple):
    name: str
    values: tuple[str, ...]

    @property
    def predicate(self) -> Predicate:
        return Predicate(self.name, len(self.values))

    def __str__(self) -> str:
        return show_fact(self.name, *self.values)


class Check(NamedTuple):
    """A literal that is no fact, with its values; of a count, how many there are."""

    kind: Literal["absent", "count", "test"]
    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class RuleShown:
    """A rule as its author wrote it; of a plan, whose it is."""

    id: str
    text: str
    file: str
    line: int
    whose: str = ""  # own, peer, exposure or generated
    operand: int | None = None
    sees: str = ""  # of the records of this side, in words

    def json(self) -> dict[str, Any]:
        found = {"id": self.id, "text": self.text, "file": self.file, "line": self.line}
        whose = {"from": self.whose, "operand": self.operand, "sees": self.sees}
        return found | (whose if self.whose else {})


Authored = Mapping[tuple[int, str], ModuleRule]
"""Rules by operand and identifier, where their author's files are known."""


def shown_rule(program: SideProgram, rule: LoweredRule, authored: Authored) -> RuleShown:
    """A lowered rule by what it was made from, and whose it is."""
    whose = program.whose(rule)
    original = rule.original
    if original is None:
        return RuleShown(rule.id, rule.text, GENERATED_FILE, 1, "generated")
    operand = int(rule.what[1:]) if whose in ("own", "peer") else None
    if operand is not None:
        original = authored.get((operand, original.id), original)
    place = (original.id, original.text, original.file, original.line)
    return RuleShown(*place, whose, operand, program.sees(rule))


@dataclass(frozen=True, slots=True)
class Step:
    """A derived fact, the rule that makes it, and what each literal of its body met."""

    fact: Fact
    rule: RuleShown
    round: int | None  # of a recursive group: the first round that can make it
    because: tuple[Fact | Check, ...]

    def json(self) -> dict[str, Any]:
        return {
            "fact": str(self.fact),
            "rule": self.rule.json(),
            "round": self.round,
            "because": [_met_json(met) for met in self.because],
        }


def _met_json(met: Fact | Check) -> dict[str, Any]:
    if isinstance(met, Fact):
        return {"kind": "fact", "text": str(met)}
    found: dict[str, Any] = {"kind": met.kind, "text": met.text}
    return found if met.number is None else found | {"count": met.number}


@dataclass(frozen=True, slots=True)
class Proof:
    """A fact, and a step for each derived fact that it rests on, its own first."""

    fact: Fact
    steps: Mapping[Fact, Step]

    def json(self) -> dict[str, Any]:
        return {"fact": str(self.fact), "steps": [step.json() for step in self.steps.values()]}


@dataclass(frozen=True, slots=True)
class Fails:
    """A rule that could have made a fact, and the first literal of it that fails.

    `passed` are the places of the literals that held before it, and `with_facts` the facts
    that they met. `text` is the literal, with the values that it has by then; what has none is
    a variable. `facts` are those that a negated atom met, or one that a view hides.
    """

    rule: RuleShown
    kind: Literal["missing", "hidden", "present", "count", "test"]
    text: str
    literal: int  # its place in the body
    passed: tuple[int, ...]
    with_facts: tuple[Fact, ...]
    binding: Mapping[str, str]
    count: int | None = None
    facts: tuple[Fact, ...] = ()
    needs: "Wanted | None" = None  # a derived fact that is missing for it to hold
    no_decimal: str | None = None  # what a count is compared with, where that is no decimal

    @property
    def reason(self) -> str:
        """In words, why the literal fails."""
        match self.kind:
            case "missing":
                return "there is no such fact"
            case "hidden":
                peer = self.rule.whose == "peer"
                hidden = "not exposed to the peer" if peer else "narrowed away"
                return f"{self.facts[0]} is there, but {hidden}"
            case "present":
                more = (self.count or 1) - 1
                others = f", and {more} other{'s' if more > 1 else ''}" if more else ""
                return f"{self.facts[0]} is there{others}"
            case "count":
                if self.no_decimal is not None:
                    return f"{show_constant(self.no_decimal)} is no decimal"
                return f"there are {self.count}"
            case "test":
                return "does not hold"

    def json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.json(),
            "kind": self.kind,
            "text": self.text,
            "literal": self.literal,
            "passed": list(self.passed),
            "with": [str(fact) for fact in self.with_facts],
            "binding": dict(self.binding),
            "count": self.count,
            "facts": [str(fact) for fact in self.facts],
            "needs": None if self.needs is None else str(self.needs),
            "no_decimal": self.no_decimal,
        }


class Wanted(NamedTuple):
    """A fact some of whose values are open."""

    name: str
    values: tuple[str | None, ...]

    @property
    def predicate(self) -> Predicate:
        return Predicate(self.name, len(self.values))

    def __str__(self) -> str:
        terms = ["_" if value is None else show_constant(value) for value in self.values]
        return f"{self.name}({','.join(terms)})"


@dataclass(frozen=True, slots=True)
class WhyNot:
    """For the fact asked about, and for each derived one that is missing for it, its rules.

    `left_out` are missing too, and were not looked into: there are too many. A fact of a
    base predicate is given or not; no rule makes any.
    """

    fact: Fact
    goals: Mapping[Wanted, tuple[Fails, ...]]
    left_out: tuple[Wanted, ...] = ()
    is_base: bool = False

    def json(self) -> dict[str, Any]:
        return {
            "fact": str(self.fact),
            "goals": [
                {"goal": str(wanted), "rules": [each.json() for each in fails]}
                for wanted, fails in self.goals.items()
            ],
            "left_out": [str(wanted) for wanted in self.left_out],
            "base": self.is_base,
        }


@dataclass(frozen=True, slots=True)
class Proofs:
    """The proofs of many facts, which share their steps."""

    facts: Sequence[Fact]
    steps: Mapping[Fact, Step]

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Proof]:
        return map(self.of, self.facts)

    def of(self, fact: Fact) -> Proof:
        """The proof of one fact: the steps that it rests on; one that was given has none."""
        step = self.steps.get(fact)
        if step is None:
            return Proof(fact, {})
        own = {fact: step}
        queue = [fact]
        for each in queue:
            for met in own[each].because:
                if isinstance(met, Fact) and met not in own and met in self.steps:
                    own[met] = self.steps[met]
                    queue.append(met)
        return Proof(fact, own)
