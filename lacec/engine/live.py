"""Programs over facts that change: a module, or one side of an exchange plan.

In: base facts, then what changes of them. Out: what changes of the outputs, the same as if
all had been evaluated again. One base can serve many programs, and a program can read several:
the links of a store share its record facts, and have runtime and advertisement facts of
their own. A base changes first (`Base.apply`); then each program is told (`apply`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from lacec.bytecode.code import Code
from lacec.bytecode.order import Sizes
from lacec.canonical.module import Module
from lacec.core.errors import LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import PLAIN, Resolution
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import MANY_FACTS, check_given, check_outputs, sizes_of
from lacec.engine.side import OUTPUTS, check_predicates, check_program, visible_sizes
from lacec.pipeline import make_code
from lacec.plan.lower import OWN_VIEWER, VIEWER, SideProgram
from lacec.vm.live.incremental import Incremental, ViewChange
from lacec.vm.live.live_facts import Base, Change, Changes, Row, database_of, in_sequence, texts_of
from lacec.vm.live.overlay import Tuple
from lacec.vm.relation import Relation
from lacec.vm.sources import load, source_of
from lacec.vm.view import LiveView

Facts = Mapping[str, Iterable[Sequence[str]]]


class Delta(NamedTuple):
    """What changed of one predicate, as text."""

    added: list[Row]
    removed: list[Row]


class LiveModule:
    """A module whose facts change (`lacec.live`)."""

    def __init__(
        self,
        module: Module,
        facts: Facts,
        outputs: Sequence[Predicate] | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        source = source_of(facts)
        check_given(module, source.predicates())
        check_outputs(module, outputs)
        self._base = Base(load(source, limits))
        self._module, self._limits = module, limits
        self._program = live_program(module, [self._base], outputs, limits)
        self._program.apply()

    @property
    def facts(self) -> dict[str, list[Row]]:
        """The facts of every output as they are now, sorted, by NAME/ARITY."""
        database = database_of([self._base])
        return {
            str(predicate): database.tuples(self._program.relation(predicate))
            for predicate in self._program.outputs
        }

    def apply(self, added: Facts | None = None, removed: Facts | None = None) -> dict[str, Delta]:
        """Remove facts and add facts, in that order; what that changes, by NAME/ARITY.

        Facts that are there already, or not at all, change nothing. LimitError at a limit:
        then the facts have changed, and the next change says all that came of both.
        """
        come, gone = _rows_of(added), _rows_of(removed)
        check_given(self._module, [*come, *gone])
        change = self._base.apply(come, gone, self._limits)
        return as_text(self._program.apply(change), self._base)

    def drop(self) -> None:
        """Forget what was derived beside the outputs; the next change evaluates all again."""
        self._program.drop()


def live_program(
    module: Module,
    bases: Sequence[Base],
    outputs: Iterable[Predicate] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancelled: Callable[[], bool] | None = None,
) -> Incremental:
    """A program over bases; nothing is evaluated before its first change."""
    database = database_of(bases)
    many = database.check_limits(limits) >= MANY_FACTS
    sizes = sizes_of(module, database) if many else None
    return Incremental(live_code(module, outputs, sizes, PLAIN, limits), bases, limits, cancelled)


def live_code(
    module: Module,
    outputs: Iterable[Predicate] | None,
    sizes: Sizes | None,
    resolution: Resolution,
    limits: Limits,
) -> Code:
    """Live code, verified; without live blocks where those are too many.

    Then each change evaluates anew the groups that it reaches.
    """
    wanted = None if outputs is None else tuple(outputs)
    try:
        return make_code(module, wanted, sizes, resolution, limits, live=True)
    except LimitError:
        return make_code(module, wanted, sizes, resolution, limits)


class LiveSide:
    """One side of an exchange plan, over facts that change: see `lacec.engine.side`."""

    def __init__(
        self,
        program: SideProgram,
        bases: Sequence[Base],
        limits: Limits = DEFAULT_LIMITS,
        cancelled: Callable[[], bool] | None = None,
        outputs: Iterable[Predicate] = (),
    ) -> None:
        """Evaluates in full; further outputs may be asked for by their lowered names."""
        started = monotonic()
        check_program(program, limits)
        self.program = program
        self._bases = bases
        for base in bases:
            check_predicates(base.predicates())
        symbols = bases[-1].symbols
        self._viewers = [symbols.intern(view.viewer) for view in program.resolution.views]
        database = database_of(bases)
        facts = database.check_limits(limits)
        self._gates = self._live_gates(limits, cancelled)
        self._gates.begin(started)
        self._views = [LiveView(symbols.universe) for _ in self._viewers]
        for number, view in enumerate(program.resolution.views):
            if view.gate in self._gates.outputs:
                allowed = self._gates.relation(view.gate)
                records = allowed.part([(0, self._viewers[number])], ()).columns[1]
                self._views[number].show(records)
        seen = tuple(view.view() for view in self._views)
        sizes = visible_sizes(program, database, seen, facts)
        asked = (*OUTPUTS, *outputs)
        code = live_code(program.main, asked, sizes, program.resolution, limits)
        self._main = Incremental(code, bases, limits, cancelled, views=self._views)
        self._main.begin(started)

    def _live_gates(self, limits: Limits, cancelled: Callable[[], bool] | None) -> Incremental:
        """The local rules that decide the views, over all facts and those of the plan."""
        program, symbols = self.program, self._bases[-1].symbols
        of_plan = Base(database_of([], symbols), {VIEWER, OWN_VIEWER})
        of_plan.apply({VIEWER: [[program.viewer]], OWN_VIEWER: [[program.own_viewer]]})
        gates = {rule.node.head.predicate for rule in program.gates.rules}
        asked = [view.gate for view in program.resolution.views if view.gate in gates]
        return live_program(program.gates, [of_plan, *self._bases], asked, limits, cancelled)

    def apply(self, *changes: Changes) -> Changes:
        """What changes of the outputs after changes of the bases, in the order they were made."""
        started = monotonic()
        change = in_sequence(changes)
        try:
            check_predicates(predicate for predicate, each in change.items() if each.added)
            views = self._view_changes(self._gates.apply(change, started=started))
        except BaseException:
            self.drop()  # one of the two was not told, or both
            raise
        return self._main.apply(change, views, started=started)

    def _view_changes(self, changes: Changes) -> dict[int, ViewChange]:
        """The records that each view gained and lost."""
        found: dict[int, ViewChange] = {}
        for number, view in enumerate(self.program.resolution.views, 1):
            change, viewer = changes.get(view.gate, Change()), self._viewers[number - 1]
            entered = [record for who, record in change.added if who == viewer]
            left = [record for who, record in change.removed if who == viewer]
            found[number] = (entered, left)
        return found

    def relation(self, predicate: Predicate) -> Relation:
        """The tuples of an output as they are now."""
        return self._main.relation(predicate)

    def holds(self, predicate: Predicate, row: Tuple) -> bool:
        """Whether a tuple is there, which costs less than all of them."""
        return self._main.holds(predicate, row)

    def facts(self, predicate: Predicate) -> list[Row]:
        """All as text, sorted."""
        return database_of(self._bases).tuples(self.relation(predicate))

    def drop(self) -> None:
        """Forget what was derived beside the outputs; the next change evaluates all again."""
        self._gates.drop()
        self._main.drop()


def as_text(changes: Changes, base: Base) -> dict[str, Delta]:
    """Changes as text, sorted, by NAME/ARITY."""
    return {
        str(predicate): Delta(
            texts_of(base.symbols, change.added), texts_of(base.symbols, change.removed)
        )
        for predicate, change in changes.items()
    }


def _rows_of(facts: Facts | None) -> dict[Predicate, list[Row]]:
    source = source_of(facts or {})
    return {predicate: list(source.iterate(predicate)) for predicate in source.predicates()}
