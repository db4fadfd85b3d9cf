"""The limits that an evaluation meets (D12), hostile programs, and cancellation.

An error names the limit, its value and the count; there is no partial result; and
the memory of a hostile program is bounded.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import pytest

from lacec.core.errors import CancelledError, FactError, LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import Evaluation, evaluate
from lacec.pipeline import compile_module
from lacec.vm.database import Database
from lacec.vm.sources import TupleSource, load

Row = tuple[str, ...]
HAVE, EDGE, PEER = Predicate("Have", 1), Predicate("Edge", 2), Predicate("Peer", 1)
A = Predicate("A", 1)
ROOT = Path(__file__).parents[2]


def database(**facts: Sequence[Row]) -> Database:
    """Facts by the name of their predicate."""
    rows = {Predicate(name, len(rows[0])): rows for name, rows in facts.items()}
    return load(TupleSource(rows))


def run(
    text: str, facts: Database, limits: Limits, outputs: Sequence[Predicate] | None = None
) -> Evaluation:
    return evaluate(compile_module([("limits", text)]), facts, outputs, limits)


def values(count: int, letter: str = "r") -> list[Row]:
    return [(f"{letter}{n}",) for n in range(count)]


def chain(edges: int) -> list[Row]:
    return [(f"n{n}", f"n{n + 1}") for n in range(edges)]


def refused(text: str, facts: Database, limits: Limits) -> tuple[str, int, int]:
    """The limit, its value and the count of the error that a program ends with."""
    with pytest.raises(LimitError) as caught:
        run(text, facts, limits)
    error = caught.value
    assert error.name in str(error)
    assert str(error.limit) in str(error)
    assert str(error.count) in str(error)
    return error.name, error.limit, error.count


# Facts.


def test_base_facts() -> None:
    facts = database(Have=values(5), Edge=chain(3), Peer=values(4))
    assert run("A(P) :- Have(P).", facts, Limits(base_facts=8)).count(A) == 5
    limits = Limits(base_facts=7)
    assert refused("A(P) :- Have(P).", facts, limits) == ("base_facts", 7, 8)


def test_runtime_facts_are_counted_apart() -> None:
    facts = database(Have=values(50), Peer=values(2), Advertised=[("p", "s")], StartTAI=values(1))
    assert run("A(P) :- Peer(P).", facts, Limits(runtime_facts=4)).count(A) == 2
    limits = Limits(runtime_facts=3)
    assert refused("A(P) :- Peer(P).", facts, limits) == ("runtime_facts", 3, 4)


def test_facts_are_counted_once() -> None:
    facts = database(Have=[*values(5), *values(5)])
    assert run("A(P) :- Have(P).", facts, Limits(base_facts=5)).count(A) == 5


@pytest.mark.parametrize(
    ("value", "fits"),
    [("x" * 1024, True), ("x" * 1025, False), ("é" * 512, True), ("é" * 512 + "x", False)],
)
def test_value_bytes(value: str, fits: bool) -> None:
    source = TupleSource({HAVE: [("short",), (value,)]})
    if fits:
        assert load(source).relation(HAVE).size == 2
        return
    with pytest.raises(FactError, match="1025 bytes, over the limit value_bytes of 1024"):
        load(source)


def test_arity() -> None:
    nine = TupleSource({Predicate("Wide", 9): [("x",) * 9]})
    with pytest.raises(FactError, match="9 values, over the limit arity of 8"):
        load(nine)
    assert load(nine, Limits(arity=9)).relation(Predicate("Wide", 9)).size == 1


@pytest.mark.parametrize("value", ["e\u0301", "\ud800", "ok\udcff"])
def test_values_that_are_not_nfc_text(value: str) -> None:
    with pytest.raises(FactError):
        load(TupleSource({HAVE: [("good",), (value,)]}))


# Derived facts and rounds.


def test_derived_facts() -> None:
    facts = database(Have=values(10))
    text = "A(P) :- Have(P).\nA('x') :- true.\nA(P) :- Have(P), P != 'r3'."
    assert run(text, facts, Limits(derived_facts=11)).count(A) == 11
    assert refused(text, facts, Limits(derived_facts=10)) == ("derived_facts", 10, 11)


def test_derived_facts_of_a_recursive_predicate() -> None:
    facts = database(Edge=chain(20))
    text = "Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Edge(Y,Z)."
    path = Predicate("Path", 2)
    assert run(text, facts, Limits(derived_facts=210)).count(path) == 210
    name, limit, count = refused(text, facts, Limits(derived_facts=209))
    assert (name, limit, count) == ("derived_facts", 209, 210)


def test_facts_of_a_predicate_that_no_output_needs_do_not_count() -> None:
    facts = database(Have=values(10))
    text = "A(P) :- Have(P), P != 'r0'.\nB(P,Q) :- Have(P), Have(Q)."
    assert run(text, facts, Limits(derived_facts=9), [A]).count(A) == 9
    assert refused(text, facts, Limits(derived_facts=9)) == ("derived_facts", 9, 100)


def test_shared_sub_joins_are_not_derived_facts() -> None:
    facts = database(Have=values(10), Edge=[(f"r{n}", "x") for n in range(10)])
    text = """\
A(P) :- Have(P), Edge(P,_), not Edge(_,P), P != 'r1', IntCompare(P,'<','1').
B(P) :- Have(P), Edge(P,_), not Have(P).
"""
    found = run(text, facts, Limits(derived_facts=0))
    assert [p.name for p in found.code.predicates if p.name.startswith("+")] == ["+1"]
    assert found.count(A) == 0


def test_iterations_exactly_at_the_limit() -> None:
    """A chain of n edges takes n + 2 rounds: one for the start, n, and one that finds nothing."""
    text = "A('n0') :- true.\nA(Y) :- A(X), Edge(X,Y)."
    assert run(text, database(Edge=chain(998)), Limits()).count(A) == 999
    limit = refused(text, database(Edge=chain(999)), Limits())
    assert limit == ("iterations", 1000, 1001)
    assert run(text, database(Edge=chain(999)), Limits(iterations=1001)).count(A) == 1000


def test_a_mutually_recursive_group_has_one_count_of_rounds() -> None:
    text = "A('n0') :- true.\nB(Y) :- A(X), Edge(X,Y).\nA(Y) :- B(X), Edge(X,Y)."
    found = run(text, database(Edge=chain(98)), Limits(iterations=100))
    assert found.count(A) + found.count(Predicate("B", 1)) == 99
    limit = refused(text, database(Edge=chain(99)), Limits(iterations=100))
    assert limit == ("iterations", 100, 101)


def test_each_group_has_its_own_rounds() -> None:
    text = """\
A('n0') :- true.
A(Y) :- A(X), Edge(X,Y).
B(X) :- A(X).
B(Y) :- B(X), Edge(Y,X).
"""
    found = run(text, database(Edge=chain(58)), Limits(iterations=60))
    assert found.count(A) == found.count(Predicate("B", 1)) == 59


# Rows of an intermediate result.


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("A(P) :- Have(P), Peer(Q), P != Q.", 50),  # a product
        ("A(P) :- Peer(P), Have(Q), LexCompare(P,'<',Q).", 50),
        ("B(X,Z) :- Edge(X,Y), Edge(Y,Z).", 16),  # a key with several rows
        ("B(X,Z) :- Item(X,Y), Edge(Y,Z).", 8),
        ("B(Y,V) :- Edge(X,Y), One(X,V).", 8),  # a key with one row
        ("B(X,Z) :- Edge(X,Y), Three(X,Y,Z).", 24),  # a key of two columns
    ],
)
def test_intermediate_rows(text: str, rows: int) -> None:
    edges = [(f"n{a}", f"n{b}") for a in range(4) for b in range(4) if (a + b) % 2]
    facts = database(
        Have=values(10),
        Peer=values(5, "p"),
        Edge=edges,
        Item=[(f"i{n}", f"n{n}") for n in range(4)],
        One=[(f"n{n}", "v") for n in range(4)],
        Three=[(*edge, str(n)) for edge in edges for n in range(3)],
    )
    run(text, facts, Limits(intermediate_rows=rows))
    limit = refused(text, facts, Limits(intermediate_rows=rows - 1))
    assert limit == ("intermediate_rows", rows - 1, rows)


@pytest.mark.parametrize(
    "text",
    [
        "A(P) :- Have(P), Edge(_,_).",
        "A(P) :- Have(P), Edge(X,Y).",
        "A(P) :- Have(P), Edge(X,Y), Edge(Y,X).",
        "A(P) :- Edge(X,_), Have(P), Have(Q), not Peer(P).",
    ],
)
def test_what_only_has_to_exist_multiplies_nothing(text: str) -> None:
    facts = database(Have=values(100), Edge=[("a", "b"), ("b", "a"), ("a", "a")])
    assert run(text, facts, Limits(intermediate_rows=100)).count(A) == 100


# Time and cancellation.

ENDLESS = "A('n0') :- true.\nA(Y) :- A(X), Edge(X,Y)."


def test_seconds() -> None:
    facts = database(Edge=chain(200_000))
    start = monotonic()
    name, limit, count = refused(ENDLESS, facts, Limits(seconds=1, iterations=10**9))
    assert (name, limit) == ("seconds", 1)
    assert count > 1
    assert 1 <= monotonic() - start < 10


def test_no_seconds_at_all() -> None:
    facts = database(Have=values(1))
    assert refused("A(P) :- Have(P).", facts, Limits(seconds=0))[:2] == ("seconds", 0)


def test_cancellation() -> None:
    """The caller is asked before every instruction, and an answer of yes ends the evaluation."""
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 50

    facts = database(Edge=chain(10_000))
    module = compile_module([("endless", ENDLESS)])
    with pytest.raises(CancelledError):
        evaluate(module, facts, limits=Limits(iterations=10**9), cancelled=cancelled)
    assert asked == 51
    found = evaluate(module, database(Edge=chain(5)), cancelled=lambda: False)
    assert found.count(A) == 6


# After an error nothing is broken: the same database answers the next program.


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("B(P,Q) :- Have(P), Have(Q).", Limits(derived_facts=3)),
        ("B(P,Q) :- Have(P), Have(Q), P != Q.", Limits(intermediate_rows=3)),
        ("B(X,Y) :- Edge(X,Y).\nB(X,Z) :- B(X,Y), Edge(Y,Z).", Limits(iterations=3)),
        ("B(P,P) :- Have(P).", Limits(base_facts=3)),
        ("B(P,P) :- Have(P).", Limits(seconds=0)),
    ],
)
def test_a_database_survives_a_limit(text: str, limits: Limits) -> None:
    facts = database(Have=values(10), Edge=chain(20))
    after = "A(P) :- Have(P), not Edge(P,_), Cardinality(Edge(_,_),'>=','20')."
    before = run(after, facts, Limits()).facts(A)
    refused(text, facts, limits)
    assert run(after, facts, Limits()).facts(A) == before == sorted(values(10))


# Hostile programs, each in a process of its own whose memory is measured.

CHILD = """
import json, resource, sys
from time import monotonic
from lacec.engine.evaluation import evaluate
from lacec.core.errors import LacecError
from lacec.core.limits import Limits
from lacec.pipeline import compile_module
from lacec.core.predicates import Predicate
from lacec.vm.sources import TupleSource, load

task = json.load(sys.stdin)
records = [(f"r{n}",) for n in range(task["records"])]
fields = [(f"r{n}", "TAI", "0", f"{n:012}") for n in range(task["records"])]
facts = load(TupleSource({Predicate("Have", 1): records, Predicate("Field", 4): fields}))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

def answer(text):
    outputs = [Predicate(*output) for output in task["outputs"]] or None
    module = compile_module([("hostile", text)], limits=Limits(rules=10**6))
    start = monotonic()
    try:
        found = evaluate(module, facts, outputs, Limits(**task["limits"]))
        return {str(p): found.count(p) for p in found.relations}, monotonic() - start
    except LacecError as error:
        return str(error), monotonic() - start

before = peak()
answers, seconds = answer(task["text"])
grown = peak() - before
task["outputs"], task["limits"] = [], {}
print(json.dumps([answers, seconds, grown, answer("A(P) :- Have(P).")[0]]))
"""


def hostile(
    text: str,
    records: int = 100_000,
    outputs: Sequence[Predicate] = (),
    **limits: int,
) -> tuple[str | dict[str, int], float, int]:
    """What a program answers in a process of its own, the seconds and the megabytes it took."""
    task = {"text": text, "records": records, "outputs": outputs, "limits": limits}
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        timeout=120,
    )
    answers, seconds, megabytes, after = json.loads(done.stdout)
    assert after == {"A/1": records}, "the process stays usable"
    return answers, seconds, megabytes


def test_a_product_of_three() -> None:
    text = "A(P,Q,R) :- Have(P), Have(Q), Have(R)."
    answers, seconds, megabytes = hostile(text)
    assert answers == (
        "rows of one join: 10000000000 exceeds the limit intermediate_rows of 67108864"
    )
    assert seconds < 5
    assert megabytes < 50


def test_a_product_within_the_limit_that_makes_too_many_facts() -> None:
    text = "A(P,Q) :- Have(P), Have(Q)."
    answers, _, megabytes = hostile(text, records=2000, derived_facts=1000)
    assert answers == "derived facts of A/2: 4000000 exceeds the limit derived_facts of 1000"
    assert megabytes < 400


def test_many_rules_for_one_predicate_do_not_add_up() -> None:
    """Each makes a million rows, which one after the other would be gigabytes."""
    rules = [f"A(P,Q) :- Have(P), Have(Q), P != 'c{n}'." for n in range(60)]
    answers, _, megabytes = hostile("\n".join(rules), records=1000)
    assert answers == {"A/2": 1_000_000}
    assert megabytes < 400


def test_many_tests_in_one_rule_do_not_add_up() -> None:
    """Each leaves nearly a million rows, and only the last result is needed."""
    tests = ", ".join(f"P != 'r{n}'" for n in range(150))
    answers, _, megabytes = hostile(f"A(P,Q) :- Have(P), Have(Q), {tests}.", records=1000)
    assert answers == {"A/2": 850_000}
    assert megabytes < 400


def test_counts_over_everything() -> None:
    text = """\
A(P) :- Have(P), Cardinality(Field(_,_,_,_),'>=','100000'), Cardinality(Have(_),'<','100001').
B(P) :- Have(P), Cardinality(Field(P,_,_,_),'>','0'), Cardinality(Field(_,_,_,P),'<','1').
C(P) :- Have(P), Cardinality(Have(P),'>','1').
"""
    answers, seconds, megabytes = hostile(text)
    assert answers == {"A/1": 100_000, "B/1": 100_000, "C/1": 0}
    assert seconds < 5
    assert megabytes < 100


def test_the_latest_of_many_records_are_counted_by_rank() -> None:
    """Five thousand million pairs are newer, and none of them is made."""
    text = """\
Newer(P,Q) :- Field(P,'TAI',_,T), Field(Q,'TAI',_,U), LexCompare(U,'>',T).
A(P) :- Have(P), Cardinality(Newer(P,_),'<','100').
"""
    answers, seconds, megabytes = hostile(text, outputs=[A])
    assert answers == {"A/1": 100}
    assert seconds < 5
    assert megabytes < 100
    asked = hostile(text, outputs=[A, Predicate("Newer", 2)])[0]
    assert asked == "rows of one join: 10000000000 exceeds the limit intermediate_rows of 67108864"


def test_a_recursion_that_would_make_all_pairs() -> None:
    text = """\
Next(P,Q) :- Field(P,_,_,T), Field(Q,_,_,T).
A(P,Q) :- Next(P,Q).
A(P,Q) :- A(P,R), A(S,Q).
"""
    answers, seconds, megabytes = hostile(text, intermediate_rows=2**22)
    assert answers == (
        "rows of one join: 10000000000 exceeds the limit intermediate_rows of 4194304"
    )
    assert seconds < 5
    assert megabytes < 100
