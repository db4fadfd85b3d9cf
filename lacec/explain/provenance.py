"""Every answer explained: why a fact is derived, and why it is not.

In: a module or one side of a plan, and its facts. Out: a proof, in which each derived fact
has a rule and what its body met; or, for a fact that is not there, for each rule that could
have made it the first literal that fails. Rules are shown as their author wrote them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as Choice

from lacec.bytecode.emit import recursive_groups
from lacec.bytecode.goal import Ask, Rules
from lacec.canonical.module import Module
from lacec.core.diagnostics import quote
from lacec.core.errors import FactError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import PLAIN, Resolution
from lacec.core.origins import View as Gated
from lacec.core.predicates import BASE, BUILTIN_ARITY, Predicate
from lacec.engine.evaluation import machine_of, sizes_of
from lacec.engine.side import given_viewers, side_machine
from lacec.explain.proof_tree import (
    Authored,
    Check,
    Fact,
    Fails,
    Proof,
    Proofs,
    RuleShown,
    Step,
    Wanted,
    WhyNot,
    shown_rule,
)
from lacec.facts.line import Fact as FactLine
from lacec.facts.line import read_line
from lacec.plan.lower import SideProgram
from lacec.syntax.ast import (
    Atom,
    Cardinality,
    Constant,
    Literal,
    Rule,
    body_atoms,
    variables_of,
)
from lacec.syntax.filling import fill
from lacec.syntax.show import show_constant, show_literal
from lacec.vm.database import Database
from lacec.vm.provenance.batch_solver import Answers
from lacec.vm.provenance.why import Failure, Found, Prover, failure_of
from lacec.vm.relation import Ids, Relation
from lacec.vm.view import View

# A fact that is missing may be missing because others are: so many of them are looked into.
MOST_MISSING = 64


@dataclass
class _Program:
    """Rules that ran together: those of a module, or the gates or the main program of a side."""

    prover: Prover
    nodes: Sequence[Rule]
    shown: Sequence[RuleShown]
    views: Sequence[Gated] = ()
    given: Collection[Predicate] = ()  # base facts beside those of the database

    @property
    def answers(self) -> Answers:
        return self.prover.answers


@dataclass
class Why:
    """Explains one evaluation. What nobody asks about is not evaluated."""

    database: Database
    _programs: Sequence[_Program] = field(repr=False)

    def is_derived(self, predicate: Predicate) -> bool:
        return any(program.prover.is_derived(predicate) for program in self._programs)

    def known(self) -> set[Predicate]:
        """The predicates that may have facts: of rules, given, or of an exchange."""
        rules = [node for program in self._programs for node in program.nodes]
        named = {atom.predicate for node in rules for atom in body_atoms(node)}
        heads = {node.head.predicate for node in rules}
        given = {predicate for program in self._programs for predicate in program.given}
        named = {predicate for predicate in named if predicate.name not in BUILTIN_ARITY}
        return named | heads | given | BASE.keys() | set(self.database.predicates())

    def holds(self, fact: Fact | str) -> bool:
        """Whether a fact is there, given or derived."""
        self._start_clock()
        return self._holds(as_fact(fact))

    def _holds(self, fact: Fact) -> bool:
        program = self._program(fact.predicate)
        return bool(len(program.prover.there(fact.predicate, self._heads(fact))))

    def facts(self, predicate: Predicate) -> list[tuple[str, ...]]:
        """All tuples of a predicate, in code point order."""
        self._start_clock()
        return self.database.tuples(self._program(predicate).answers.relation(predicate))

    def why(self, fact: Fact | str) -> Proof | None:
        """A proof of a fact; None when it is not there. One that was given has no steps."""
        self._start_clock()
        fact = as_fact(fact)
        if not self._holds(fact):
            return None
        program = self._program(fact.predicate)
        return Proof(fact, dict(self._steps(program, fact.predicate, self._heads(fact))))

    def count(self, predicate: Predicate) -> int:
        """How many facts of a predicate there are."""
        self._start_clock()
        return self._program(predicate).answers.relation(predicate).size

    def all(self, predicate: Predicate, most: int | None = None) -> "Proofs":
        """A proof for every fact of a predicate, or for the first so many of them."""
        self._start_clock()
        program = self._program(predicate)
        heads = program.answers.relation(predicate)
        facts = [Fact(predicate.name, values) for values in self.database.tuples(heads)]
        if most is not None and most < len(facts):
            facts = facts[:most]
            heads = self._heads(*facts)
        return Proofs(facts, dict(self._steps(program, predicate, heads)))

    def why_not(self, fact: Fact | str) -> WhyNot | None:
        """Where each rule fails that could have made a fact; None when it is there."""
        self._start_clock()
        fact = as_fact(fact)
        if self._holds(fact):
            return None
        goals: dict[Wanted, tuple[Fails, ...]] = {}
        left_out: dict[Wanted, None] = {}
        waiting = [Wanted(*fact)]
        for wanted in waiting:
            if wanted in goals:
                continue
            if len(goals) == MOST_MISSING:
                left_out[wanted] = None
                continue
            goals[wanted] = tuple(self._fails(wanted))
            waiting += [each.needs for each in goals[wanted] if each.needs is not None]
        return WhyNot(fact, goals, tuple(left_out), not self.is_derived(fact.predicate))

    def makers(self, predicate: Predicate) -> Iterator[tuple[int, list[tuple[str, ...]]]]:
        """Each rule of a predicate, by its number, and the tuples that it alone would make."""
        self._start_clock()
        program = self._program(predicate)
        heads = program.answers.relation(predicate)
        for number, state in program.prover.made_by(predicate, heads):
            yield number, self.database.tuples(heads.take(state.starts))

    def rules(self, predicate: Predicate) -> list[RuleShown]:
        """The rules of a predicate, in the order of `makers`."""
        program = self._program(predicate)
        return [program.shown[number] for number in program.prover.rules_of(predicate)]

    def fired(self) -> Iterator[RuleShown]:
        """The rules that make some fact."""
        self._start_clock()
        for program in self._programs:
            for predicate in {node.head.predicate: None for node in program.nodes}:
                heads = program.answers.relation(predicate)
                for number, state in program.prover.made_by(predicate, heads):
                    if state.size:
                        yield program.shown[number]

    def _program(self, predicate: Predicate) -> _Program:
        for program in self._programs:
            if program.prover.is_derived(predicate) or predicate in program.given:
                return program
        return self._programs[0]

    def _start_clock(self) -> None:
        """Each question has as much time as an evaluation (D12)."""
        for program in self._programs:
            program.answers.machine.start_clock()
            program.answers.finder.forget()

    def _heads(self, *facts: Fact) -> Relation:
        columns = zip(*(fact.values for fact in facts), strict=True)
        intern = self.database.symbols.intern_all
        return Relation([intern(column) for column in columns], len(facts))

    # Proofs.

    def _steps(
        self, program: _Program, predicate: Predicate, heads: Relation
    ) -> Iterator[tuple[Fact, Step]]:
        if program.prover.is_derived(predicate):
            for found in program.prover.prove(predicate, heads):
                yield from self._found(program, found)

    def _found(self, program: _Program, found: Found) -> Iterator[tuple[Fact, Step]]:
        """The steps of one rule, column by column."""
        node, rule = program.nodes[found.goal.rule], program.shown[found.goal.rule]
        met: dict[int, list[Fact] | list[Check]] = {}
        for part in found.goal.parts:
            if part.ask == Ask.FACT:
                assert part.pattern is not None
                relation, rows = found.state.facts[part.literal]
                met[part.literal] = self._facts(part.pattern.predicate, relation.take(rows))
                continue
            texts = self._texts(node.body[part.literal], found)
            if part.ask == Ask.COUNT:
                counts = program.answers.counts(part, found.state).tolist()
                pairs = zip(texts, counts, strict=True)
                met[part.literal] = [Check("count", text, count) for text, count in pairs]
            else:
                kind: Choice["absent", "test"] = "absent" if part.ask == Ask.ABSENT else "test"
                met[part.literal] = [Check(kind, text) for text in texts]
        heads = self._facts(found.predicate, found.heads)
        columns = [met[literal] for literal in sorted(met)]
        because: Iterable[tuple[Fact | Check, ...]]
        because = zip(*columns, strict=True) if columns else [()] * len(heads)
        for fact, round, each in zip(heads, found.rounds, because, strict=True):
            yield fact, Step(fact, rule, round, each)

    def _facts(self, predicate: Predicate, relation: Relation) -> list[Fact]:
        """The rows of a relation, in their order."""
        name = predicate.name
        if not relation.columns:
            return [Fact(name, ())] * relation.size
        columns = [self.database.symbols.texts(column) for column in relation.columns]
        return [Fact(name, values) for values in zip(*columns, strict=True)]

    def _texts(self, literal: Literal, found: Found) -> list[str]:
        """A literal with the values of its variables, for each head."""
        slots = {name: slot for slot, name in enumerate(found.goal.names)}
        known = [slots[name] for name in dict.fromkeys(variables_of(literal))]
        columns = {
            found.goal.names[slot]: self.database.symbols.texts(found.state.values[slot])
            for slot in known
            if slot in found.state.values
        }
        # No constant has a line feed, so that one marks where a value stands.
        marked = show_literal(fill(literal, {}, {name: f"\n{name}\n" for name in columns}))
        first, *pieces = marked.split("\n")
        texts = [first] * found.heads.size
        for name, after in zip(pieces[::2], pieces[1::2], strict=True):
            values = columns[name]
            texts = [t + show_constant(v) + after for t, v in zip(texts, values, strict=True)]
        return texts

    def _bindings(
        self, names: Sequence[str], values: Mapping[int, Ids], size: int
    ) -> list[dict[str, str]]:
        known = {names[slot]: self.database.symbols.texts(ids) for slot, ids in values.items()}
        rows = zip(*known.values(), strict=True) if known else iter([()] * size)
        return [dict(zip(known, row, strict=True)) for row in rows]

    # Failures.

    def _fails(self, wanted: Wanted) -> Iterator[Fails]:
        program = self._program(wanted.predicate)
        symbols = self.database.symbols
        given = {n: symbols.intern(v) for n, v in enumerate(wanted.values) if v is not None}
        for number in program.prover.rules_of(wanted.predicate):
            failure = failure_of(program.answers, program.prover.rules, number, given)
            if failure is not None:
                yield self._failed(program, number, failure)

    def _failed(self, program: _Program, number: int, failure: Failure) -> Fails:
        goal, part = failure.goal, failure.goal.parts[failure.part]
        (binding,) = self._bindings(goal.names, failure.state.values, 1)
        literal = program.nodes[number].body[part.literal]
        before = []
        for earlier in goal.parts[: failure.part]:
            if earlier.ask == Ask.FACT:
                assert earlier.pattern is not None
                relation, rows = failure.state.facts[earlier.literal]
                before += self._facts(earlier.pattern.predicate, relation.take(rows))
        facts: list[Fact] = []
        if failure.facts is not None and part.pattern is not None:
            facts = sorted(self._facts(part.pattern.predicate, failure.facts))
        needs = None
        if part.ask == Ask.FACT and part.pattern is not None and isinstance(literal, Atom):
            needs = _wanted(literal, binding)
            if facts:  # which the view hides that the rule reads through
                gate, viewer = program.views[part.pattern.view - 1]
                needs = Wanted(gate.name, (viewer, facts[0].values[0]))
        if needs is not None and not self.is_derived(needs.predicate):
            needs = None
        return Fails(
            program.shown[number],
            _KINDS[part.ask] if part.ask != Ask.FACT or not facts else "hidden",
            show_literal(fill(literal, binding)),
            part.literal,
            tuple(earlier.literal for earlier in goal.parts[: failure.part]),
            tuple(before),
            binding,
            failure.count,
            tuple(facts),
            needs,
            None if failure.valid else _bound(literal, binding),
        )


_KINDS: dict[Ask, Choice["missing", "present", "count", "test"]] = {
    Ask.FACT: "missing",
    Ask.ABSENT: "present",
    Ask.COUNT: "count",
    Ask.TEST: "test",
}


def _bound(literal: Literal, binding: Mapping[str, str]) -> str | None:
    """What a count is compared with."""
    filled = fill(literal, binding)
    bound = filled.bound if isinstance(filled, Cardinality) else None
    return bound.value if isinstance(bound, Constant) else None


def _wanted(atom: Atom, binding: Mapping[str, str]) -> Wanted | None:
    """What an atom asks for; None if it asks for equal values and does not say which."""
    filled = fill(atom, binding)
    assert isinstance(filled, Atom)
    open_names = [variable.name for variable in filled.variables]
    if len(open_names) > len(set(open_names)):
        return None
    values = tuple(term.value if isinstance(term, Constant) else None for term in filled.terms)
    return Wanted(atom.name, values)


def as_fact(fact: Fact | str, limits: Limits = DEFAULT_LIMITS) -> Fact:
    """A fact from its line; FactError for what is none."""
    if isinstance(fact, Fact):
        return fact
    found = read_line(fact.encode("utf-8", "surrogateescape"), False, limits)
    if isinstance(found, FactLine):
        return Fact(found.predicate.name, tuple(found.values))
    why = found[0].message if found else "it is empty"
    raise FactError(f"{quote(fact)} is no fact: {why}; write NAME('value',…)")


# What is explained.


def explain_module(module: Module, database: Database, limits: Limits = DEFAULT_LIMITS) -> Why:
    """The explanations of a module over facts."""
    machine = machine_of(module, database, (), limits)
    shown = [RuleShown(rule.id, rule.text, rule.file, rule.line) for rule in module.rules]
    return Why(database, [_program(module, Answers(machine), shown, PLAIN, ())])


def explain_plan(
    program: SideProgram,
    database: Database,
    limits: Limits = DEFAULT_LIMITS,
    authored: Authored | None = None,
) -> Why:
    """The explanations of one side of a plan: of what its peer's rules do too, as they see."""
    machine, views = side_machine(program, database, limits)
    given = given_viewers(program, database)
    gates = machine_of(program.gates, database, (), limits, given=given)
    count = len(program.gates.rules)
    shown = [shown_rule(program, rule, authored or {}) for rule in program.rules]
    return Why(
        database,
        [
            _program(program.main, Answers(machine), shown[count:], program.resolution, views),
            _program(program.gates, Answers(gates), shown[:count], PLAIN, (), given),
        ],
    )


def _program(
    module: Module,
    answers: Answers,
    shown: Sequence[RuleShown],
    resolution: Resolution,
    views: Sequence[View],
    given: Collection[Predicate] = (),
) -> _Program:
    nodes = [rule.node for rule in module.rules]
    recursive = {
        predicate: frozenset(group)
        for group in recursive_groups(module.groups, nodes)
        for predicate in group
    }
    sizes = sizes_of(module, answers.database, views)
    rules = Rules(nodes, resolution, recursive, sizes)
    return _Program(Prover(answers, rules, module.groups), nodes, shown, resolution.views, given)
