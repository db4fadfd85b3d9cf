"""What a side discloses under its policy: what the peer's rules see, and what its own let through.

In: the program of a side, and facts when numbers are wanted. Out: an audit. A peer's
operand observes record facts through its view, atom by atom. A *declassification* is a
local rule that makes behaviour the peer can see (what is sent, requested, exposed) depend
on facts of records that the peer may not query: allowed, and this side's to know (040).

What a local rule reads of the very record that it selects or exposes is none as long as
the peer can query that record too. A record that it names by itself, in a rule or by
advertising it, need not be one: that it is here is known-hash possession, what is in it
is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lacec.bytecode.order import constants_of
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import FULL_VIEW
from lacec.core.predicates import ADVERTISEMENT_FACTS, RECORD_FACTS, RUNTIME_FACTS, Predicate
from lacec.engine.side import HAVE, evaluate_side
from lacec.plan.lower import (
    ALLOW,
    CAN_QUERY,
    MAY_REQUEST,
    MAY_SEND,
    LoweredRule,
    SideProgram,
    scope_of,
)
from lacec.syntax.ast import (
    Anonymous,
    Atom,
    Cardinality,
    Constant,
    Negated,
    Term,
    Variable,
    body_atoms,
)
from lacec.vm.arrays import members, unique
from lacec.vm.database import Database
from lacec.vm.relation import Relation
from lacec.vm.view import View, Viewed

# 050: these cannot be prevented, whatever the policy is.
ALWAYS = (
    "known-hash possession: asking, or not asking, for a hash that the peer advertises",
    "plan identifiers",
    "set sizes and roots in partition summaries",
    "the timing of loops",
)
SELECT_HAVE, SELECT_ADVERTISED = Predicate("SelectHave", 1), Predicate("SelectAdvertised", 2)
MERGED_HAVE = Predicate("MergedSelectHave", 1)
MERGED_ADVERTISED = Predicate("MergedSelectAdvertised", 2)
_NAMED = {"Field", "RecordLink"}  # they have the name of a field in column 1


@dataclass(frozen=True, slots=True)
class Count:
    """How much there is of something among the facts given."""

    facts: int
    records: int


@dataclass(frozen=True, slots=True)
class Read:
    """One record atom of a rule: how it is used, and what it asks for."""

    rule: LoweredRule
    atom: Atom
    how: str

    @property
    def field(self) -> str | None:
        """The name of the field that the atom reads, where it says one."""
        term = self.atom.terms[1] if self.atom.name in _NAMED else None
        return term.value if isinstance(term, Constant) else None

    @property
    def constants(self) -> tuple[str, ...]:
        return tuple(value for _, value in constants_of(self.atom))


@dataclass(frozen=True, slots=True)
class Observation:
    """What the peer's operand can see through one atom; `used` if its exports need the rule."""

    read: Read
    used: bool
    visible: Count | None


@dataclass(frozen=True, slots=True)
class Declassification:
    """What of records that the peer may not query decides behaviour that the peer can see.

    The path goes from the fact to the predicate that the peer sees the effect of.
    """

    read: Read
    path: tuple[Predicate, ...]
    about: str
    private: Count | None


@dataclass(frozen=True, slots=True)
class Totals:
    """How many records there are, and how many the peer may query; the same of those selected."""

    records: int
    can_query: int
    selected: int
    unexposed: int  # selected here, not queryable, and yet the peer's if it names them


@dataclass(frozen=True, slots=True)
class Audit:
    program: SideProgram = field(repr=False)
    totals: Totals | None
    observations: tuple[Observation, ...]
    public: tuple[Predicate, ...]
    declassifications: tuple[Declassification, ...]


def audit_side(
    program: SideProgram, database: Database | None = None, limits: Limits = DEFAULT_LIMITS
) -> Audit:
    counter = None if database is None else _Counter(program, database, limits)
    peer = [rule for rule in program.rules if rule.what == f"O{program.peer}"]
    needed = _needed(program)
    observations = tuple(
        Observation(
            read,
            read.rule.node.head.predicate in needed,
            None if counter is None else counter.visible(read),
        )
        for rule in peer
        for read in _reads(rule)
    )
    shared = RUNTIME_FACTS.keys() | ADVERTISEMENT_FACTS.keys()
    public = {
        atom.predicate
        for rule in peer
        for atom in body_atoms(rule.node)
        if atom.predicate in shared
    }
    found = () if program.policy.trust_peer else _flows(program)
    declassifications = tuple(
        Declassification(read, path, about, None if counter is None else counter.private(read))
        for read, path, about in found
    )
    totals = None if counter is None else counter.totals
    return Audit(program, totals, observations, tuple(sorted(public)), declassifications)


def _reads(rule: LoweredRule) -> Iterator[Read]:
    for literal in rule.node.body:
        match literal:
            case Atom() if literal.predicate in RECORD_FACTS:
                yield Read(rule, literal, "uses")
            case Negated(atom) if atom.predicate in RECORD_FACTS:
                yield Read(rule, atom, "negates")
            case Cardinality(atom) if atom.predicate in RECORD_FACTS:
                yield Read(rule, atom, "counts")


def _needed(program: SideProgram) -> set[Predicate]:
    """The predicates that the exports of the peer's operand need."""
    scope = scope_of(program.peer)
    queue = [Predicate(scope + p.name, p.arity) for p in (SELECT_HAVE, SELECT_ADVERTISED)]
    found: set[Predicate] = set()
    while queue:
        predicate = queue.pop()
        if predicate in found:
            continue
        found.add(predicate)
        for rule in program.main.rules:
            if rule.node.head.predicate == predicate:
                queue += [atom.predicate for atom in body_atoms(rule.node)]
    return found


# Declassification: which facts of other records reach what a peer can see.

Flow = tuple[Read, tuple[Predicate, ...], str]


def _roots(
    program: SideProgram,
) -> Iterator[tuple[Predicate, int, tuple[Predicate, ...], str | None]]:
    """Local predicates, where each has its record, what they lead to.

    And what that record is, where it can be one that the peer may not query.
    """
    own, peer = (
        [Predicate(scope_of(index) + p.name, p.arity) for p in (SELECT_HAVE, SELECT_ADVERTISED)]
        for index in (program.side, program.peer)
    )
    named = None if (peer[0], 0) in _queried(program) else "a record that the peer names"
    yield own[0], 0, (MERGED_HAVE, MAY_SEND), named
    yield own[1], 0, (MERGED_ADVERTISED, MAY_REQUEST), "the advertised record"
    for number in range(1, len(program.policy.exposures) + 1):
        yield Predicate(f"m{number}_{ALLOW.name}", ALLOW.arity), 1, (CAN_QUERY,), None


def _queried(program: SideProgram) -> set[tuple[Predicate, int]]:
    """The columns of the peer's predicates that only records in its view get into.

    Each rule must take the value from a record fact, or from such a column again. All
    columns are taken for such until one is seen not to be: a derivation is finite.
    """
    sources = [
        (
            (rule.node.head.predicate, column),
            {
                (atom.predicate, n)
                for atom in rule.node.body
                if isinstance(atom, Atom)
                for n, other in enumerate(atom.terms)
                if other == term
            },
        )
        for rule in program.rules
        if rule.what == f"O{program.peer}"
        for column, term in enumerate(rule.node.head.terms)
    ]
    found = {(predicate, 0) for predicate in RECORD_FACTS} | {column for column, _ in sources}
    while wrong := {each for each, of in sources if each in found and found.isdisjoint(of)}:
        found -= wrong
    return found


def _flows(program: SideProgram) -> Iterator[Flow]:
    """Each atom once for what it leads to and whose facts it reads, by a shortest path."""
    rules: dict[Predicate, list[LoweredRule]] = {}
    for rule in program.rules:
        rules.setdefault(rule.node.head.predicate, []).append(rule)
    for root, position, after, named in _roots(program):
        yielded: set[tuple[str, Atom, str, bool]] = set()
        seen = {(root, frozenset({position}))}
        queue = [(root, frozenset({position}), (root, *after))]
        for predicate, positions, path in queue:
            for rule in rules.get(predicate, ()):
                own: set[Term] = {rule.node.head.terms[n] for n in positions}
                for read in _reads(rule):
                    itself = read.atom.terms[0] in own
                    about = named if itself else "other records"
                    key = (rule.id, read.atom, read.how, itself)
                    if about is None or key in yielded:
                        continue
                    yielded.add(key)
                    yield read, (read.atom.predicate, *path), about
                for atom in (*body_atoms(rule.node), *_gates(program, rule)):
                    there = frozenset(n for n, term in enumerate(atom.terms) if term in own)
                    if atom.predicate in rules and (atom.predicate, there) not in seen:
                        seen.add((atom.predicate, there))
                        queue.append((atom.predicate, there, (atom.predicate, *path)))


def _gates(program: SideProgram, rule: LoweredRule) -> Iterator[Atom]:
    """What a rule asks of the view that it reads record facts through, when it has one."""
    number = program.reading(rule).view
    if number != FULL_VIEW:
        gate = program.resolution.views[number - 1].gate
        for read in _reads(rule):
            yield Atom(gate.name, (Anonymous(), read.atom.terms[0]))


class _Counter:
    """Counts among the facts given, on either side of the peer's view."""

    def __init__(self, program: SideProgram, database: Database, limits: Limits) -> None:
        own = Predicate(scope_of(program.side) + SELECT_HAVE.name, SELECT_HAVE.arity)
        found = evaluate_side(program, database, limits, outputs=[own])
        self._program, self._database, self._views = program, database, found.views
        have, selected = database.relation(HAVE), found.main.relations[own]
        # Rules may select what is not stored: no record, and in no view.
        selected = selected.where(members(selected.columns[0], have.columns[0]))
        if program.policy.trust_peer:
            self.totals = Totals(have.size, have.size, selected.size, 0)
        else:
            hidden = self._peer.hidden(selected).size
            self.totals = Totals(have.size, self._peer.count(have), selected.size, hidden)

    def visible(self, read: Read) -> Count:
        """What a rule of the peer sees of an atom."""
        return _count(self._part(read))

    def private(self, read: Read) -> Count:
        """What a local rule sees of an atom, and the peer may not query."""
        return _count(self._peer.hidden(self._part(read)))

    @property
    def _peer(self) -> View:
        return self._views[0]

    def _part(self, read: Read) -> Relation:
        relation = self._database.relation(read.atom.predicate)
        number = self._program.reading(read.rule).view
        if number != FULL_VIEW:
            relation = Viewed(relation, self._views[number - 1])
        # A value that no fact has makes an id that none has.
        find = self._database.symbols.find
        constants = [(column, find(value)) for column, value in constants_of(read.atom)]
        return relation.part(constants, _equal_columns(read.atom))


def _equal_columns(atom: Atom) -> list[tuple[int, int]]:
    """The columns that have the variable of an earlier one, each with that."""
    terms = enumerate(atom.terms)
    pairs = [(atom.terms.index(t), column) for column, t in terms if isinstance(t, Variable)]
    return [(first, column) for first, column in pairs if first != column]


def _count(relation: Relation) -> Count:
    return Count(relation.size, len(unique(relation.columns[0])))
