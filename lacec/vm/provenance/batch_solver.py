"""Goals answered over whole relations: for many heads at once, the facts that make a body true.

In: a machine that has evaluated, a goal, and a relation of candidate heads. Out: for each
candidate that the rule makes, one row of every body atom. Only as many combinations are
kept as later parts can tell apart, and of an atom that binds nothing new only its first
fact, so that a candidate costs about as much as looking its facts up.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from lacec.bytecode.code import Code
from lacec.bytecode.goal import Ask, Goal, GoalTerm, Part, Pattern, Ranked
from lacec.core.errors import LimitError
from lacec.core.origins import FULL_VIEW, Origin
from lacec.core.predicates import Predicate
from lacec.vm import kernels
from lacec.vm.builtins import Operand, compare_signs, decimals, run_test
from lacec.vm.machine import Machine
from lacec.vm.provenance.row_lookup import Finder
from lacec.vm.rank import is_unique, rank_counts
from lacec.vm.relation import Ids, Mask, Relation, Rows

# A key of several columns is looked up by the first of them that gives no more rows than this
# for each row that asks; the others then filter.
FEW_ROWS = 4
# For so few combinations no index is made.
FEW_ASKED = 4


@dataclass(frozen=True, slots=True)
class Tuples:
    """The tuples of a pattern and, of a recursive predicate, the round of each."""

    relation: Relation
    rounds: Rows | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Combinations: the candidate of each, the values of variables, a fact for each atom."""

    starts: Rows
    values: dict[int, Ids]
    facts: dict[int, tuple[Relation, Rows]]

    @property
    def size(self) -> int:
        return len(self.starts)

    def take(self, rows: Rows) -> "State":
        return State(
            self.starts[rows],
            {slot: column[rows] for slot, column in self.values.items()},
            {part: (relation, of[rows]) for part, (relation, of) in self.facts.items()},
        )


class Answers:
    """What a machine found, for questions."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.database = machine.database
        self.symbols = machine.database.symbols
        code: Code = machine.code
        self._numbers = {predicate: n for n, predicate in enumerate(code.predicates)}
        self._derived = {number for group in code.groups for number in group.predicates}
        self._recursive: dict[object, Tuples] = {}
        self.finder = Finder(machine.database.universe)
        self._ranks: dict[object, tuple[Relation, Rows] | None] = {}

    # The tuples of patterns.

    def is_virtual(self, predicate: Predicate) -> bool:
        """Whether its tuples were never made: they are counted only, or not needed yet."""
        number = self._numbers.get(predicate)
        return number in self._derived and number not in self.machine.done

    def relation(self, predicate: Predicate, view: int = 0) -> Relation:
        """All tuples of a predicate, through a view."""
        number = self._numbers.get(predicate)
        if number is None:
            return self.machine.base(predicate)
        return self.machine.tuples(number, view)

    def rows_of(self, predicate: Predicate, tuples: Relation) -> Rows:
        """The row of each of some tuples among all of a predicate, or -1."""
        whole = self.relation(predicate).part((), ())
        state = State(np.arange(tuples.size), dict(enumerate(tuples.columns)), {})
        left, right = self.pairs(state, whole, [(n, n) for n in range(predicate.arity)])
        rows = np.full(tuples.size, -1, np.intp)
        rows[left] = right
        return rows

    def rounds(self, predicate: Predicate) -> Rows | None:
        """The round in which each tuple was first made; None where there were no rounds."""
        return self.tuples(Pattern(predicate, FULL_VIEW, (None,) * predicate.arity)).rounds

    def tuples(self, pattern: Pattern) -> Tuples:
        """The tuples that have the constants of a pattern, and equal values where it says so."""
        constants, equal, first = [], [], dict[int, int]()
        for column, term in enumerate(pattern.terms):
            if isinstance(term, str):
                constants.append((column, self.symbols.find(term)))
            elif term is not None and first.setdefault(term, column) != column:
                equal.append((first[term], column))
        whole = self.relation(pattern.predicate, pattern.view)
        ends = self.machine.ends.get(self._numbers.get(pattern.predicate, -1))
        if ends is None:
            return Tuples(whole.part(constants, equal))
        key = (pattern.predicate, tuple(constants), tuple(equal))
        found = self._recursive.get(key)
        if found is None:
            rounds = np.repeat(np.arange(1, len(ends) + 1), np.diff(ends, prepend=0))
            keep = np.ones(whole.size, bool)
            for column, value in constants:
                keep &= whole.columns[column] == value
            for one, other in equal:
                keep &= whole.columns[one] == whole.columns[other]
            found = self._recursive[key] = Tuples(whole.where(keep), rounds[keep])
        return found

    # Goals.

    def solve(
        self, goal: Goal, heads: Relation, positions: Sequence[int], before: Rows | None
    ) -> State:
        """One combination for each head that the rule makes.

        `heads` has the values of the head at `positions`. Facts of the head's own group must be
        of a round before that of the head, which `before` tells.
        """
        state = self.begin(goal, heads, positions)
        for part in goal.parts:
            state = self.step(part, state, before)
        return state.take(_first_of_each(state.starts))

    def begin(self, goal: Goal, heads: Relation, positions: Sequence[int]) -> State:
        """The candidates that the head of a rule matches."""
        keep = np.ones(heads.size, bool)
        values: dict[int, Ids] = {}
        for column, position in zip(heads.columns, positions, strict=True):
            term = goal.head[position]
            assert term is not None
            if isinstance(term, str):
                keep &= column == self.symbols.find(term)
            elif term in values:
                keep &= column == values[term]
            else:
                values[term] = column
        return State(np.arange(heads.size), values, {}).take(np.flatnonzero(keep))

    def step(self, part: Part, state: State, before: Rows | None) -> State:
        """What is left after one part, and once for each that later parts can tell apart."""
        self.machine.check_time()
        if part.ask != Ask.FACT:
            return state.take(np.flatnonzero(self.holds(part, state)))
        assert part.pattern is not None
        found = self.tuples(part.pattern)
        keys, new = split_terms(part.pattern.terms, state.values)
        rounds = found.rounds if part.inner and before is not None else None
        only = not any(slot in part.needed for slot, _ in new)
        if only and rounds is None:
            left, right = self._first_rows(state, found.relation, keys)
        else:
            left, right = self.pairs(state, found.relation, keys)
            if rounds is not None and before is not None:
                early = rounds[right] < before[state.starts[left]]
                left, right = left[early], right[early]
            if only:
                first = _first_pairs(left, right)
                left, right = left[first], right[first]
        after = state.take(left)
        after.facts[part.literal] = (found.relation, right)
        for slot, column in new:
            after.values[slot] = found.relation.columns[column][right]
        return after if only else self._trimmed(part, after)

    def _trimmed(self, part: Part, state: State) -> State:
        """One combination for each candidate and values that are still needed."""
        live = [column for slot, column in state.values.items() if slot in part.needed]
        if len(live) == len(state.values) or state.size < 2:
            return state
        rows = _first_of_each(kernels.pack([state.starts.astype(np.int32), *live]))
        return state if len(rows) == state.size else state.take(rows)

    def holds(self, part: Part, state: State) -> Mask:
        """Which combinations pass a part that binds nothing."""
        if part.ask == Ask.TEST:
            assert part.test is not None
            operands = [self._operand(term, state) for term in part.terms]
            return run_test(part.test, self.symbols, operands, state.size)
        counts = self.counts(part, state)
        if part.ask == Ask.ABSENT:
            return np.equal(counts, 0)
        bounds, valid = self.bounds(part, state)
        assert part.compare is not None
        return valid & compare_signs(counts - bounds, part.compare)

    def bounds(self, part: Part, state: State) -> tuple[Rows, Mask]:
        """What counts are compared with; one that is no decimal fails (D9)."""
        operand = self._operand(part.bound, state)
        ids = np.broadcast_to(np.int32(operand), state.size)
        values, big, valid = decimals(self.symbols, ids)
        for row, number in big.items():
            values[row] = max(min(number, 2**62), -(2**62))
        return values, valid

    def counts(self, part: Part, state: State) -> Rows:
        """How many facts match a negated or counted atom."""
        assert part.pattern is not None
        if part.ranked is not None:
            found = self._rank_counts(part.pattern.predicate, part.ranked)
            if found is not None:
                lows, ranks = found
                asked, universe = state.values[part.ranked.key], self.database.universe()
                return kernels.look_up(lows, 0, asked, ranks, universe)
        relation = self.tuples(part.pattern).relation
        keys, _ = split_terms(part.pattern.terms, state.values)
        if len(keys) > 1 or state.size <= FEW_ASKED:
            left, _ = self.pairs(state, relation, keys)
            return np.bincount(left, minlength=state.size)
        asker = Relation([state.values[slot] for slot, _ in keys], state.size)
        pairs = [(n, column) for n, (_, column) in enumerate(keys)]
        return kernels.match_counts(asker, relation, pairs, self.database.universe())

    def _rank_counts(self, predicate: Predicate, ranked: Ranked) -> tuple[Relation, Rows] | None:
        """The counts of a virtual predicate by its key; None when it is to be made after all."""
        if not self.is_virtual(predicate):
            return None
        key = (predicate, ranked.operands, ranked.low, ranked.high)
        if key not in self._ranks:
            operands = ranked.operands
            lows = self._columns(ranked.low, operands.lows)
            highs = lows if operands.same else self._columns(ranked.high, operands.highs)
            unique = is_unique(lows) and (highs is lows or is_unique(highs))
            self._ranks[key] = (
                (lows, rank_counts(self.symbols, lows, highs, operands.ways, 2**62))
                if unique
                else None
            )
        return self._ranks[key]

    def _columns(self, pattern: Pattern, columns: Sequence[int]) -> Relation:
        relation = self.tuples(pattern).relation.keep(columns)
        return kernels.distinct(relation, self.database.universe())

    def _operand(self, term: GoalTerm, state: State) -> Operand:
        if isinstance(term, str):
            return self.symbols.intern(term)
        assert term is not None
        return state.values[term]

    # Facts that agree with combinations.

    def agreeing(self, pattern: Pattern, state: State) -> tuple[Rows, Relation]:
        """Combinations, each with a tuple that agrees with it."""
        relation = self.tuples(pattern).relation
        left, right = self.pairs(state, relation, split_terms(pattern.terms, state.values)[0])
        return left, relation.take(right)

    def pairs(self, state: State, relation: Relation, keys: "Keys") -> tuple[Rows, Rows]:
        """Each combination with each tuple that agrees with it."""
        if state.size <= FEW_ASKED and keys:
            return self._few_pairs(state, relation, keys)
        one = self._cheapest(state, relation, keys) if len(keys) > 1 else None
        used = [keys[one]] if one is not None else keys
        asker = Relation([state.values[slot] for slot, _ in used], state.size)
        name, most = self.machine.limits.rows(Origin.LOCAL)
        columns = [(n, column) for n, (_, column) in enumerate(used)]
        found = kernels.join_rows(asker, relation, columns, self.database.universe(), most)
        if isinstance(found, int):
            raise LimitError(name, most, found, "rows of one join of an explanation")
        left = np.arange(state.size) if found[0] is None else found[0]
        right = found[1]
        if one is not None:
            same = np.ones(len(left), bool)
            for slot, column in keys:
                same &= state.values[slot][left] == relation.columns[column][right]
            left, right = left[same], right[same]
        return left, right

    def _few_pairs(self, state: State, relation: Relation, keys: "Keys") -> tuple[Rows, Rows]:
        columns = [(column, state.values[slot].tolist()) for slot, column in keys]
        found = [
            np.asarray(self.finder.rows(relation, [(c, values[row]) for c, values in columns]))
            for row in range(state.size)
        ]
        left = np.repeat(np.arange(state.size), [len(rows) for rows in found])
        return left, np.concatenate([np.empty(0, np.intp), *found])

    def _cheapest(self, state: State, relation: Relation, keys: "Keys") -> int | None:
        """A column of a key that alone gives few rows; None when sorting by all costs less."""
        least, best = relation.size, None
        for place, (slot, column) in enumerate(keys):
            lookup = relation.lookup(column, self.database.universe())
            count = int(lookup.counts(state.values[slot]).sum())
            if count <= FEW_ROWS * state.size:
                return place
            if count <= least:
                least, best = count, place
        return best

    def _first_rows(self, state: State, relation: Relation, keys: "Keys") -> tuple[Rows, Rows]:
        """Each combination with the first tuple that agrees with it, if there is one."""
        if not keys:
            left = np.arange(state.size if relation.size else 0)
            return left, np.zeros(len(left), np.intp)
        if len(keys) > 1 or state.size <= FEW_ASKED:
            left, right = self.pairs(state, relation, keys)
            first = _first_pairs(left, right)
            return left[first], right[first]
        ((slot, column),) = keys
        lookup = relation.lookup(column, self.database.universe())
        asked = state.values[slot]
        single = lookup.single(asked)
        if single is not None:
            left = np.flatnonzero(single >= 0)
            return left, single[left]
        low, counts = lookup.spans(asked)
        left = np.flatnonzero(counts > 0)
        return left, lookup.ordered(low[left])


Keys = list[tuple[int, int]]
"""A variable that has a value, and the column that must have it too."""


def split_terms(terms: Sequence[GoalTerm], known: Container[int]) -> tuple[Keys, Keys]:
    """The variables of a pattern that have values, and those that do not; each once."""
    keys: Keys = []
    new: Keys = []
    seen: set[int] = set()
    for column, term in enumerate(terms):
        if isinstance(term, int) and term not in seen:
            seen.add(term)
            (keys if term in known else new).append((term, column))
    return keys, new


def _first_of_each(values: Rows) -> Rows:
    """The first row of each value, in the order of rows."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.sort(order[first])


def _first_pairs(left: Rows, right: Rows) -> Rows:
    """Of the pairs of each left row the one with the least right row."""
    order = np.lexsort((right, left))
    ordered = left[order]
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return order[first]
