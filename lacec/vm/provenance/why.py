"""Why: for derived tuples a rule and the facts it used, down to what was given.

In: what a machine found, and the rules. Out: for each tuple of a proof one rule that makes
it and a row of each of its atoms. A tuple of a recursive group is proved from tuples of
earlier rounds only, and its own round is the first that could make it, so a proof has the
fewest rounds there are. Nothing is noted while rules run: rows stand in the order of rounds.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lacec.bytecode.goal import Ask, Goal, Rules
from lacec.core.origins import FULL_VIEW
from lacec.core.predicates import Predicate
from lacec.vm import kernels
from lacec.vm.live.overlay import relation_of
from lacec.vm.provenance.batch_solver import Answers, State
from lacec.vm.provenance.row_solver import Head, TooMuch, Witness, Witnesses
from lacec.vm.relation import Relation, Rows

# So many heads are asked about at once: enough for columns to pay, and bounded in memory.
MANY_HEADS = 2**16

# Of the facts that a negated atom met, so many are shown; their number is known.
MOST_MET = 100

Waiting = dict[Predicate, list[Relation]]


@dataclass(frozen=True, slots=True)
class Found:
    """Some heads that one rule makes, and the facts it used for each."""

    predicate: Predicate
    goal: Goal
    heads: Relation
    rounds: Sequence[int | None]
    state: State


@dataclass
class Prover:
    """Proofs over what a machine found. `groups` are in the order of evaluation."""

    answers: Answers
    rules: Rules
    groups: Sequence[tuple[Predicate, ...]]
    _goals: dict[int, Goal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._makers: dict[Predicate, list[int]] = defaultdict(list)
        for number, rule in enumerate(self.rules.nodes):
            self._makers[rule.head.predicate].append(number)

    def rules_of(self, predicate: Predicate) -> list[int]:
        return self._makers.get(predicate, [])

    def is_derived(self, predicate: Predicate) -> bool:
        return predicate in self._makers

    def there(self, predicate: Predicate, heads: Relation) -> Rows:
        """Which heads there are, as rows. What is virtual is asked rule by rule, and not made."""
        if not self.answers.is_virtual(predicate):
            return np.flatnonzero(self.answers.rows_of(predicate, heads) >= 0)
        rows = [state.starts for _, state in self.made_by(predicate, heads)]
        return np.unique(np.concatenate(rows))

    def made_by(self, predicate: Predicate, heads: Relation) -> Iterator[tuple[int, State]]:
        """Each rule with those of the heads that it makes, whatever the round."""
        for number in self.rules_of(predicate):
            yield number, self._solve(number, heads, None)

    def prove(self, predicate: Predicate, heads: Relation) -> Iterator[Found]:
        """Proofs of heads that there are: each tuple that they rest on is proved once."""
        if heads.size == 1:
            try:
                return iter(self._one(predicate, heads))
            except TooMuch:
                pass
        return self._many(predicate, heads)

    def _one(self, predicate: Predicate, heads: Relation) -> list[Found]:
        """The proof of one head, row by row: the witnesses of each rule together."""
        found = Witnesses(self.answers)
        round = None
        if predicate in self.rules.groups:
            rounds = self.answers.rounds(predicate)
            assert rounds is not None
            round = rounds.item(self.answers.rows_of(predicate, heads)[0])
        waiting = [Head(predicate, tuple([c.item(0) for c in heads.columns]), round)]
        seen = set(waiting)
        by_rule: dict[int, list[Witness]] = {}
        for head in waiting:
            number, witness = self._witness(found, head)
            by_rule.setdefault(number, []).append(witness)
            for needed in found.needs(self._goals[number], witness):
                if needed not in seen and self.is_derived(needed.predicate):
                    seen.add(needed)
                    waiting.append(needed)
        return [self._found(found, number, made) for number, made in by_rule.items()]

    def _witness(self, found: Witnesses, head: Head) -> tuple[int, Witness]:
        """By the first rule that makes a head."""
        for number in self.rules_of(head.predicate):
            witness = found.find(self._goal(number), head)
            if witness is not None:
                return number, witness
        raise AssertionError(f"no rule makes a tuple of {head.predicate}")

    def _found(self, found: Witnesses, number: int, made: Sequence[Witness]) -> Found:
        heads, goal = [witness.head for witness in made], self._goals[number]
        predicate = heads[0].predicate
        relation = relation_of([head.row for head in heads], predicate.arity)
        return Found(
            predicate, goal, relation, [head.round for head in heads], found.state(goal, made)
        )

    def _many(self, predicate: Predicate, heads: Relation) -> Iterator[Found]:
        waiting: Waiting = {predicate: [heads]}
        for group in reversed(self.groups):
            if group[0] in self.rules.groups:
                yield from self._by_rounds(group, waiting)
            elif group[0] in waiting:
                yield from self._all(group[0], waiting.pop(group[0]), None, waiting)

    def _by_rounds(self, group: Sequence[Predicate], waiting: Waiting) -> Iterator[Found]:
        """The last round first: what a round rests on is of the rounds before it."""
        of_round: dict[int, Waiting] = {}
        while True:
            for predicate in group:
                for heads in waiting.pop(predicate, ()):
                    known = self.answers.rounds(predicate)
                    assert known is not None
                    rounds = known[self.answers.rows_of(predicate, heads)]
                    for number in np.unique(rounds).tolist():
                        part = heads.where(rounds == number)
                        of_round.setdefault(number, {}).setdefault(predicate, []).append(part)
            if not of_round:
                return
            number = max(of_round)
            for predicate, pieces in of_round.pop(number).items():
                yield from self._all(predicate, pieces, number, waiting)

    def _all(
        self,
        predicate: Predicate,
        pieces: Sequence[Relation],
        round: int | None,
        waiting: Waiting,
    ) -> Iterator[Found]:
        universe = self.answers.database.universe()
        heads = kernels.distinct(kernels.concatenate(pieces, predicate.arity), universe)
        for start in range(0, heads.size, MANY_HEADS):
            self.answers.machine.check_time()
            rows = np.arange(start, min(start + MANY_HEADS, heads.size))
            for found in self._some(predicate, heads.take(rows), round):
                for part in found.goal.parts:
                    needed = part.pattern
                    if part.ask == Ask.FACT and needed and self.is_derived(needed.predicate):
                        relation, of = found.state.facts[part.literal]
                        waiting.setdefault(needed.predicate, []).append(relation.take(of))
                yield found

    def _some(self, predicate: Predicate, heads: Relation, round: int | None) -> Iterator[Found]:
        """Each head by the first rule that makes it."""
        for number in self.rules_of(predicate):
            if not heads.size:
                return
            self.answers.machine.check_time()
            state = self._solve(number, heads, round)
            if state.size:
                goal = self._goals[number]
                made = heads.take(state.starts)
                yield Found(predicate, goal, made, [round] * made.size, state)
                left = np.ones(heads.size, bool)
                left[state.starts] = False
                heads = heads.where(left)
        assert not heads.size, f"no rule makes {heads.size} tuples of {predicate}"

    def _solve(self, number: int, heads: Relation, round: int | None) -> State:
        before = None if round is None else np.full(heads.size, round)
        return self.answers.solve(self._goal(number), heads, range(len(heads.columns)), before)

    def _goal(self, number: int) -> Goal:
        """A rule whose head has values everywhere."""
        goal = self._goals.get(number)
        if goal is None:
            positions = range(self.rules.nodes[number].head.predicate.arity)
            goal = self._goals[number] = self.rules.goal(number, positions, written=False)
        return goal


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a rule fails: the first part that no combination passes, and the closest to it."""

    goal: Goal
    part: int  # its place among the parts
    state: State  # one combination, which passed all parts before
    count: int | None = None  # of a negated or counted atom
    valid: bool = True  # False where the count is compared with what is no decimal (D9)
    facts: Relation | None = None  # what a negated atom met; or what a view hides


def failure_of(
    answers: Answers, rules: Rules, number: int, given: dict[int, int]
) -> Failure | None:
    """Where a rule fails whose head has values at some positions; None where it cannot match."""
    goal = rules.goal(number, given, written=True)
    heads = Relation([np.array([value], np.int32) for value in given.values()], 1)
    state = answers.begin(goal, heads, list(given))
    if not state.size:
        return None
    for place, part in enumerate(goal.parts):
        after = answers.step(part, state, None)
        if not after.size:
            return _closest(answers, goal, place, state)
        state = after
    raise AssertionError("the rule does not fail")


def _closest(answers: Answers, goal: Goal, place: int, state: State) -> Failure:
    part = goal.parts[place]
    if part.ask == Ask.TEST or part.pattern is None:
        return Failure(goal, place, state.take(np.zeros(1, np.intp)))
    if part.ask == Ask.FACT:
        row, hidden = _hidden(answers, goal, place, state)
        return Failure(goal, place, state.take(np.array([row])), facts=hidden)
    counts = answers.counts(part, state)
    row, is_valid = 0, True
    if part.ask == Ask.COUNT:
        bounds, valid = answers.bounds(part, state)
        decimals = np.flatnonzero(valid)
        is_valid = bool(len(decimals))
        if is_valid:
            row = int(decimals[np.argmin(np.abs(counts - bounds)[decimals])])
    one = state.take(np.array([row]))
    met = None
    if part.ask == Ask.ABSENT:
        met = answers.agreeing(part.pattern, one)[1]
        met = met.take(np.arange(min(met.size, MOST_MET)))
    return Failure(goal, place, one, int(counts[row]), is_valid, met)


def _hidden(answers: Answers, goal: Goal, place: int, state: State) -> tuple[int, Relation | None]:
    """A combination for which there is a fact that the rule's view does not show, if any."""
    pattern = goal.parts[place].pattern
    assert pattern is not None
    if not pattern.view:
        return 0, None
    left, found = answers.agreeing(replace(pattern, view=FULL_VIEW), state)
    return (0, None) if not len(left) else (int(left[0]), found.take(np.zeros(1, np.intp)))
