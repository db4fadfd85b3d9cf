"""Near-misses: a predicate that nobody defines, one letter or some arguments off one that exists.

Such an atom is legal, and matches nothing (030: no facts and no rules, an empty
extension), which is seldom meant. Names are compared through the words got by
leaving out one letter, so the cost does not grow with the number of pairs.
"""

import re
from collections.abc import Iterable, Iterator

from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic
from lacec.core.predicates import (
    BASE,
    BUILTIN_ARITY,
    EXPOSE_EXPORTS,
    GENERATED,
    SELECTOR_EXPORTS,
    Predicate,
)
from lacec.syntax.ast import Atom, body_atoms

# Longer names are not compared: each has as many neighbours as letters.
LONGEST = 64
SHORTEST = 4
MOST_ARITIES = 3
_DIGITS = re.compile("[0-9]+")


def check_spelling(program: Program) -> Iterator[Diagnostic]:
    known = {*BASE, *program.defined, *program.facet.exports, *GENERATED}
    known.update(Predicate(*builtin) for builtin in BUILTIN_ARITY.items())
    read: set[Predicate] = set()
    read.update(*(rule.rule.read for rule in program.rules))
    strange = {each for each in read - known if each.name not in BUILTIN_ARITY}
    if not strange:
        return
    suspects = [
        (rule, atom)
        for rule in program.rules
        if not strange.isdisjoint(rule.rule.read)
        for atom in body_atoms(rule.rule)
        if atom.predicate in strange
    ]
    arities: dict[str, set[int]] = {}
    for predicate in [*program.defined, *BASE]:
        arities.setdefault(predicate.name, set()).add(predicate.arity)
    spelling = Spelling([*arities, *BUILTIN_ARITY])
    reserved = {p.name for p in (*SELECTOR_EXPORTS, *EXPOSE_EXPORTS, *GENERATED)}
    for rule, atom in suspects:
        if atom.name in arities:
            if not rule.repaired:  # a mended rule may have lost an argument
                said = _wrong_arity(atom, arities[atom.name])
                yield rule.diagnostic("wrong-arity", atom.span, *said)
            continue
        close = None if atom.name in reserved else spelling.nearest(atom.name)
        if close is not None:
            yield rule.diagnostic(
                "misspelt-predicate",
                atom.name_span,
                f"nothing defines `{atom.predicate}`, so this atom matches nothing",
                f"did you mean `{close}`?",
            )


def _wrong_arity(atom: Atom, arities: set[int]) -> tuple[str, str]:
    few = sorted(arities)[:MOST_ARITIES]
    listed = " or ".join(map(str, few)) + (" or more" if len(arities) > len(few) else "")
    listed += " argument" if listed == "1" else " arguments"
    message = (
        f"`{atom.name}` takes {listed}, here it has {len(atom.terms)}: "
        f"`{atom.predicate}` is another predicate, and nothing defines it"
    )
    form = next((text for p, text in BASE.items() if p.name == atom.name), None)
    return message, form or f"give it {listed}; `_` stands for one that does not matter"


class Spelling:
    """Known words by each of the words one letter shorter."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_neighbour: dict[str, str] = {}
        for word in words:
            if SHORTEST <= len(word) <= LONGEST:
                for neighbour in _neighbours(word):
                    self._by_neighbour.setdefault(neighbour, word)

    def nearest(self, word: str) -> str | None:
        if not SHORTEST <= len(word) <= LONGEST:
            return None
        found = (self._by_neighbour.get(neighbour) for neighbour in _neighbours(word))
        return next((known for known in found if known is not None and _differ(known, word)), None)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """A known word that differs by a letter added, left out, replaced or swapped with the next."""
    return Spelling(known).nearest(word)


def _differ(known: str, word: str) -> bool:
    """Whether two words differ in more than their digits: those are seldom mistyped."""
    return _DIGITS.sub("", known) != _DIGITS.sub("", word)


def _neighbours(word: str) -> Iterator[str]:
    word = word.lower()
    yield word
    for i in range(len(word)):
        yield word[:i] + word[i + 1 :]
