"""The incremental machine: keeps what it derived, and changes it as the facts change.

In: live code, base facts that change, and what changed of them. Out: what changed of the
outputs, the same as full evaluation would find. Groups are gone through in order. In each

1. tuples are removed that a rule derived with something that is no more (the state before),
2. those of them are put back that some rule derives still (the state after),
3. tuples are added that a rule derives with something new, until nothing more follows.

A negated atom, or a count with an upper bound, loses where its predicate gains. What is
affected is found by the CHANGE and DELTA blocks, what still holds by the CHECK blocks. What
is counted by rank has no tuples; instead, keys are told whose count went past a bound. A
group in which much changes is evaluated anew and compared.

A limit that is met on the way is decided by a full evaluation. So are the limits on facts,
and the one on rounds: the machine knows how many a full evaluation takes at most.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from time import monotonic

from lacec.bytecode.code import Code
from lacec.core.errors import CancelledError, LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.vm.database import check_sizes
from lacec.vm.kernels import concatenate
from lacec.vm.live.live_facts import NO_CHANGE, Base, Change, Changes, database_of, difference
from lacec.vm.live.overlay import Few, Kept, Part, Tuple
from lacec.vm.live.rederive import (
    Found,
    merge_made,
    next_blocks,
    over_delete,
    still_derived,
)
from lacec.vm.live.row_interpreter import Make, RowBlock, Source, TooMuch, Unfit
from lacec.vm.live.triggers import GroupBlocks, LiveBlocks, Pending
from lacec.vm.machine import Machine
from lacec.vm.relation import Relation
from lacec.vm.schedule import full_blocks, needed_groups
from lacec.vm.view import LiveView

ViewChange = tuple[Iterable[int], Iterable[int]]
"""The records that a view shows now and did not before, and the other way around."""

# A group is evaluated anew when more rows than these are looked at, or this share of those that
# a full evaluation reads; when more tuples than these, or this share of the group, are removed.
MANY_ROWS, SHARE_OF_ROWS = 2_000, 32
MANY_REMOVED, SHARE_REMOVED = 1_000, 4
_ROWS_BETWEEN_LOOKS = 4_096


class Incremental:
    def __init__(
        self,
        code: Code,
        bases: Sequence[Base],
        limits: Limits,
        cancelled: Callable[[], bool] | None = None,
        *,
        views: Sequence[LiveView] = (),
    ) -> None:
        """`code` is verified, and best live. Of the bases, the first that holds a predicate
        has its facts. Nothing is evaluated before the first change.
        """
        self.code = code
        self.limits = limits
        self._bases = bases
        self._symbols = bases[-1].symbols
        self._views = views
        self._cancelled = cancelled
        self._numbers = {predicate: number for number, predicate in enumerate(code.predicates)}
        self._groups = needed_groups(code, full_blocks(code), code.outputs)
        arities = {p: code.predicates[p].arity for g in self._groups for p in _members(code, g)}
        universe = self._symbols.universe
        self._kept = {
            p: Kept(concatenate((), arity), arity, universe) for p, arity in arities.items()
        }
        self._sources: dict[int, dict[tuple[int, Part], Source]] = {}
        self._make = Make(code, self._symbols, self.spend, self._source)
        self._blocks = LiveBlocks(code, self._groups, self._make)
        self._is_live = False  # whether the state is that of the facts
        self._reported = {p: self._kept[p].below for p in code.outputs}
        # At most how many rounds a full evaluation of each recursive group takes.
        self._rounds: dict[int, int] = {}
        # Of the change at hand.
        self._started = monotonic()
        self._changes: dict[int, Change] = {}
        self._pending: dict[int, Pending] = {}
        self._log: list[tuple[Kept, Tuple | Relation, bool]] = []
        self._rows = self._most_rows = self._next_look = 0

    # What others ask for.

    def relation(self, predicate: Predicate) -> Relation:
        """The tuples of an output, as of the last change."""
        number = self._numbers[predicate]
        return self._kept[number].relation() if self._is_live else self._reported[number]

    def holds(self, predicate: Predicate, row: Tuple) -> bool:
        """Whether a tuple of an output is there, as of the last change that went well."""
        return self._is_live and row in self._kept[self._numbers[predicate]]

    def state(self) -> dict[Predicate, Relation]:
        """Everything that is kept: what was derived, outputs or not."""
        return {self.code.predicates[p]: kept.relation() for p, kept in self._kept.items()}

    @property
    def outputs(self) -> list[Predicate]:
        return [self.code.predicates[p] for p in self.code.outputs]

    def apply(
        self,
        changes: Changes | None = None,
        views: Mapping[int, ViewChange] | None = None,
        *,
        started: float | None = None,
    ) -> Changes:
        """What changes of the outputs, when the bases have changed like this, and the views.

        The first time everything that there is. LimitError when a full evaluation meets a
        limit; what is found the next time is compared with what was found last.
        """
        self._started = monotonic() if started is None else started
        for number, view in enumerate(self._views, 1):
            view.change(*(views or {}).get(number, ()))
        if not self._is_live:
            return self._evaluate_all()
        try:
            self._check_facts()
            return self._apply(changes or {})
        except LimitError:
            self._give_up()
            return self._evaluate_all()
        except BaseException:
            self._give_up()
            raise
        finally:
            self._forget_change()

    def begin(self, started: float) -> None:
        """Evaluate in full, where nobody asks for all that there is as a change."""
        self._started = started
        self._evaluate_all(compares=False)

    def drop(self) -> None:
        """Forget all but the outputs; the next change then takes a full evaluation."""
        if self._is_live:
            self._reported = {p: self._kept[p].relation() for p in self.code.outputs}
            self._is_live = False
            for kept in self._kept.values():
                kept.replace(concatenate((), kept.arity))
            self._make.forget_ranks()
            self._rounds.clear()

    # Full evaluation.

    def _base(self, predicate: Predicate) -> Kept:
        return next(base for base in self._bases if base.holds(predicate)).relation(predicate)

    def _check_facts(self) -> None:
        known = (predicate for base in self._bases for predicate in base.predicates())
        check_sizes({predicate: self._base(predicate).size for predicate in known}, self.limits)

    def _machine(self) -> Machine:
        return Machine(
            self.code,
            database_of(self._bases),
            self.limits,
            self._cancelled,
            views=[view.view() for view in self._views],
            started=self._started,
        )

    def _evaluate_all(self, compares: bool = True) -> Changes:
        self._check_facts()
        machine = self._machine()
        machine.run()
        for predicate, kept in self._kept.items():
            kept.replace(machine.done[predicate])
        self._make.forget_ranks()
        self._rounds = dict(machine.rounds)
        asked = self.code.outputs if compares else ()
        found = {p: difference(self._reported[p], self._kept[p].below) for p in asked}
        self._reported.clear()
        self._is_live = True
        return {self.code.predicates[p]: change for p, change in found.items() if change}

    def _evaluate_group(self, number: int) -> None:
        """Evaluate one group anew, and compare."""
        machine = self._machine()
        lower = [p for group in self._groups if group < number for p in _members(self.code, group)]
        machine.done.update({p: self._kept[p].snapshot() for p in lower})
        machine.evaluate(number)
        self._rounds.update(machine.rounds)
        for predicate in _members(self.code, number):
            kept, made = self._kept[predicate], machine.done[predicate]
            old = kept.relation()
            self._log.append((kept, old, False))
            kept.replace(made)
            self._changed(predicate, difference(old, made))

    # The change at hand.

    def spend(self, rows: int) -> None:
        """Rows are looked at: TooMuch when they are too many, LimitError when it is too late."""
        self._rows += rows
        if self._rows > self._most_rows:
            raise TooMuch
        if self._rows >= self._next_look:
            self._next_look = self._rows + _ROWS_BETWEEN_LOOKS
            self._check_time()

    def _check_time(self) -> None:
        late = monotonic() - self._started - self.limits.seconds
        if late > 0:
            most = self.limits.seconds
            raise LimitError("seconds", most, most + ceil(late), "seconds of evaluation")
        if self._cancelled is not None and self._cancelled():
            raise CancelledError("the evaluation was cancelled")

    def _source(self, predicate: int, view: int, part: Part) -> Source:
        """One for each atom that rules have, so that each is told of a change once."""
        sources = self._sources.setdefault(predicate, {})
        found = sources.get((view, part))
        if found is None:
            kept = self._kept.get(predicate)
            if kept is None:
                if any(predicate in group.predicates for group in self.code.groups):
                    raise Unfit  # it is counted by rank, and not made
                kept = self._base(self.code.predicates[predicate])
            seen = self._views[view - 1] if view else None
            found = sources[view, part] = Source(kept, part, seen)
        return found

    def _changed(self, predicate: int, change: Change) -> None:
        """Tell the atoms of a predicate what changed of it."""
        if change:
            self._changes[predicate] = change
            for source in self._sources.get(predicate, {}).values():
                source.change = change

    def _forget_change(self) -> None:
        for predicate in self._changes:
            for source in self._sources.get(predicate, {}).values():
                source.change = None
        self._changes.clear()
        self._pending.clear()
        self._log.clear()

    def _undo(self, length: int) -> None:
        """Take back what was done since the log had this length."""
        while len(self._log) > length:
            kept, what, added = self._log.pop()
            if isinstance(what, Relation):
                kept.replace(what)
            elif added:
                kept.discard(what)
            else:
                kept.add(what)

    def _give_up(self) -> None:
        self._undo(0)
        self.drop()

    def _apply(self, changes: Changes) -> Changes:
        for known, change in changes.items():
            if known in self._numbers and self._numbers[known] not in self._kept:
                self._changed(self._numbers[known], change)
        for predicate in self._blocks.triggers.keys() - self._kept.keys():
            self._wake(predicate)
        for number in self._groups:
            self._check_time()
            is_known = self._follow_ranks(number)
            if not is_known or self._is_touched(number):
                self._change_group(number, is_known)
                for predicate in _members(self.code, number):
                    self._wake(predicate)
                    self._kept[predicate].settle()
        return {
            self.code.predicates[p]: self._changes[p]
            for p in self.code.outputs
            if p in self._changes
        }

    def _is_touched(self, number: int) -> bool:
        blocks = self._blocks.groups[number]
        if blocks.is_live:
            return number in self._pending
        return any(
            predicate in self._changes or self._moved(view) for predicate, view in blocks.reads
        )

    def _moved(self, view: int) -> bool:
        return bool(view) and bool(self._views[view - 1].entered or self._views[view - 1].left)

    def _wake(self, predicate: int) -> None:
        """Give what changed of a predicate to the blocks that begin with it."""
        change = self._changes.get(predicate, NO_CHANGE)
        for number, trigger in self._blocks.triggers.get(predicate, {}).items():
            view = self._views[number - 1] if number else None
            for row in change.added:
                if view is None or view.sees(row[0]):
                    for block in trigger.blocks(row):
                        self._await(block, row, gained=True)
            for row in change.removed:
                if view is None or view.sees(row[0], before=True):
                    for block in trigger.blocks(row):
                        self._await(block, row, gained=False)
            if view is None:
                continue
            # Facts that are as before, of a record that the view shows now, or did.
            for part, blocks in trigger.parts.items():
                kept = self._source(predicate, number, part).kept
                for records, gained in ((view.entered, True), (view.left, False)):
                    for record in records:
                        for row in kept.find(part, [(0, record)]):
                            if row not in change.added:
                                for block in blocks:
                                    self._await(block, row, gained=gained)

    def _follow_ranks(self, number: int) -> bool:
        """Wake the blocks whose counts went past a bound; False when nobody can tell which."""
        woken = self._blocks.past_bounds(number, self._changes)
        for block, row in woken or ():
            for gained in (True, False):
                self._await(block, row, gained)
        return woken is not None

    def _await(self, block: RowBlock, row: Tuple, gained: bool) -> None:
        pending = self._pending.setdefault(block.block.group, Pending())
        side = pending.gained if gained != block.block.falling else pending.lost
        side.setdefault(block, []).append(row)

    def _change_group(self, number: int, by_tuples: bool = True) -> None:
        blocks, start = self._blocks.groups[number], len(self._log)
        if blocks.is_live and by_tuples:
            self._rows = self._next_look = 0
            own = sum(self._kept[p].size for p in _members(self.code, number))
            names, read = self.code.predicates, {p for p, _ in blocks.reads}
            whole = own + sum((self._kept.get(p) or self._base(names[p])).size for p in read)
            self._most_rows = max(MANY_ROWS, whole // SHARE_OF_ROWS)
            try:
                self._change_tuples(number, blocks, max(MANY_REMOVED, own // SHARE_REMOVED))
            except TooMuch:
                self._undo(start)
            else:
                return
        self._evaluate_group(number)

    def _change_tuples(self, number: int, blocks: GroupBlocks, most_removed: int) -> None:
        pending = self._pending[number]
        removed = over_delete(blocks, self._kept, pending.lost, most_removed)
        for predicate, gone in removed.items():
            for row in gone:
                self._kept[predicate].discard(row)
                self._log.append((self._kept[predicate], row, False))
        fresh = still_derived(blocks, removed)
        merge_made(fresh, self._kept, pending.gained.items())
        added: Found = {}
        rounds = 0
        while any(fresh.values()):
            rounds += 1
            for predicate, found in fresh.items():
                kept = self._kept[predicate]
                for row in found:
                    kept.add(row)
                    self._log.append((kept, row, True))
                added.setdefault(predicate, {}).update(found)
            woken = next_blocks(blocks, fresh)
            fresh = {}
            merge_made(fresh, self._kept, woken)
        self._check_results(number, rounds)
        for predicate in _members(self.code, number):
            old, new = removed.get(predicate, {}), added.get(predicate, {})
            fewer = Few(row for row in old if row not in new)
            self._changed(predicate, Change(Few(row for row in new if row not in old), fewer))

    def _check_results(self, number: int, rounds: int) -> None:
        """LimitError where a full evaluation would, or might, meet a limit on what there is."""
        most = self.limits.derived_facts
        for predicate in _members(self.code, number):
            size = self._kept[predicate].size
            if size > most and not self.code.predicates[predicate].name.startswith("+"):
                what = f"derived facts of {self.code.predicates[predicate]}"
                raise LimitError("derived_facts", most, size, what)
        if number in self._rounds:
            # What a round adds follows from what was there in one more round than that.
            self._rounds[number] += rounds
            if self._rounds[number] > self.limits.iterations:
                raise TooMuch


def _members(code: Code, group: int) -> tuple[int, ...]:
    return code.groups[group].predicates
