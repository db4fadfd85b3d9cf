"""Evaluation on Spark: a module, or one side of a plan, over tables of records and facts.

In: what the NumPy engine takes, with tables that no computer holds in place of a database.
Out: DataFrames with columns c0, c1, …, each row once, which are computed when they are read.
The answers are those of the NumPy machine. Of its limits those hold that are about rules and
values, and the iterations; facts and rows are not counted (D12).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lacec.canonical.module import Module
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import PLAIN, Resolution
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.engine.side import OUTPUTS, check_predicates, check_program
from lacec.facts.tables import arrow_table
from lacec.pipeline import make_code
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, OWN_VIEWER, VIEWER, SideProgram
from lacec.records.facts import HAVE
from lacec.spark.facts import View, advertised_facts, both, record_facts
from lacec.spark.kernels import Kernels
from lacec.spark.machine import Settings, SparkMachine
from lacec.spark.registers import HASH, Few, Register, Rows, Table, Told, every, names_of, relation
from lacec.spark.scratch import Work
from lacec.vm.database import Database

DEFAULT_SETTINGS = Settings()


@dataclass(frozen=True)
class Facts:
    """What an evaluation sees."""

    records: DataFrame | None = None  # one row a record, as tables.py has them
    advertised: DataFrame | None = None  # the same columns, and the source of each
    plain: Database = field(default_factory=Database)  # any other facts


class Evaluator:
    """The facts of one snapshot, ready for programs."""

    def __init__(
        self,
        session: SparkSession,
        facts: Facts,
        work: Work,
        limits: Limits = DEFAULT_LIMITS,
        settings: Settings = DEFAULT_SETTINGS,
    ) -> None:
        self.kernels = Kernels(session, settings.few)
        self.work, self.limits, self.settings = work, limits, settings
        self.records = None if facts.records is None else Table(facts.records)
        self.base: dict[Predicate, Register] = {}
        if self.records is not None:
            self.base |= record_facts(self.records)
        if facts.advertised is not None:
            self.base |= advertised_facts(Table(facts.advertised))
        for predicate in facts.plain.predicates():
            given = self._given(facts.plain, predicate)
            told = self.base.get(predicate)
            self.base[predicate] = both(told, given, self.kernels, predicate.arity)

    def _given(self, database: Database, predicate: Predicate) -> Register:
        found = database.relation(predicate)
        if not predicate.arity or found.size <= self.settings.few:
            return self.kernels.given(database.tuples(found), predicate.arity)
        frame = self.kernels.session.createDataFrame(arrow_table(found, database.symbols))
        return relation(self.work.written(frame), predicate.arity)

    def machine(
        self,
        module: Module,
        outputs: Iterable[Predicate] | None = None,
        resolution: Resolution = PLAIN,
        views: tuple[View, ...] = (),
        given: Mapping[Predicate, Register] | None = None,
        *,
        live: bool = False,
    ) -> SparkMachine:
        """The machine for a program, before it runs. `live` code has CHECK blocks too."""
        code = make_code(module, outputs, None, resolution, self.limits, live=live)
        base = self.base | dict(given or {})
        return SparkMachine(self.kernels, code, base, views, self.work, self.limits, self.settings)

    def frame(self, register: Register, arity: int) -> DataFrame:
        """A relation as a DataFrame."""
        return self.kernels.rows(register).named(names_of(arity))

    def evaluate(
        self, module: Module, outputs: Iterable[Predicate] | None = None
    ) -> dict[Predicate, DataFrame]:
        """The outputs of a module; every derived predicate, unless told."""
        found = self.machine(module, outputs).run()
        return {each: self.frame(register, each.arity) for each, register in found.items()}

    def side(self, program: SideProgram) -> "Side":
        """One side of a plan."""
        machine, views = self.side_machine(program)
        found = machine.run()
        return Side(
            self.frame(found[MAY_SEND], 1),
            self.frame(found[MAY_REQUEST], 1),
            self._queryable(program, views),
            machine,
        )

    def side_machine(
        self, program: SideProgram, outputs: Iterable[Predicate] = OUTPUTS, *, live: bool = False
    ) -> tuple[SparkMachine, tuple[View, ...]]:
        """The machine for one side of a plan, before it runs, and its views."""
        check_program(program, self.limits)
        check_predicates(self.base)
        views = self._views(program)
        return self.machine(program.main, outputs, program.resolution, views, live=live), views

    def _views(self, program: SideProgram) -> tuple[View, ...]:
        """The views of a side, which the gates decide; one that nothing decides is empty."""
        gates = {rule.node.head.predicate for rule in program.gates.rules}
        asked = [view.gate for view in program.resolution.views if view.gate in gates]
        given = {
            VIEWER: self.kernels.given([(program.viewer,)], 1),
            OWN_VIEWER: self.kernels.given([(program.own_viewer,)], 1),
        }
        found = self.machine(program.gates, asked, given=given).run()
        views = []
        for view in program.resolution.views:
            register = found.get(view.gate, Few((), 2))
            allowed = self.kernels.select(register, [(0, view.viewer)], ())
            views.append(self._view(self.kernels.project(allowed, [1], True)))
        return tuple(views)

    def _view(self, allowed: Register) -> View:
        """A view as a column of the table of records, which says of each whether it is seen."""
        table = self.records
        if table is None:
            return View(self._once(allowed), {})
        name = self.kernels.fresh()
        condition: Column
        match allowed:
            case Few(rows):
                condition = F.col(HASH).isin([row[0] for row in rows])
            case Rows(whole=True, table=own, record=0) if own is table:
                held = every(allowed.conditions)
                condition = F.lit(True) if held is None else F.coalesce(held, F.lit(False))
            case _:
                seen = self.work.written(self.kernels.rows(allowed).named([name]))
                same = F.col(HASH) == F.col(name)
                table.frame = table.frame.join(seen.distinct(), same, "left")
                condition = F.col(name).isNotNull()
                name = self.kernels.fresh()
        table.frame = table.frame.withColumn(name, condition)
        return View(self._once(allowed), {table: F.col(name)})

    def _once(self, register: Register) -> Callable[[], DataFrame]:
        return lambda: self.frame(register, 1).distinct()

    def _queryable(self, program: SideProgram, views: tuple[View, ...]) -> DataFrame:
        """The records that the rules of the peer may query: what has facts and is seen."""
        predicates = (HAVE,) if program.policy.trust_peer else tuple(RECORD_FACTS)
        facts = [self.base[each] for each in predicates if each in self.base]
        if not program.policy.trust_peer:
            facts = [views[0].of(each, self.kernels) for each in facts]
        if all(isinstance(each, Told) for each in facts):
            facts = facts[:1]  # every record has Have
        firsts = [self.kernels.project(each, [0], False) for each in facts]
        frames = [self.frame(each, 1) for each in firsts]
        found = self.kernels.frame([], names_of(1))
        for frame in frames:
            found = found.unionAll(frame)
        return found.distinct()


def collect(frames: Mapping[Predicate, DataFrame]) -> dict[Predicate, list[tuple[str, ...]]]:
    """The rows of several relations in one go, each in code point order."""
    found: dict[Predicate, list[tuple[str, ...]]] = {predicate: [] for predicate in frames}
    parts = []
    for number, (predicate, frame) in enumerate(frames.items()):
        values = F.array(*names_of(predicate.arity)).cast("array<string>")
        parts.append(frame.select(F.lit(number).alias("number"), values.alias("row")))
    if parts:
        predicates = list(frames)
        for number, row in reduce(DataFrame.unionAll, parts).collect():
            found[predicates[number]].append(tuple(row))
    return {predicate: sorted(rows) for predicate, rows in found.items()}


@dataclass(frozen=True)
class Side:
    """What one side found: hashes as a column c0."""

    may_send: DataFrame
    may_request: DataFrame
    can_query: DataFrame
    machine: SparkMachine
