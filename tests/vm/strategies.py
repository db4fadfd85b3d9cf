"""Random programs that are valid by construction, and random facts that make them collide.

A program is rules and base facts. Predicates stand in layers: a rule reads its
own layer (recursion), lower layers and base facts in positive atoms, and only
lower layers and base facts in negated and counted ones, so that it is stratified.
Tests use the variables that positive atoms bind, so that it is safe.

Hypothesis draws one string of bytes for a program, and each byte makes one choice:
twenty times as fast as a draw for each choice, and it still shrinks, because a
zero byte is always the simplest choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

from lacec.core.predicates import Predicate
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
)
from lacec.syntax.show import show_rule

Row = tuple[str, ...]
Facts = dict[Predicate, list[Row]]
T = TypeVar("T")

NUMBERS = ("0", "1", "-1", "007", "10", "-0", "7", "9" * 18, "9" * 19, "1" + "0" * 30)
TEXTS = (
    *("", "a", "ab", "a/b", "links/x", "links/x/msg", "é", "日本", "👩‍👩", "日本/msg"),
    *("a\0", "a\0b", "\0", "it's", "back\\slash", "aaaaaaaa", "aaaaaaaab", "aaaaaaaa\0"),
)
VALUES = NUMBERS + TEXTS
STARTS = ("", "a", "links/", "a\0", "日", "aaaaaaaa", "aaaaaaaa\0", "👩", "it's")
DELIMITERS = ("", "", "", "/", "./", "//", "日", "本/", "b", "a", "\0", "👩", "\u200d", "x")
ENDS = ("", "", "", "b", "msg", "/msg", "本", "\0", "👩", "aaaaaaaab", "'s")
OPERATORS = ("<", "<=", ">", ">=")
NAMES = ("Group", "Name")
INDEXES = ("0", "1", "2")
VARIABLES = ("X", "Y", "Z", "W", "V", "U")

HAVE, FIELD, LINK = Predicate("Have", 1), Predicate("Field", 4), Predicate("RecordLink", 5)
BASE = (
    *(HAVE, FIELD, LINK, Predicate("Peer", 1), Predicate("TransportEncrypted", 0)),
    *(Predicate("Advertised", 2), Predicate("Edge", 2), Predicate("Edge", 3)),
)
NOTHING = Predicate("Nothing", 2)  # neither facts nor rules


@dataclass(frozen=True)
class Sample:
    """A program and its base facts."""

    rules: tuple[Rule, ...]
    facts: Facts

    @property
    def text(self) -> str:
        return "\n".join(show_rule(rule) for rule in self.rules)

    @property
    def derived(self) -> list[Predicate]:
        return sorted({rule.head.predicate for rule in self.rules})

    def __repr__(self) -> str:
        facts = {str(predicate): rows for predicate, rows in self.facts.items() if rows}
        return f"Sample(\n{self.text}\n{facts}\n)"


class Choices:
    """Choices made by the bytes of a string; when they are used up, the simplest."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def below(self, count: int) -> int:
        return next(self._bytes, 0) % count

    def chance(self, percent: int) -> bool:
        return self.below(256) * 100 >= 256 * (100 - percent)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Distinct options, in any order."""
        left = list(options)
        count = least + self.below(most - least + 1)
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.some(items, len(items), len(items))


def random_choices(size: int) -> st.SearchStrategy[Choices]:
    """Made by so many random bytes, now and then by fewer. To draw each byte by itself would take
    as long as to evaluate a program; a failure is made small by using up the bytes earlier."""

    def some(seed: int, used: int) -> Choices:
        return Choices(Random(seed).randbytes(min(used, size)))

    # Up to 24 bits, hypothesis takes all numbers alike.
    return st.builds(some, st.integers(0, 2**24 - 1), st.integers(0, 16 * size))


def samples() -> st.SearchStrategy[Sample]:
    """Whole programs over base facts."""
    return random_choices(700).map(make_sample)


def rank_samples() -> st.SearchStrategy[Sample]:
    """Counts of comparisons, which lacec/bytecode/rank.py counts by rank."""
    return random_choices(250).map(make_rank_sample)


def lift_samples() -> st.SearchStrategy[Sample]:
    """Rules that share sub-joins, of which bytecode/common_subjoins.py makes predicates."""
    return random_choices(600).map(make_lift_sample)


def wide_samples() -> st.SearchStrategy[Sample]:
    """Programs over many facts of many values, so that columns are sorted and tables grow."""
    return st.builds(make_wide_sample, random_choices(200), st.integers(0, 2**32))


# Facts.


def column_values(predicate: Predicate, column: int, values: Sequence[str]) -> Sequence[str]:
    """What stands in a column: record facts have names and indexes of their own."""
    if predicate in (FIELD, LINK) and column in (1, 2):
        return (NAMES, INDEXES)[column - 1]
    return values


def make_facts(choices: Choices, predicate: Predicate, values: Sequence[str]) -> list[Row]:
    """Some facts of a predicate, now and then one twice."""
    options = [column_values(predicate, c, values) for c in range(predicate.arity)]
    count = choices.pick((6, 8, 10, 12, 14, 5, 7, 9, 2, 0))
    return [tuple(choices.pick(column) for column in options) for _ in range(count)]


def make_base_facts(choices: Choices, values: Sequence[str]) -> Facts:
    return {predicate: make_facts(choices, predicate, values) for predicate in BASE}


# Programs.


@dataclass(frozen=True)
class Scope:
    """What a rule may read, and the values its constants come from."""

    own: tuple[Predicate, ...]
    lower: tuple[Predicate, ...]
    values: Sequence[str]


def make_sample(choices: Choices) -> Sample:
    values = choices.some(NUMBERS if choices.chance(25) else VALUES, 2, 4)
    facts = make_base_facts(choices, values)
    lower: tuple[Predicate, ...] = BASE
    rules: list[Rule] = []
    for number in range(1 + choices.below(3)):
        layer = make_layer(choices, "PQR"[number])
        if choices.chance(10):
            lower = (*lower, NOTHING)
        for predicate in layer:
            scopes = [Scope((), lower, values), Scope(layer, (*lower, *lower[-3:]), values)]
            count = 1 + choices.below(3)
            rules += [make_rule(choices, predicate, scopes[place > 0]) for place in range(count)]
        lower = (*lower, *layer)
    return Sample(tuple(rules), facts)


def make_wide_sample(choices: Choices, seed: int) -> Sample:
    """A few rules of one or two atoms, some of them recursive, over facts from a seed."""
    random = Random(seed)
    values = [*choices.some(VALUES, 0, 6), *(f"v{n}" for n in range(choices.pick((30, 90))))]
    base = (HAVE, FIELD, Predicate("Edge", 2))
    facts: Facts = {}
    for predicate in base:
        columns = [column_values(predicate, c, values) for c in range(predicate.arity)]
        count = choices.pick((70, 90))
        facts[predicate] = [tuple(map(random.choice, columns)) for _ in range(count)]
    path, found = Predicate("Path", choices.pick((2, 1, 3))), Predicate("Found", 2)
    lower = Scope((), base, values)
    rules = [make_rule(choices, path, lower, 1), make_rule(choices, path, lower, 2)]
    if choices.chance(60):
        ends = [make_value(choices, ("X", "Y"), values) for _ in range(path.arity)]
        step = Atom("Path", (Variable("Y"), *[Variable("X")] * (path.arity - 1)))
        body = (step, Atom("Edge", (Variable("Y"), Variable("X"))))
        rules.append(Rule(Atom("Path", tuple(ends)), body))
    scope = Scope((), (*base, path, path), values)
    rules += [make_rule(choices, found, scope, 1 + choices.below(2)) for _ in range(3)]
    return Sample(tuple(rules), facts)


def make_layer(choices: Choices, letter: str) -> tuple[Predicate, ...]:
    """One to three predicates; their names may differ in arity alone (D11)."""
    arities = [choices.pick((2, 1, 1, 2, 2, 3, 0, 4)) for _ in range(1 + choices.below(3))]
    return tuple(dict.fromkeys(Predicate(f"{letter}{n // 2}", a) for n, a in enumerate(arities)))


def make_rule(choices: Choices, head: Predicate, scope: Scope, count: int | None = None) -> Rule:
    """A rule: positive atoms, tests of what they bind, in any order."""
    readable = (*scope.own * 3, *scope.lower)
    if count is None:
        count = choices.pick((1, 2, 2, 3, 2, 1, 3, 0))
    atoms = [
        make_atom(choices, choices.pick(readable), scope.values, VARIABLES) for _ in range(count)
    ]
    bound = sorted({variable.name for atom in atoms for variable in atom.variables})
    tests = [
        choices.pick(TESTS)(choices, scope, bound, number)
        for number in range(choices.pick((0, 0, 1, 1, 2)))
    ]
    body: list[Literal] = [*atoms, *tests] or [Always()]
    terms = tuple(make_value(choices, bound, scope.values) for _ in range(head.arity))
    return Rule(Atom(head.name, terms), tuple(choices.shuffled(body)))


def make_atom(
    choices: Choices, predicate: Predicate, values: Sequence[str], names: Sequence[str]
) -> Atom:
    """An atom of variables with some of these names, wildcards and constants."""
    terms: list[Term] = []
    for column in range(predicate.arity):
        options = column_values(predicate, column, values)
        # A variable for a name or an index seldom agrees with one for a value.
        rare = options is not values and not choices.chance(15)
        if choices.chance(40 if rare else 8):
            terms.append(Constant(choices.pick(options)))
        elif rare or choices.chance(15) or not names:
            terms.append(Anonymous())
        else:
            terms.append(Variable(choices.pick(names)))
    return Atom(predicate.name, tuple(terms))


def make_value(choices: Choices, bound: Sequence[str], values: Sequence[str]) -> Term:
    """A bound variable or, when there is none or by chance, a constant."""
    if not bound or choices.chance(20):
        return Constant(choices.pick(values))
    return Variable(choices.pick(bound))


def make_two_values(
    choices: Choices, bound: Sequence[str], values: Sequence[str]
) -> tuple[Term, Term]:
    """Two values to compare, seldom one variable with itself."""
    left = make_value(choices, bound, values)
    others = [name for name in bound if Variable(name) != left]
    return left, make_value(choices, bound if choices.chance(10) else others, values)


# The tests of a body. Each takes the scope, the bound variables, and its number in the body.


def make_always(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    del choices, scope, bound, number
    return Always()


def make_negated(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    del number
    return Negated(make_atom(choices, choices.pick(scope.lower), scope.values, bound))


def make_unequal(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    del number
    return Unequal(*make_two_values(choices, bound, scope.values))


def make_int_compare(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    del scope, number
    left, right = make_two_values(choices, bound, NUMBERS)
    return Atom("IntCompare", (left, make_operator(choices), right))


def make_lex_compare(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    del scope, number
    left, right = make_two_values(choices, bound, VALUES)
    return Atom("LexCompare", (left, make_operator(choices), right))


def make_text_shape(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    """Start and End are short constants, or a bound variable like any other term."""
    del number
    text = make_value(choices, bound, (*scope.values, *TEXTS))
    start = make_value(choices, bound if choices.chance(25) else (), STARTS)
    end = make_value(choices, bound if choices.chance(25) else (), ENDS)
    return Atom("TextShape", (text, start, Constant(choices.pick(DELIMITERS)), end))


def make_cardinality(choices: Choices, scope: Scope, bound: Sequence[str], number: int) -> Literal:
    """A count; its local variables are its own, and may stand in it twice (D7)."""
    names = (*bound, f"L{number}", f"M{number}")
    atom = make_atom(choices, choices.pick(scope.lower), scope.values, names)
    bounds = ("1", "2", "0", "3", "-1", "007", "9" * 30, "-" + "9" * 30)
    limit = make_value(choices, bound if choices.chance(25) else (), bounds)
    return Cardinality(atom, make_operator(choices), limit)


def make_operator(choices: Choices) -> Constant:
    return Constant(choices.pick(OPERATORS))


TESTS: Sequence[Callable[[Choices, Scope, Sequence[str], int], Literal]] = (
    *(make_always, make_unequal, make_negated, make_cardinality),
    *(make_int_compare, make_lex_compare, make_text_shape),
)


# Counts of comparisons.


def make_rank_sample(choices: Choices) -> Sample:
    """Newer(P,Q) by one to three comparisons, and counts of it around the true number."""
    values = choices.some(NUMBERS if choices.chance(40) else VALUES, 2, 8)
    names = choices.pick((("Item", "Item"), ("Item", "Item"), ("Item", "Other")))
    arity = choices.pick((2, 2, 1, 3))
    facts: Facts = {}
    for name in names:
        facts[Predicate(name, arity)] = make_keyed_facts(choices, arity, values)
    shapes = {name: make_shape(choices, arity, values) for name in sorted(set(names))}
    rules = [
        make_comparison(choices, *((name, shapes[name]) for name in names))
        for _ in range(choices.pick((1, 2, 2, 3)))
    ]
    bounds = (*(str(n) for n in range(-1, 8)), "03", "x", "9" * 25)
    facts[Predicate("Outer", 2)] = [
        (choices.pick(values), choices.pick(bounds)) for _ in range(1 + choices.below(8))
    ]
    rules.extend(make_ranked_count(choices, number) for number in range(1 + choices.below(3)))
    return Sample(tuple(rules), facts)


def make_keyed_facts(choices: Choices, arity: int, values: Sequence[str]) -> list[Row]:
    """Facts whose first value is a key, mostly: then it has one fact."""
    rows = [tuple(choices.pick(values) for _ in range(arity)) for _ in range(1 + choices.below(10))]
    return rows if choices.chance(25) else list({row[0]: row for row in rows}.values())


def make_shape(choices: Choices, arity: int, values: Sequence[str]) -> list[str | None]:
    """Constants in some columns after the key, the same in all rules; None for a variable."""
    return [
        choices.pick(values) if column and choices.chance(8) else None for column in range(arity)
    ]


def make_comparison(
    choices: Choices,
    low: tuple[str, Sequence[str | None]],
    high: tuple[str, Sequence[str | None]],
) -> Rule:
    """A rule for Newer: two atoms, perhaps joined, and one comparison between them."""

    def atom(name: str, shape: Sequence[str | None], names: Sequence[str]) -> Atom:
        terms: list[Term] = [
            Variable(variable) if text is None else Constant(text)
            for variable, text in zip(names, shape, strict=False)
        ]
        return Atom(name, tuple(terms))

    one = atom(*low, ("P", "T1", "T2"))
    two = atom(*high, ("Q", "U1", "U2"))
    mine, others = list(one.variables)[1:], list(two.variables)[1:]
    if mine and others and choices.chance(40):
        here, there = choices.pick(mine), choices.pick(others)
        two = Atom(two.name, tuple(here if term == there else term for term in two.terms))
    if mine and choices.chance(10):
        one = Atom(one.name, (*one.terms[:-1], Anonymous()))
    if others and choices.chance(10):  # a key in both atoms, or twice in one
        there = choices.pick(others)
        key = Variable(choices.pick("PQ"))
        two = Atom(two.name, tuple(key if term == there else term for term in two.terms))
    left: Term = choices.pick(list(one.variables)[::-1])
    right: Term = choices.pick(list(two.variables)[::-1])
    if choices.chance(10):  # a comparison within one atom, or with a constant
        options: list[Term] = [Constant("7"), *one.variables]
        right = choices.pick(options)
    if choices.chance(40):
        left, right = right, left
    kind = choices.pick(("LexCompare", "IntCompare"))
    body: list[Literal] = [one, two, Atom(kind, (left, make_operator(choices), right))]
    if choices.chance(4):
        body.append(Always())
    head: list[Term] = [Variable("P"), Variable("Q")]
    if choices.chance(20):
        head.reverse()
    if choices.chance(6):
        head[choices.below(2)] = choices.pick([Constant("a"), *head])
    return Rule(Atom("Newer", tuple(head)), tuple(choices.shuffled(body)))


def make_ranked_count(choices: Choices, number: int) -> Rule:
    """A count of Newer by its first or its second argument."""
    locals: tuple[Term, ...] = (Variable("L"), Anonymous())
    keys: tuple[Term, ...] = (Variable("K"), Variable("K"), Variable("K"), Constant("a"))
    local, key = choices.pick(locals), choices.pick(keys)
    terms = (local, key) if choices.chance(50) else (key, local)
    constants = ("1", "2", "3", "4", "5", "6", "7", "8", "0", "-1", "9" * 25, "-" + "9" * 25)
    bound = Variable("N") if choices.chance(30) else Constant(choices.pick(constants))
    test = Cardinality(Atom("Newer", terms), make_operator(choices), bound)
    outer = Atom("Outer", (Variable("K"), Variable("N")))
    return Rule(Atom(f"Few{number}", (Variable("K"), Variable("N"))), (outer, test))


# Shared sub-joins.


def make_lift_sample(choices: Choices) -> Sample:
    """Rules that begin with the same atoms of one variable, under names of their own."""
    values = choices.some(VALUES, 2, 3)
    facts = make_base_facts(choices, values)
    helper = Predicate("Helper", 2)
    scope = Scope((), (*BASE, helper), values)
    rules = [make_rule(choices, helper, Scope((), BASE, values)) for _ in range(2)]
    clusters = [make_cluster(choices, scope) for _ in range(1 + choices.below(2))]
    for number in range(2 + choices.below(3)):
        body: list[Literal] = []
        for variable in choices.pick((("X",), ("Y",), ("X", "Y"))):
            cluster = choices.pick(clusters)
            body.extend(rename(atom, variable, number, n) for n, atom in enumerate(cluster))
        names = sorted({v.name for atom in body if isinstance(atom, Atom) for v in atom.variables})
        if not choices.chance(25):
            names = [name for name in names if name in ("X", "Y")]
        if choices.chance(40):
            readable = choices.pick((Predicate("Main0", 2), *scope.lower))
            body.append(make_atom(choices, readable, values, names))
        if choices.chance(40):
            body.append(choices.pick(TESTS)(choices, scope, names, number))
        head = tuple(make_value(choices, names, values) for _ in range(2))
        rules.append(Rule(Atom(f"Main{number % 3}", head), tuple(choices.shuffled(body))))
    return Sample(tuple(rules), facts)


def make_cluster(choices: Choices, scope: Scope) -> list[Atom]:
    """Two or three atoms that all hold V; their other variables are their own."""
    found = []
    readable = [predicate for predicate in scope.lower if predicate.arity]
    for number in range(2 + choices.below(2)):
        predicate = choices.pick(readable)
        atom = make_atom(choices, predicate, scope.values, (f"I{number}", f"J{number}"))
        terms = list(atom.terms)
        columns = (0, 3) if predicate in (FIELD, LINK) else range(predicate.arity)
        terms[choices.pick(columns)] = Variable("V")
        found.append(Atom(atom.name, tuple(terms)))
    return found


def rename(atom: Atom, variable: str, rule: int, place: int) -> Atom:
    """The same atom with its variable called otherwise, and its own variables too."""

    def renamed(term: Term) -> Term:
        if not isinstance(term, Variable):
            return term
        if term.name == "V":
            return Variable(variable)
        return Variable(f"{term.name}{'abcd'[rule]}{place}{variable}")

    return Atom(atom.name, tuple(renamed(term) for term in atom.terms))
