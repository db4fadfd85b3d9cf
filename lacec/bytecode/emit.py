"""Rules into blocks: each rule once in full, and once for each atom that a round can change.

In: a module, the outputs asked for, and of a lowered plan how its predicates read. Out:
code, in which record facts are loaded through the view of the rule that asks. On demand
each rule has further blocks: one for each body literal of another group that can change,
and one that checks tuples of the head.
"""

from collections.abc import Iterable, Iterator, Sequence

from lacec.bytecode import opcodes as op
from lacec.bytecode.block import BlockEmitter, Subject, Tables
from lacec.bytecode.code import Block, Code, Group, Kind
from lacec.bytecode.code import SourceRule as SourceOf
from lacec.bytecode.common_subjoins import lift
from lacec.bytecode.order import Sizes
from lacec.canonical.module import Module
from lacec.core.errors import LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import PLAIN, Origin, Resolution
from lacec.core.predicates import Predicate
from lacec.syntax.ast import Atom, Cardinality, Constant, Literal, Negated, Rule


def emit(
    module: Module,
    outputs: Iterable[Predicate] | None = None,
    sizes: Sizes | None = None,
    resolution: Resolution = PLAIN,
    limits: Limits = DEFAULT_LIMITS,
    *,
    live: bool = False,
) -> Code:
    """The code of a module. Without outputs, every derived predicate is one.

    `live` code also has the CHANGE and CHECK blocks, which full evaluation does not need.
    LimitError when rules become too much code: a rule has a block for each of its
    recursive atoms, and in live code for every atom, so a short text can ask for a lot.
    """
    derived = [predicate for group in module.groups for predicate in group]
    asked = set(derived if outputs is None else outputs)
    program = _Program(module, [p for p in derived if p in asked], sizes, resolution, live)
    return program.code(limits)


class _Program:
    def __init__(
        self,
        module: Module,
        outputs: Sequence[Predicate],
        sizes: Sizes | None,
        resolution: Resolution,
        live: bool,
    ) -> None:
        self.views = resolution.views
        self.live = live
        self.sources = tuple(SourceOf(r.id, r.text, r.file, r.line) for r in module.rules)
        nodes = [rule.node for rule in module.rules]
        recursive = {p for group in recursive_groups(module.groups, nodes) for p in group}
        self.recursive = recursive
        self.tables = Tables(sizes, dict(resolution.readings), outputs)
        self.rules = self.tables.rules
        made, rewritten = lift(nodes, recursive, resolution)
        for number, rule in enumerate(rewritten):
            self.rules.setdefault(rule.predicate, []).append((number, rule))
        for rule, reading in made:
            self.rules[rule.predicate] = [(-1, rule)]
            self.tables.readings[rule.predicate] = reading
        self._place(module.groups)

    def _place(self, groups: Iterable[tuple[Predicate, ...]]) -> None:
        """Each auxiliary predicate before the first group that needs it."""
        placed: dict[tuple[Predicate, ...], None] = {}
        for group in groups:
            bodies = [rule.body for predicate in group for _, rule in self.rules[predicate]]
            for literal in (literal for body in bodies for literal in body):
                if isinstance(literal, Atom) and literal.name.startswith("+"):
                    placed[literal.predicate,] = None
            placed[group] = None
        self.groups = list(placed)

    def code(self, limits: Limits) -> Code:
        tables = self.tables
        blocks: list[Block] = []
        sizes: dict[Origin, int] = {}
        groups: list[Group] = []
        for number, group in enumerate(self.groups):
            recursive = bool(self.recursive.intersection(group))
            members = tuple(tables.predicate(p) for p in group)
            reading = tables.reading(group[0])
            groups.append(Group(members, recursive, reading))
            origin = reading.origin
            name, most = limits.code(origin)
            for predicate in group:
                for source, rule in self.rules[predicate]:
                    for block in self._blocks(number, source, rule, frozenset(group)):
                        blocks.append(block)
                        sizes[origin] = sizes.get(origin, 0) + len(block.instructions)
                        if sizes[origin] > most:
                            what = f"instructions up to a rule of {predicate}"
                            raise LimitError(name, most, sizes[origin], what, origin)
        views = [(tables.predicate(view.gate), tables.constant(view.viewer)) for view in self.views]
        return Code(
            tuple(tables.constants),
            tuple(tables.predicates),
            tuple(groups),
            tuple(blocks),
            self.sources,
            tuple(tables.predicates[p] for p in tables.outputs),
            tuple(views),
        )

    def _blocks(
        self, number: int, source: int, rule: Rule, group: frozenset[Predicate]
    ) -> Iterator[Block]:
        subject = self.tables.subject(rule)
        parts = subject.parts
        changing = [place for place in parts.needed if parts.forms[place].predicate in group]
        if not changing:
            instructions = BlockEmitter(self.tables, subject, Kind.FULL).run()
            yield Block(number, source, Kind.FULL, -1, instructions)
        for place in changing:
            instructions = BlockEmitter(self.tables, subject, Kind.DELTA, place).run()
            yield Block(number, source, Kind.DELTA, place, instructions)
        if self.live:
            yield from self._live_blocks(number, source, subject, group)

    def _live_blocks(
        self, number: int, source: int, subject: Subject, group: frozenset[Predicate]
    ) -> Iterator[Block]:
        for place, form in subject.parts.forms.items():
            if form.predicate not in group:
                instructions = BlockEmitter(self.tables, subject, Kind.CHANGE, place).run()
                falling = _is_falling(subject.rule.body[place])
                yield Block(number, source, Kind.CHANGE, place, instructions, falling)
        emitter = BlockEmitter(self.tables, subject, Kind.CHECK)
        instructions = emitter.run()
        names = tuple(sorted(emitter.columns, key=emitter.columns.__getitem__))
        yield Block(number, source, Kind.CHECK, -1, instructions, variables=names)


def _is_falling(literal: Literal) -> bool:
    """Whether fewer tuples of a literal make it true for more bindings."""
    if isinstance(literal, Cardinality):
        assert isinstance(literal.operator, Constant)
        return op.COMPARES[literal.operator.value] in (op.Compare.LESS, op.Compare.LESS_EQUAL)
    return isinstance(literal, Negated)


def recursive_groups(
    groups: Iterable[tuple[Predicate, ...]], rules: Iterable[Rule]
) -> list[tuple[Predicate, ...]]:
    """The groups whose predicates need each other: one alone may need itself."""
    alone = {
        rule.predicate
        for rule in rules
        if any(how == "uses" and read == rule.predicate for read, how, _ in rule.reads)
    }
    return [group for group in groups if len(group) > 1 or group[0] in alone]
