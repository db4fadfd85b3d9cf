"""Random operand pairs, exposures and pairs of stores that one view cannot tell apart.

An operand is valid by construction, as the programs of tests/vm/strategies.py are: layers
of helpers over record, runtime and advertisement facts, then the two exported predicates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from lacec.core.limits import Limits
from lacec.core.predicates import ADVERTISEMENT_FACTS, RECORD_FACTS, RUNTIME_FACTS, Predicate
from lacec.syntax.ast import Atom, Cardinality, Literal, Negated, Rule, Variable
from lacec.syntax.show import show_constant, show_rule
from tests.vm.strategies import (
    FIELD,
    HAVE,
    LINK,
    TESTS,
    Choices,
    Facts,
    Row,
    Scope,
    column_values,
    make_atom,
    make_layer,
    make_rule,
    random_choices,
)

VALUES = ("a", "b", "c", "d", "e", "1", "2", "links/x", "é")
HIDDEN = tuple(f"hidden{n}" for n in range(8))
PUBLIC = (*RUNTIME_FACTS, *ADVERTISEMENT_FACTS)
READABLE = (
    *(HAVE, FIELD, FIELD, LINK, Predicate("BlobHash", 2), Predicate("PlexHash", 2)),
    *(Predicate("Peer", 1), Predicate("TransportEncrypted", 0), Predicate("Advertised", 2)),
)
EXPORTS = (Predicate("SelectHave", 1), Predicate("SelectAdvertised", 2))
ALLOW = Predicate("AllowQueryRecord", 2)
ANCHORS: dict[Predicate, tuple[str, tuple[Variable, ...]]] = {
    EXPORTS[0]: ("Have", (Variable("P"),)),
    EXPORTS[1]: ("Advertised", (Variable("P"), Variable("S"))),
}
MARK = "X"  # a group that hidden records never have


@dataclass(frozen=True)
class Pair:
    """Two operands, what is exposed, and two stores that agree on that view and all else public."""

    side: int
    own: str
    peer: str
    exposures: tuple[str, ...]
    narrowed: bool
    one: Facts
    other: Facts
    limits: Limits
    many: int
    all_outputs: bool

    @property
    def texts(self) -> tuple[str, str]:
        return (self.own, self.peer) if self.side == 0 else (self.peer, self.own)

    def __repr__(self) -> str:
        shown = [f"own (operand {self.side}, narrowed {self.narrowed}):\n{self.own}"]
        shown += [f"peer:\n{self.peer}", "exposes:\n" + "\n".join(self.exposures)]
        for name, facts in (("one", self.one), ("other", self.other)):
            shown.append(f"{name}: { {str(p): rows for p, rows in facts.items() if rows} }")
        return "\n".join([*shown, f"{self.limits} many={self.many}", ""])


def text_of(rules: Sequence[Rule]) -> str:
    return "\n".join(show_rule(rule) for rule in rules)


def make_operand(choices: Choices, values: Sequence[str]) -> tuple[Rule, ...]:
    """Helpers in layers, some recursive, and one or two rules for each export."""
    lower: tuple[Predicate, ...] = READABLE
    rules: list[Rule] = []
    for number in range(1 + choices.below(2)):
        layer = make_layer(choices, "GH"[number])
        for predicate in layer:
            scopes = [Scope((), lower, values), Scope(layer, (*lower, *lower[-3:]), values)]
            count = 1 + choices.below(2)
            rules += [make_rule(choices, predicate, scopes[place > 0]) for place in range(count)]
        lower = (*lower, *layer, *layer)
    for export in EXPORTS:
        scope = Scope((), lower, values)
        make = make_rule if choices.chance(20) else make_export
        rules += [make(choices, export, scope) for _ in range(1 + choices.below(2))]
    return tuple(rules)


def make_export(choices: Choices, export: Predicate, scope: Scope) -> Rule:
    """What is stored, or advertised, and passes a few tests."""
    anchor = Atom(*ANCHORS[export])
    names = [variable.name for variable in anchor.variables]
    body: list[Literal] = [anchor]
    for _ in range(choices.pick((1, 0, 0, 2))):
        predicate = choices.pick(scope.lower)
        body.append(make_atom(choices, predicate, scope.values, (*names, "X")))
    tests = range(choices.pick((1, 2, 0)))
    body += [choices.pick(TESTS)(choices, scope, names, number) for number in tests]
    return Rule(Atom(export.name, anchor.terms), tuple(choices.shuffled(body)))


def make_exposure(choices: Choices, values: Sequence[str]) -> tuple[Rule, ...]:
    """A helper over all facts, and one or two rules that expose to whoever the peer is."""
    helper = Predicate("Open", 1)
    scope = Scope((), READABLE, values)
    rules = [make_rule(choices, helper, scope, 1 + choices.below(2))]
    wider = Scope((), (*READABLE, helper, helper), values)
    for _ in range(1 + choices.below(2)):
        rule = make_export(choices, EXPORTS[0], wider)
        head = Atom(ALLOW.name, (Variable("V"), Variable("P")))
        rules.append(Rule(head, (Atom("_Viewer", (Variable("V"),)), *rule.body)))
    return tuple(rules)


@dataclass(frozen=True)
class Setup:
    """A side: two operands, its exposures, how its own operand is narrowed, one store."""

    side: int
    operands: tuple[str, str]
    exposures: tuple[str, ...]
    narrow: tuple[str, ...]
    facts: Facts


def make_setup(choices: Choices) -> Setup:
    values = choices.some(VALUES, 2, 4)
    facts: Facts = {p: make_rows(choices, p, values, values, 6) for p in (*RECORD_FACTS, *PUBLIC)}
    exposures = [text_of(make_exposure(choices, values)) for _ in range(choices.pick((1, 2, 1, 0)))]
    narrow = [text_of(make_exposure(choices, values)) for _ in range(choices.pick((0, 0, 1)))]
    operands = (text_of(make_operand(choices, values)), text_of(make_operand(choices, values)))
    return Setup(choices.below(2), operands, tuple(exposures), tuple(narrow), facts)


def setups() -> st.SearchStrategy[Setup]:
    return random_choices(900).map(make_setup)


def make_rows(
    choices: Choices, predicate: Predicate, records: Sequence[str], values: Sequence[str], most: int
) -> list[Row]:
    """Facts of some records; their other columns are any values."""
    if not records:
        return []
    columns = [column_values(predicate, c, values) for c in range(predicate.arity)]
    if predicate in RECORD_FACTS:
        columns[0] = records
    return [tuple(choices.pick(column) for column in columns) for _ in range(choices.below(most))]


def make_pair(choices: Choices, narrowed: bool, by_group: bool) -> Pair:
    values = choices.some(VALUES, 2, 5)
    visible = choices.some(values, 0, len(values) - 1)
    hidden = [value for value in values if value not in visible] + list(HIDDEN)
    shared: Facts = {p: make_rows(choices, p, values, values, 4) for p in PUBLIC}
    seen: Facts = {p: make_rows(choices, p, visible, values, 7) for p in RECORD_FACTS}
    if by_group:
        seen[FIELD] += [(record, "Group", "0", MARK) for record in visible]
        exposures = [f"AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'{MARK}')."]
    else:
        granted = [f"AllowQueryRecord(V,{show_constant(r)}) :- _Viewer(V)." for r in visible]
        exposures = ["\n".join(granted or ["AllowQueryRecord(V,'nobody') :- _Viewer(V)."])]
    wide = choices.chance(20)
    if wide:
        exposures.append("AllowQueryRecord(V,P) :- _Viewer(V), Has(P).\n" + _HAS)
    stores = []
    for _ in range(2):
        most = choices.pick((1, 5, 12))
        private = {p: make_rows(choices, p, hidden, values, most) for p in RECORD_FACTS}
        stores.append(shared | {p: seen[p] + private[p] for p in RECORD_FACTS})
    peer = text_of(make_operand(choices, (*values, choices.pick(HIDDEN))))
    own = text_of(make_operand(choices, values)) if narrowed else make_harmless(visible)
    # What an exposure module over all facts costs, local rules cost: they meet no limit here.
    limits = Limits(
        intermediate_rows=2**26 if wide else choices.pick((2**26, 2**26, 3, 8)),
        peer_intermediate_rows=choices.pick((2**24, 3, 6, 20)),
        derived_facts=2**22 if wide else choices.pick((2**22, 2**22, 2, 6)),
        iterations=choices.pick((1000, 1000, 2, 3)),
    )
    sizes = choices.pick((0, 20_000, 10, 18, 26, 34))
    return Pair(
        choices.below(2),
        own,
        peer,
        tuple(exposures),
        narrowed,
        stores[0],
        stores[1],
        limits,
        sizes,
        choices.chance(50),
    )


# True of every record that has a fact, and so no narrower than what it is intersected with.
_HAS = "\n".join(
    f"Has(P) :- {predicate.name}({','.join(['P', *'_' * (predicate.arity - 1)])})."
    for predicate in RECORD_FACTS
)


def make_harmless(visible: Sequence[str]) -> str:
    """An operand over all facts that says nothing of records outside the view."""
    names = [show_constant(record) for record in visible]
    rules = [f"SelectHave({name}) :- Have({name})." for name in names]
    rules += [f"SelectHave({name}) :- not Field({name},'Group',_,'a')." for name in names[:1]]
    nothing = ["SelectHave(P) :- Peer(P)."]
    return "\n".join([*(rules or nothing), "SelectAdvertised(P,S) :- Advertised(P,S)."])


def make_open_pair(choices: Choices) -> Pair:
    """A pair with an own operand over all facts that may declassify, and without tight limits.

    Most of its atoms are of the record that is selected, so that often it does not.
    """
    pair = make_pair(choices, narrowed=False, by_group=choices.chance(50))
    scope = Scope((), (HAVE, FIELD, Predicate("BlobHash", 2), Predicate("Peer", 1)), VALUES[:4])
    rules = [make_export(choices, export, scope) for export in (EXPORTS[0], *EXPORTS)]
    own = text_of([about_itself(choices, rule) for rule in rules])
    return replace(pair, own=own, limits=Limits(), many=20_000)


def about_itself(choices: Choices, rule: Rule) -> Rule:
    """The rule with most of its record atoms about the record of its head."""
    record = rule.head.terms[0]

    def atom(of: Atom) -> Atom:
        if of.predicate not in RECORD_FACTS or choices.chance(10):
            return of
        return Atom(of.name, (record, *of.terms[1:]))

    def literal(part: Literal) -> Literal:
        match part:
            case Atom():
                return atom(part)
            case Negated(inner):
                return Negated(atom(inner))
            case Cardinality(inner, operator, bound):
                return Cardinality(atom(inner), operator, bound)
        return part

    return Rule(rule.head, tuple(literal(part) for part in rule.body))


def open_pairs() -> st.SearchStrategy[Pair]:
    return random_choices(1400).map(make_open_pair)


def pairs(narrowed: bool, by_group: bool) -> st.SearchStrategy[Pair]:
    return random_choices(900).map(lambda made: make_pair(made, narrowed, by_group))
