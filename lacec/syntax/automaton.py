"""The LALR automaton over the saved tables: the tokens of a line into its node.

In: tokens. Out: the node of the line, or where the automaton is stuck and which
kinds of token it could have taken there.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lacec.syntax.ast import (
    Always,
    Annotation,
    Anonymous,
    Atom,
    Cardinality,
    Comment,
    Constant,
    Line,
    Negated,
    Rule,
    Unequal,
    Variable,
)
from lacec.syntax.lexer import RawToken
from lacec.syntax.tables import ACTIONS, GOTOS, RULES

_ESCAPE = re.compile(r"\\(.)")


def _constant(token: RawToken) -> Constant:
    _, text, start, end = token
    value = text[1:-1]
    return Constant(_ESCAPE.sub(r"\1", value) if "\\" in value else value, (start, end))


def _next(values: list[Any]) -> Any:
    values[0].append(values[2])
    return values[0]


# What an alternative of one symbol makes of that symbol's value.
UNIT: dict[str, Callable[[Any], Any]] = {
    "comment": lambda token: Comment(token[1]),
    "annotation": lambda token: Annotation(token[1], token[2:]),
    "first": lambda value: [value],
    "positive": lambda value: value,
    "always": lambda _: Always(),
    "variable": lambda token: Variable(token[1], token[2:]),
    "anonymous": lambda token: Anonymous(token[2:]),
    "constant": _constant,
    "name": lambda token: token,
}

# What every other alternative makes of the values of its symbols.
BUILD: dict[str, Callable[[list[Any]], Any]] = {
    "blank": lambda _: Comment(""),
    "rule": lambda v: Rule(v[0], tuple(v[2])),
    "next": _next,
    "negated": lambda v: Negated(v[1]),
    "unequal": lambda v: Unequal(v[0], v[2]),
    "cardinality": lambda v: Cardinality(v[2], v[4], v[6]),
    "atom": lambda v: Atom(v[0][1], tuple(v[2]), (v[0][2], v[3][3])),
    "atom_empty": lambda v: Atom(v[0][1], (), (v[0][2], v[2][3])),
}
_REDUCTIONS = tuple(
    (symbol, length, UNIT[action] if length == 1 else BUILD[action])
    for symbol, length, action in RULES
)

Step = tuple[int, Callable[[Any], Any] | None]


def _step(origin: int, target: int) -> Step:
    """A move to a state, taken at once through states that only reduce one symbol.

    Nothing is lost by not looking at the next token there: the state after the
    reduction takes it or is stuck on it.
    """
    build: Callable[[Any], Any] | None = None
    while len(set(ACTIONS[target].values())) == 1:
        (action,) = set(ACTIONS[target].values())
        if action >= 0 or _REDUCTIONS[-1 - action][1] != 1 or RULES[-1 - action][0] == "line":
            break
        symbol, _, unit = _REDUCTIONS[-1 - action]
        if RULES[-1 - action][2] not in ("positive", "name"):
            build = unit if build is None else _compose(build, unit)
        target = GOTOS[origin][symbol]
    return target, build


def _compose(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: then(first(value))


_SHIFTS = tuple(
    {kind: _step(state, target) for kind, target in row.items() if target >= 0}
    for state, row in enumerate(ACTIONS)
)
_GOTOS = tuple(
    {symbol: _step(state, target) for symbol, target in row.items()}
    for state, row in enumerate(GOTOS)
)


@dataclass(frozen=True, slots=True)
class Stuck:
    """Where the automaton stopped, and which kinds of token it could have taken."""

    index: int
    expected: frozenset[str]


def run(tokens: Sequence[RawToken]) -> Line | Stuck:
    """Shift and reduce until the line is one node, or no action fits."""
    state = 0
    states = [0]
    values: list[Any] = []
    index = 0
    token = tokens[0]
    while True:
        step = _SHIFTS[state].get(token[0])
        if step is not None:
            state, build = step
            states.append(state)
            values.append(token if build is None else build(token))
            index += 1
            token = tokens[index]
            continue
        action = ACTIONS[state].get(token[0])
        if action is None:
            return Stuck(index, _expected(states))
        symbol, length, reduce = _REDUCTIONS[-1 - action]
        if length == 1:
            node = reduce(values.pop())
            states.pop()
        elif length:
            node = reduce(values[-length:])
            del values[-length:], states[-length:]
        else:
            node = reduce([])
        if symbol == "line":
            return node  # type: ignore[no-any-return]
        state, build = _GOTOS[states[-1]][symbol]
        states.append(state)
        values.append(node if build is None else build(node))


def _expected(states: list[int]) -> frozenset[str]:
    """The kinds of token that can be shifted after the reductions they ask for."""
    return frozenset(kind for kind in ACTIONS[states[-1]] if _can_shift(states, kind))


def _can_shift(states: list[int], kind: str) -> bool:
    states = list(states)
    while True:
        action = ACTIONS[states[-1]].get(kind)
        if action is None:
            return False
        if action >= 0:
            return True
        symbol, length, _ = _REDUCTIONS[-1 - action]
        if symbol == "line":
            return True
        del states[len(states) - length :]
        states.append(GOTOS[states[-1]][symbol])
