"""A plan beside the same rules by hand: two operands of 256 rules, one side, 100,000 records.

By hand means one local program: the lowered rules under names of their own, without
origins, views and separate limits. The peer may query all records, a group that has
half of them, or a small one.
"""

import statistics
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from lacec.engine.evaluation import evaluate
from lacec.engine.side import evaluate_side
from lacec.pipeline import compile_module
from lacec.plan.exchange import ExchangePlan, make_plan
from lacec.plan.expose import ALL, LocalPolicy, exposure
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, VIEWER, SideProgram
from lacec.plan.operands import author_operand
from lacec.vm.database import Database
from tests.bench.corpus import EDGE, RECENT, Corpus, make_corpus

RECORDS = 100_000
RULES = 256
RUNS = 9
MOST = 1.3
WHAT = ("one local program", "a side of the plan")

# Eight rules of a group; {i} is a number, {g} a group, {a} an app.
MIX = (
    "Link{i}(P) :- Have(P), Field(P,'Group',_,'{g}'), Field(P,'Name',_,K), "
    "TextShape(K,'links/{i}','','').",
    "Blocked{i}(V) :- Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked'), "
    "Field(P,'Name',_,V), TextShape(V,'V.{i}','','').",
    "Kept{i}(P) :- Link{i}(P), Field(P,'Signed-By',_,V), not Blocked{i}(V).",
    "Timed{i}(P,T) :- Kept{i}(P), Field(P,'TAI',_,T).",
    "Newer{i}(P,Q) :- Timed{i}(P,T), Timed{i}(Q,U), LexCompare(U,'>',T).",
    "Latest{i}(P) :- Timed{i}(P,_), Cardinality(Newer{i}(P,_),'<','100').",
    "Support{i}(P) :- Latest{i}(P).",
    "Support{i}(Q) :- Support{i}(P), RecordLink(P,'+Link',_,'evidence',Q).",
)
GROUPS = ("u", *(f"group{n}" for n in range(8)))
EXPOSURES = {
    "all records": ALL,
    "half": "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'u').",
    "a few": "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'keys').",
}


def selector(rules: int, shift: int) -> str:
    """A selector of so many rules, each export over the union of its groups of rules."""
    lines = ["SelectAdvertised(P,S) :- Advertised(P,S), Chosen(P)."]
    lines.append("SelectHave(P) :- Have(P), Chosen(P).")
    number = 0
    while len(lines) < rules - len(MIX):
        group = GROUPS[(number + shift) % len(GROUPS)]
        lines += [rule.format(i=number, g=group) for rule in MIX]
        lines.append(f"Chosen(P) :- Support{number}(P).")
        number += 1
    lines += [f"Extra{n}(P) :- Chosen(P), Support{n}(P)." for n in range(rules - len(lines))]
    return "\n".join(lines)


class Timing(NamedTuple):
    exposed: str
    what: str
    seconds: float
    least: float
    most: float
    sent: int


def facts(corpus: Corpus) -> Database:
    """Record facts alone: the others are of no exchange."""
    known = {p: c for p, c in corpus.facts.items() if p not in (RECENT, EDGE)}
    database = Corpus(corpus.records, corpus.texts, known).database()
    for predicate in database.predicates():
        database.relation(predicate)
    return database


def plan_of(texts: tuple[str, str]) -> ExchangePlan:
    return make_plan([author_operand(n, [(f"{n}.lace", text)]) for n, text in enumerate(texts)])


def side_of(texts: tuple[str, str], exposed: str) -> SideProgram:
    policy = LocalPolicy((exposure([("expose.lace", EXPOSURES[exposed])]),))
    return plan_of(texts).side(0, policy)


def by_hand(program: SideProgram) -> str:
    """The lowered rules as a person would write them: names that are nobody's."""
    text = "\n".join(rule.text for rule in program.rules)
    for scope, name in (("o0_", "Own"), ("o1_", "Their"), ("m1_", "Open")):
        text = text.replace(scope, name)
    return text


def timed(run: Callable[[Database], int], corpus: Corpus) -> tuple[float, int]:
    """A run over a database of its own, so that it builds the indexes it needs."""
    database = facts(corpus)
    start = perf_counter()
    sent = run(database)
    return perf_counter() - start, sent


def measure() -> Iterator[Timing]:
    corpus = make_corpus(RECORDS)
    texts = selector(RULES, 0), selector(RULES, 1)
    for exposed in EXPOSURES:
        program = side_of(texts, exposed)
        source = by_hand(program)

        def alone(database: Database, source: str = source, viewer: str = program.viewer) -> int:
            database.add(VIEWER, [database.symbols.intern_all([viewer])])
            module = compile_module([("hand.lace", source)])
            return evaluate(module, database, [MAY_SEND, MAY_REQUEST]).count(MAY_SEND)

        def planned(database: Database, exposed: str = exposed) -> int:
            return len(evaluate_side(side_of(texts, exposed), database).may_send)

        # In turn, so that what else the machine does falls on both alike.
        pairs = [(timed(alone, corpus), timed(planned, corpus)) for _ in range(RUNS)]
        for what, runs in zip(WHAT, zip(*pairs, strict=True), strict=True):
            seconds = [each for each, _ in runs]
            yield Timing(
                exposed, what, statistics.median(seconds), min(seconds), max(seconds), runs[0][1]
            )


def main(console: Console) -> None:
    table = Table(title=f"Two operands of {RULES} rules, {RECORDS:,} records, compiled and run")
    for heading in ("exposed", "what", "ms", "from", "to", "may send", "ratio"):
        table.add_column(heading, justify="left" if heading in ("exposed", "what") else "right")
    base = 0.0
    for timing in measure():
        if timing.what == WHAT[0]:
            base = timing.seconds
        ratio = timing.seconds / base
        times = (f"{s * 1000:.0f}" for s in (timing.seconds, timing.least, timing.most))
        table.add_row(timing.exposed, timing.what, *times, f"{timing.sent:,}", f"{ratio:.2f}x")
        if ratio > MOST:
            console.print(f"over {MOST}x: {timing.exposed}")
    console.print(table)


if __name__ == "__main__":
    main(Console())
