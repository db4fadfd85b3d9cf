"""One change at a time: what it costs beside full evaluation, and beside DuckDB's query again.

A record is about ten facts, and the change comes as text. It is a copy of a record of the
corpus under another hash, name and time, so that it meets rules as often as records do.
Changes and full evaluation are measured in processor time, both on one core; DuckDB, which
uses several, by the wall clock, so that its figures mean something on an idle machine alone.
"""

from collections.abc import Callable, Iterator
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import lacec
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.engine.evaluation import evaluate
from lacec.engine.live import LiveSide, live_program
from lacec.engine.side import evaluate_side
from lacec.plan.exchange import make_plan
from lacec.plan.expose import LocalPolicy, expose_selected
from lacec.plan.operands import author_operand
from lacec.plan.origins import Party
from lacec.vm.database import Database
from lacec.vm.live.live_facts import Base, Changes, database_of
from lacec.vm.symbols import Symbols
from tests.bench import peers, results
from tests.bench.corpus import FIELD, FIELDS, HAVE, LINK, Corpus, make_corpus
from tests.bench.workloads import LATEST_OF_ALL, MEMBERSHIP, SELECTION, SUPPORT, Workload

SIZES = (10_000, 100_000, 1_000_000)
CHANGES, WARM = 200, 10
RUNS = 5
# The median at the largest size is at most so many times that at the smallest.
MOST = 2.0

PLEX_HASH = Predicate("PlexHash", 2)
ADVERTISED, ADVERTISED_FIELD = Predicate("Advertised", 2), Predicate("AdvertisedField", 5)
WANTED = Workload(
    "wanted",
    "\n".join(MEMBERSHIP.source.splitlines()[:2])
    + "\nWanted(P) :- Advertised(P,S), AdvertisedField(P,S,'Group',_,'u'), "
    "AdvertisedField(P,S,'Signed-By',_,V), Member(V), not Blocked(V), not Have(P).",
    Predicate("Wanted", 1),
    MEMBERSHIP.sql.split("select distinct")[0]
    + "select distinct a.p from advertised a where a.g = {u} "
    "and a.v in (select v from keyed where a = {member}) "
    "and a.v not in (select v from keyed where a = {blocked}) "
    "and a.p not in (select p from have)",
    "",
    "",
)
SELECTOR = (
    "SelectHave(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Name',_,K), "
    "TextShape(K,'links/','','').\n"
    "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'Group',_,'u')."
)

Rows = dict[Predicate, list[tuple[str, ...]]]
Tell = Callable[[Changes], object]


class Row(NamedTuple):
    records: int
    change: str
    program: str
    median: float
    mean: float
    full: float
    duck: float


class Changing:
    """The facts of a corpus, and records and advertisements that come and go."""

    def __init__(self, records: int) -> None:
        self.corpus = make_corpus(records)
        self.random = np.random.default_rng(7)
        self.fresh = 0
        facts = self.corpus.database()
        records_alone = {predicate: facts.relation(predicate) for predicate in RECORD_FACTS}
        self.base = Base(Database(facts.symbols, records_alone), RECORD_FACTS)
        self.link = Base(_advertised(self.corpus, facts.symbols))
        self.bases = [self.base, self.link]

    def record(self, number: int) -> Rows:
        """The facts of a record of the corpus."""
        texts, facts = self.corpus.texts, self.corpus.facts
        width = len(FIELDS)
        places = {HAVE: (number, 1), FIELD: (number * width, width), LINK: (number, 1)}
        places[PLEX_HASH] = (number, 1)
        return {
            predicate: [
                tuple(texts[column[row]] for column in facts[predicate])
                for row in range(first, first + count)
            ]
            for predicate, (first, count) in places.items()
        }

    def some(self) -> int:
        return int(self.random.integers(self.corpus.records))

    def added(self) -> Rows:
        """A record that is new."""
        self.fresh += 1
        facts = self.record(self.some())
        old = facts[HAVE][0][0]
        renamed = {old: f"S.fresh{self.fresh:038}.H3"}
        for _, name, _, value in facts[FIELD]:
            if name == "TAI" or (name == "Name" and not value.startswith("V.")):
                renamed[value] = f"{value}{self.fresh}"
        return {
            predicate: [tuple(renamed.get(value, value) for value in row) for row in rows]
            for predicate, rows in facts.items()
        }

    def advertisement(self) -> Rows:
        facts = self.added()
        (hash,) = facts[HAVE][0]
        fields = [(hash, "V.peer", *row[1:]) for row in facts[FIELD]]
        return {ADVERTISED: [(hash, "V.peer")], ADVERTISED_FIELD: fields}


def _advertised(corpus: Corpus, symbols: Symbols) -> Database:
    """A tenth as many advertisements as there are records, over the same symbols."""
    ids = symbols.intern_all(offered(corpus))
    source, zero = (np.full(len(ids), symbols.intern(text), np.int32) for text in ("V.peer", "0"))
    found = Database(symbols)
    found.add(ADVERTISED, [ids, source])
    for name in ("Group", "Signed-By"):
        names = np.full(len(ids), symbols.intern(name), np.int32)
        found.add(ADVERTISED_FIELD, [ids, source, names, zero, corpus.field(name)[1][: len(ids)]])
    return found


def offered(corpus: Corpus) -> list[str]:
    return [f"S.offered{n:036}.H3" for n in range(corpus.records // 10)]


def duckdb_with(corpus: Corpus) -> peers.DuckDB:
    """The facts in its tables, the advertisements in one more."""
    duck = peers.DuckDB(corpus)
    count = len(offered(corpus))
    columns = {"p": np.arange(len(corpus.texts), len(corpus.texts) + count, dtype=np.int32)}
    columns["g"], columns["v"] = (corpus.field(name)[1][:count] for name in ("Group", "Signed-By"))
    duck.create("advertised", columns)
    return duck


def timed(base: Base, change: Callable[[], tuple[Rows, Rows]], tell: Tell) -> list[float]:
    """Seconds of each of many changes: of the base, and of the program that is told."""
    times = []
    for _ in range(WARM + CHANGES):
        added, removed = change()
        start = process_time()
        tell(base.apply(added, removed))
        times.append(process_time() - start)
    return times[WARM:]


def repeated(run: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
    times = []
    for _ in range(RUNS):
        start = clock()
        run()
        times.append(clock() - start)
    return peers.median(times)


def measure(by: int = 1) -> Iterator[Row]:
    for records in (size // by for size in SIZES):
        changing = Changing(records)
        duck = duckdb_with(changing.corpus) if peers.installed("duckdb") else None
        for workload in (SELECTION, MEMBERSHIP, SUPPORT, LATEST_OF_ALL, WANTED):
            yield from of_module(changing, workload, duck)
        yield from of_side(changing)


def of_module(changing: Changing, workload: Workload, duck: peers.DuckDB | None) -> Iterator[Row]:
    module = lacec.compile(workload.source)
    program = live_program(module, changing.bases, [workload.output])
    program.apply()
    database = database_of(changing.bases)
    full = repeated(lambda: evaluate(module, database, [workload.output]))
    again = float("nan") if duck is None else repeated(lambda: duck.solve(workload), perf_counter)
    yield from rows(changing, workload.name, program.apply, full, again, workload is WANTED)


def of_side(changing: Changing) -> Iterator[Row]:
    """A side of a plan: the rules of the peer see what the same selector exposes."""
    operands = [author_operand(n, [("bench", SELECTOR)], DEFAULT_LIMITS) for n in (0, 1)]
    plan = make_plan(operands, (Party("V.own"), Party("V.peer")))
    program = plan.side(0, LocalPolicy((expose_selected(operands[0]),)))
    side = LiveSide(program, changing.bases)
    database = database_of(changing.bases)
    full = repeated(lambda: evaluate_side(program, database))
    yield from rows(changing, "side of a plan", side.apply, full, float("nan"), True)
    yield from rows(changing, "side of a plan", side.apply, full, float("nan"), False)


def rows(
    changing: Changing, name: str, tell: Tell, full: float, again: float, advertised: bool
) -> Iterator[Row]:
    """The changes that concern a program, each many times."""
    kinds: dict[str, tuple[Base, Callable[[], tuple[Rows, Rows]]]] = {
        "record added": (changing.base, lambda: (changing.added(), {})),
        "record removed": (changing.base, lambda: ({}, changing.record(changing.some()))),
    }
    if advertised:
        offer = "advertisement added"
        kinds = {offer: (changing.link, lambda: (changing.advertisement(), {}))}
    for what, (base, change) in kinds.items():
        times = timed(base, change, tell)
        mean = sum(times) / len(times)
        records = changing.corpus.records
        yield Row(records, what, name, peers.median(times), mean, full, again)


def kept(found: list[Row]) -> Iterator[results.Row]:
    """What one record costs that comes, at the smallest size and the largest."""
    sizes = sorted({row.records for row in found})
    for row in found:
        if row.change == "record added" and row.records in (sizes[0], sizes[-1]):
            yield row.program, f"one change of {row.records:,}", row.median * 1000
            yield row.program, f"all {row.records:,}", row.full * 1000


def main(console: Console, by: int = 1) -> None:
    table = Table(title=f"One change ({CHANGES} of each kind), beside evaluating all again")
    headings = ("records", "program", "change", "median ms", "mean ms", "full ms", "DuckDB ms")
    for heading in (*headings, "full : median", "median : smallest", "mean : smallest"):
        table.add_column(heading, justify="left" if heading in ("program", "change") else "right")
    first: dict[tuple[str, str], Row] = {}
    found: list[Row] = []
    for row in measure(by):
        found.append(row)
        base = first.setdefault((row.program, row.change), row)
        table.add_row(
            f"{row.records:,}",
            row.program,
            row.change,
            *(f"{seconds * 1000:.2f}" for seconds in (row.median, row.mean, row.full)),
            "-" if row.duck != row.duck else f"{row.duck * 1000:.2f}",
            f"{row.full / row.median:.0f}x",
            f"{row.median / base.median:.2f}",
            f"{row.mean / base.mean:.2f}",
        )
    console.print(table)
    about = f"The median of {CHANGES} changes, and of {RUNS} evaluations."
    results.keep("change", about, sorted(kept(found), key=lambda row: row[0]))
    console.print(f"the median at the largest size is to be at most {MOST} times the smallest")


if __name__ == "__main__":
    main(Console(width=140))
