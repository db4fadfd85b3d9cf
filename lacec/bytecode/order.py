"""Join order: which positive atom of a body comes next.

Sizes are used where they are known (facts were given); otherwise constants make
an atom small. An atom that binds nothing new is a filter and comes first; a
product comes last.
"""

from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from lacec.core.origins import Reading
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.syntax.ast import Atom, Constant

Sizes = Callable[[Predicate, tuple[tuple[int, str], ...], Reading], int | None]
"""How many tuples of a predicate have these constants in these columns; None if not known.

They are those that a rule with this reading sees: the order of a peer's joins, and so the
limits that they meet, must not tell of facts outside its view.
"""

# Without facts: record facts are many, what rules derive from them is less, a constant picks few.
RECORDS, OTHERS, PICKED = 1_000_000.0, 10_000.0, 30.0


class Choice(NamedTuple):
    """An atom that may come next: its place, the variables that something else needs, its size."""

    place: int
    needed: frozenset[str]
    size: float


def constants_of(atom: Atom) -> tuple[tuple[int, str], ...]:
    return tuple(
        (column, term.value) for column, term in enumerate(atom.terms) if isinstance(term, Constant)
    )


def estimate(
    predicate: Predicate,
    constants: tuple[tuple[int, str], ...],
    sizes: Sizes | None,
    reading: Reading,
) -> float:
    """How many tuples an atom has: the known size, or a guess."""
    known = sizes(predicate, constants, reading) if sizes is not None else None
    if known is not None:
        return known
    guess = RECORDS if predicate in RECORD_FACTS else OTHERS
    return guess / PICKED ** len(constants)


def next_atom(choices: Iterable[Choice], bound: Set[str]) -> Choice:
    """The best atom to join to what is bound so far; the smallest to begin with."""

    def cost(choice: Choice) -> tuple[int, float, int]:
        place, needed, size = choice
        if not needed:
            rank = 0  # a question of yes or no
        elif needed <= bound:
            rank = 1  # a filter
        else:
            rank = 3 if bound and needed.isdisjoint(bound) else 2
        return rank, size, place

    return min(choices, key=cost)
