"""A checker of proofs, and of where rules fail: each step against the rules, by the slow evaluator.

It reads nothing of how a proof was found. A proof holds when each of its steps is an instance
of its rule whose facts are given or proved, and nothing rests on itself. A failure holds when
the literals before it can be met together, with it they cannot, and they can as soon as what
it misses is there, or what it met is gone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from lacec.core.predicates import Predicate
from lacec.explain.proof_tree import Check, Fact, Fails, Proof, Step, Wanted, WhyNot
from lacec.syntax.ast import (
    Always,
    Anonymous,
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
    body_atoms,
)
from lacec.syntax.show import show_literal, show_rule
from tests import slow
from tests.slow import Binding, Facts, Row, Work

PLENTY = 10**9


@dataclass(frozen=True)
class World:
    """Rules, all facts that there are, and the first round of each fact that has rounds."""

    rules: Mapping[str, Rule]  # by text
    facts: Facts
    derived: frozenset[Predicate]
    first: Mapping[tuple[Predicate, Row], int]

    @classmethod
    def of(cls, rules: Sequence[Rule], base: Facts, result: slow.Result) -> "World":
        facts = {predicate: set(rows) for predicate, rows in base.items()} | result.facts
        by_text = {show_rule(rule): rule for rule in rules}
        return cls(by_text, facts, frozenset(result.facts), result.first)

    def has(self, fact: Fact) -> bool:
        return fact.values in self.facts.get(fact.predicate, ())

    def work(self) -> Work:
        return Work(dict(self.facts), PLENTY)


def check_proof(proof: Proof, world: World) -> None:
    """AssertionError unless a proof is one, with the fewest rounds there are."""
    assert world.has(proof.fact)
    needed = {proof.fact} if proof.fact.predicate in world.derived else set()
    assert needed <= proof.steps.keys()
    for fact, step in proof.steps.items():
        assert fact == step.fact
        _check_step(step, world)
        for met in step.because:
            if isinstance(met, Fact) and met.predicate in world.derived:
                assert met in proof.steps
                needed.add(met)
    assert needed == set(proof.steps), "a step that nothing rests on"
    _check_order(proof, world)


def _check_step(step: Step, world: World) -> None:
    rule = world.rules[step.rule.text]
    literals = [literal for literal in rule.body if not isinstance(literal, Always)]
    binding: Binding = {}
    for literal, met in zip(literals, step.because, strict=True):
        if slow.is_positive(literal):
            assert isinstance(literal, Atom)
            assert isinstance(met, Fact)
            assert met.predicate == literal.predicate
            assert world.has(met)
            found = slow.match_fact(literal, met.values, binding)
            assert found is not None, f"{met} does not fit {show_rule(rule)}"
            binding = found
    head = slow.match_fact(rule.head, step.fact.values, binding)
    assert head == binding, f"{step.fact} is not the head of {show_rule(rule)}"
    work = world.work()
    for literal, met in zip(literals, step.because, strict=True):
        if not slow.is_positive(literal):
            assert isinstance(met, Check)
            assert slow.holds(literal, binding, work)
            assert met.text == show_literal(filled(literal, binding))
            if isinstance(literal, Cardinality):
                assert met.number == slow.count_facts(literal.atom, binding, work)


def _check_order(proof: Proof, world: World) -> None:
    """Nothing rests on itself; rounds are the first that the slow evaluator made a fact in."""
    done: set[Fact] = set()
    opened: set[Fact] = set()
    stack = [proof.fact]
    while stack:
        fact = stack[-1]
        step = proof.steps.get(fact)
        opened.add(fact)
        below = [m for m in step.because if isinstance(m, Fact)] if step else []
        waiting = [each for each in below if each not in done]
        if waiting:
            assert not opened.intersection(waiting), f"{waiting} rests on itself"
            stack += waiting[:1]
            continue
        done.add(stack.pop())
        opened.discard(fact)
        if step is not None:
            assert step.round == world.first.get((fact.predicate, fact.values))
            if step.round is not None:
                inner = [proof.steps[each] for each in below if each in proof.steps]
                earlier = [each.round or 0 for each in inner if _same_group(fact, each.fact, world)]
                assert step.round == 1 + max(earlier, default=0)


def _same_group(one: Fact, other: Fact, world: World) -> bool:
    needs = slow.needed_predicates(list(world.rules.values()))
    return one.predicate in needs[other.predicate] and other.predicate in needs[one.predicate]


def filled(literal: Literal, binding: Mapping[str, str]) -> Literal:
    """A literal with values for the variables that have one."""

    def terms(all: Sequence[Term]) -> tuple[Term, ...]:
        return tuple(
            Constant(binding[t.name]) if isinstance(t, Variable) and t.name in binding else t
            for t in all
        )

    match literal:
        case Atom(name, arguments):
            return Atom(name, terms(arguments))
        case Negated(Atom(name, arguments)):
            return Negated(Atom(name, terms(arguments)))
        case Unequal(left, right):
            return Unequal(*terms((left, right)))
        case Cardinality(Atom(name, arguments), operator, bound):
            return Cardinality(Atom(name, terms(arguments)), operator, *terms((bound,)))
    return literal


# Why not.


def check_why_not(found: WhyNot, world: World) -> None:
    """AssertionError unless each rule fails where it is said to, and no rule is left out."""
    assert not world.has(found.fact)
    assert next(iter(found.goals)) == Wanted(*found.fact)
    for wanted, fails in found.goals.items():
        heads = {
            text: start
            for text, rule in world.rules.items()
            if (start := unified(rule.head, wanted)) is not None
        }
        assert sorted(each.rule.text for each in fails) == sorted(heads)
        for each in fails:
            _check_failure(each, world.rules[each.rule.text], heads[each.rule.text], world)
            if each.needs is not None and len(found.goals) < 64:
                assert each.needs in found.goals


def unified(head: Atom, wanted: Wanted) -> Binding | None:
    """The binding of a rule whose head is to have some values."""
    if head.predicate != wanted.predicate:
        return None
    binding: Binding = {}
    for term, value in zip(head.terms, wanted.values, strict=True):
        if value is None:
            continue
        if isinstance(term, Constant):
            if term.value != value:
                return None
        elif isinstance(term, Variable) and binding.setdefault(term.name, value) != value:
            return None
    return binding


def _check_failure(fails: Fails, rule: Rule, start: Binding, world: World) -> None:
    literal = rule.body[fails.literal]
    before = [rule.body[place] for place in fails.passed]
    work = world.work()
    # The closest binding meets all that stands before, by facts that there are.
    assert start.items() <= fails.binding.items()
    facts = iter(fails.with_facts)
    for each in before:
        if slow.is_positive(each):
            assert isinstance(each, Atom)
            met = next(facts)
            assert world.has(met)
            assert met.predicate == each.predicate
            assert slow.match_fact(each, met.values, dict(fails.binding)) == fails.binding
        else:
            assert slow.holds(each, dict(fails.binding), work)
    assert next(facts, None) is None
    assert fails.text == show_literal(filled(literal, fails.binding))
    assert not can_hold([*before, literal], start, work)
    _check_repair(fails, literal, [*before, literal], start, world)


def can_hold(literals: Sequence[Literal], start: Binding, work: Work) -> bool:
    """Whether literals hold together under some binding that begins like this."""
    positive = [part for part in literals if slow.is_positive(part)]
    others = [part for part in literals if not slow.is_positive(part)]
    return any(
        all(slow.holds(part, binding, work) for part in others)
        for binding in slow.bindings(positive, start, work)
    )


def _check_repair(
    fails: Fails, literal: Literal, literals: Sequence[Literal], start: Binding, world: World
) -> None:
    """The failure moves on when what is missing is added, or what is in the way removed.

    Not where the rule is at odds with itself, and asks for a fact to be there and not to be.
    """
    work = world.work()
    binding = dict(fails.binding)
    changed = literal.atom if isinstance(literal, Negated | Cardinality) else literal
    assert isinstance(changed, Atom | Unequal)
    at_odds = isinstance(changed, Atom) and any(
        each is not literal and changed.predicate == atom.predicate
        for each in literals
        for atom in body_atoms(Rule(changed, (each,)))
        if slow.is_positive(each) != slow.is_positive(literal) or isinstance(each, Cardinality)
    )
    match literal:
        case Negated(atom):
            assert fails.kind == "present"
            rows = {fact.values for fact in fails.facts}
            assert rows
            assert len(rows) == fails.count == slow.count_facts(atom, binding, work)
            work.facts[atom.predicate] = work.facts[atom.predicate] - rows
        case Cardinality(atom, Constant(operator), bound):
            assert fails.kind == "count"
            count = slow.count_facts(atom, binding, work)
            assert fails.count == count
            if not _change_count(atom, binding, operator, slow.value(bound, binding), count, work):
                return
        case Atom() if slow.is_positive(literal):
            rows = work.facts.get(literal.predicate, set())
            added = set(islice(_fresh(literal, binding), 1))
            if fails.kind == "hidden":
                added = {fact.values for fact in fails.facts}
                assert [slow.match_fact(literal, row, binding) is None for row in added] == [False]
            else:
                assert fails.kind == "missing"
            work.facts[literal.predicate] = rows | added
        case _:
            assert fails.kind == "test"
            assert not slow.holds(literal, binding, work)
            return
    assert at_odds or can_hold(literals, start, work), (
        fails,
        show_rule(Rule(Atom("H", ()), tuple(literals))),
        at_odds,
    )


def _change_count(
    atom: Atom, binding: Binding, operator: str, bound: str, count: int, work: Work
) -> bool:
    """Add or remove as many facts as it takes; whether some number of them would do."""
    rows = work.facts.get(atom.predicate, set())
    if operator in ("<", "<="):
        if not slow.int_compare("0", operator, bound):
            return False
        own = {row for row in rows if slow.match_fact(atom, row, binding) is not None}
        assert len(own) == count
        work.facts[atom.predicate] = rows - own
        return True
    if not slow.int_compare("999", operator, bound):
        return False
    work.facts[atom.predicate] = rows | set(_fresh(atom, binding))
    return slow.int_compare(str(slow.count_facts(atom, binding, work)), operator, bound)


def _fresh(atom: Atom, binding: Binding) -> Iterator[Row]:
    """Facts that match an atom, with new values where it leaves them open."""
    variables = [t for t in atom.terms if isinstance(t, Variable) and t.name not in binding]
    is_open = variables or any(isinstance(term, Anonymous) for term in atom.terms)
    for number in range(1000 if is_open else 1):
        values = dict(binding) | {v.name: f"new{number}" for v in variables}
        yield tuple(
            f"new{number}" if isinstance(term, Anonymous) else slow.value(term, values)
            for term in atom.terms
        )
