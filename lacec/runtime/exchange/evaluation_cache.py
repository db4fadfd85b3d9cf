"""What a side found over its store, kept from one loop and one exchange to the next.

In: what an answer depends on. Out: the answer that was given to the same before, if any.
A moment of a store never changes, so that the same question about it has the same answer;
when the store has moved on, all is forgotten. Of each kind a few are kept, no more.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.plan.lower import SideProgram
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.events import Evaluated
from lacec.syntax.ast import body_atoms

# An exchange evaluates with what it knew of the peer, and then with what the peer says.
MOST = 3


class Evaluation(NamedTuple):
    """What an evaluation depends on beside the moment."""

    program: "Program"
    runtime: frozenset[tuple[str, ...]]  # of the facts that the program reads
    advertised: Claims
    limits: Limits

    def is_same(self, other: "Evaluation") -> bool:
        """Programs and claims are compared as objects: who finds them equal keeps the first."""
        one, two = self.advertised, other.advertised
        return (
            self.program is other.program
            and (one is two or not (one or two))
            and self.runtime == other.runtime
            and self.limits == other.limits
        )


class Program:
    """The program of a side, and the predicates that it reads."""

    def __init__(self, side: SideProgram) -> None:
        self.side = side
        self.reads = {atom.predicate for rule in side.rules for atom in body_atoms(rule.node)}

    def evaluation(
        self, runtime: Sequence[Sequence[str]], advertised: Claims, limits: Limits
    ) -> Evaluation:
        facts = (fact for fact in runtime if Predicate(fact[0], len(fact) - 1) in self.reads)
        return Evaluation(self, frozenset(map(tuple, facts)), advertised, limits)


class Description(NamedTuple):
    hashes: AbstractSet[str]
    source: str
    schema: Schema


class Memory:
    """Of one store, for one exchange after the other; never for two at once in two threads."""

    def __init__(self) -> None:
        self._programs: list[Program] = []
        self._moment: object = None
        self._evaluated: list[tuple[Evaluation, Evaluated]] = []
        self._described: list[tuple[Description, Claims]] = []

    def _at(self, moment: object) -> None:
        if moment is not self._moment:
            self._moment = moment
            self._evaluated, self._described = [], []

    def program(self, side: SideProgram) -> Program:
        """A program; if there was the same before, that one."""
        known = next((each for each in self._programs if each.side == side), None)
        others = [each for each in self._programs if each is not known]
        self._programs = [known or Program(side), *others][:MOST]
        return self._programs[0]

    def evaluated(self, moment: object, key: Evaluation) -> Evaluated | None:
        self._at(moment)
        for kept in self._evaluated:
            if kept[0].is_same(key):
                self.keep_evaluated(moment, *kept)
                return kept[1]
        return None

    def keep_evaluated(self, moment: object, key: Evaluation, found: Evaluated) -> None:
        self._at(moment)
        others = [kept for kept in self._evaluated if kept[0] is not key]
        self._evaluated = [(key, found), *others][:MOST]

    def described(self, moment: object, key: Description) -> Claims | None:
        self._at(moment)
        return next((found for kept, found in self._described if kept == key), None)

    def keep_described(self, moment: object, key: Description, found: Claims) -> None:
        self._at(moment)
        self._described = [(key, found), *self._described][:MOST]
