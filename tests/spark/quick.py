"""Evaluations of small things on Spark, on a session that compiles no code for tiny tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.engine import evaluation
from lacec.engine.side import evaluate_side
from lacec.pipeline import compile_module
from lacec.plan.lower import SideProgram
from lacec.spark.evaluate import Evaluator, collect
from lacec.spark.evaluate import Facts as SparkFacts
from lacec.spark.machine import Settings
from lacec.spark.rows import Row
from lacec.spark.scratch import Work
from lacec.spark.tables import records_frame
from lacec.vm.sources import TupleSource, load
from tests.spark.corpora import advertised_facts_of, advertised_frame, facts_of, plain
from tests.vm.strategies import Facts

# All on Spark; all that can be on the driver; and both.
SETTINGS = (Settings(few=0, budget=0), Settings(few=4, budget=2**20), Settings(few=64, budget=0))
SPARK_ONLY = SETTINGS[0]
SOURCE = "V.peer"

_COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
}
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def interpret(session: SparkSession) -> None:
    """Tiny tables take a tenth of the time when no code is compiled for them."""
    for name, value in _INTERPRETED.items():
        session.conf.set(name, value)


@contextmanager
def compiled(session: SparkSession) -> Iterator[None]:
    """As a session is for those who use lacec."""
    for name, value in _COMPILED.items():
        session.conf.set(name, value)
    yield
    interpret(session)


@dataclass
class Quick:
    session: SparkSession
    folder: Path
    count: int = 0

    def evaluator(
        self, facts: SparkFacts, settings: Settings, limits: Limits = DEFAULT_LIMITS
    ) -> Evaluator:
        self.count += 1
        work = Work(self.session, str(self.folder / str(self.count)))
        return Evaluator(self.session, facts, work, limits, settings)

    def facts(
        self, facts: Facts, rows: list[Row] | None, advertised: list[Row] | None = None
    ) -> tuple[SparkFacts, Facts]:
        """The same facts for Spark, of which rows tell some, and for the NumPy machine."""
        if rows is None:
            return SparkFacts(plain=load(TupleSource(facts))), facts
        rest, offered = plain(facts), None
        everything = rest | facts_of(rows)
        if advertised is not None:
            offered = advertised_frame(self.session, advertised, SOURCE)
            claims = advertised_facts_of(advertised, SOURCE)
            rest = {p: some for p, some in rest.items() if p not in claims}
            everything |= claims
        records = records_frame(self.session, rows)
        return SparkFacts(records, offered, load(TupleSource(rest))), everything

    def check(
        self, text: str, facts: Facts, settings: Settings, rows: list[Row] | None = None
    ) -> None:
        """Every output is what the NumPy machine says, each tuple once."""
        told, everything = self.facts(facts, rows)
        module = compile_module([("sample", text)])
        found = evaluation.evaluate(module, load(TupleSource(everything)))
        expected = {predicate: found.facts(predicate) for predicate in found.relations}
        assert collect(self.evaluator(told, settings).evaluate(module)) == expected

    def check_side(
        self,
        program: SideProgram,
        facts: Facts,
        settings: Settings,
        rows: list[Row] | None = None,
        advertised: list[Row] | None = None,
    ) -> None:
        told, everything = self.facts(facts, rows, advertised)
        expected = evaluate_side(program, load(TupleSource(everything)))
        side = self.evaluator(told, settings).side(program)
        found = hashes(send=side.may_send, request=side.may_request, query=side.can_query)
        assert found["send"] == expected.may_send
        assert found["request"] == expected.may_request
        assert found["query"] == expected.can_query


def hashes(**frames: DataFrame) -> Mapping[str, list[str]]:
    """The values of relations of one column, in one go."""
    found = collect({Predicate(name, 1): frame for name, frame in frames.items()})
    return {predicate.name: [row[0] for row in rows] for predicate, rows in found.items()}
