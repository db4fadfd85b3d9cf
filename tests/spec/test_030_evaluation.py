"""030, evaluation: what each sentence says of the facts that follow, by example.

The examples of the text stand here by name. Sentences that speak of the form of a
lacegram (safety, names, canonical text) are tested with the checks.
"""

import socket
import time
import unicodedata
from collections.abc import Mapping, Sequence

import pytest

from lacec.core.errors import CompileError, FactError, LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import evaluate
from lacec.pipeline import compile_module
from lacec.vm.sources import DatabaseSource, TupleSource, load

Row = tuple[str, ...]
Facts = Mapping[str, Sequence[Row]]


def source(facts: Facts) -> TupleSource:
    return TupleSource({Predicate(name, len(rows[0])): rows for name, rows in facts.items()})


def derive(
    text: str, output: str, facts: Facts | None = None, limits: Limits = DEFAULT_LIMITS
) -> set[Row]:
    """The facts of one derived predicate."""
    module = compile_module([("example", text)])
    found = evaluate(module, load(source(facts or {})), limits=limits)
    (predicate,) = [p for p in found.relations if p.name == output]
    return set(found.facts(predicate))


def holds(body: str, **values: str) -> bool:
    """Whether a body is true when its variables have these values."""
    atoms = [f"Value('{name}',{name})" for name in values]
    facts: Facts = {"Value": [*values.items(), ("other", "value")]}
    return bool(derive(f"Yes() :- {', '.join([*atoms, body])}.", "Yes", facts))


def record(name: str, *fields: tuple[str, str]) -> list[Row]:
    return [(name, field, "0", value) for field, value in fields]


# Values.


@pytest.mark.parametrize("value", ["e\u0301", "\u1100\u1161", "\u212b"])
def test_a_fact_value_that_is_not_nfc_is_rejected(value: str) -> None:
    assert not unicodedata.is_normalized("NFC", value)
    with pytest.raises(FactError, match="NFC"):
        load(source({"Have": [(value,)]}))


def test_a_fact_value_that_is_not_utf8_is_rejected() -> None:
    with pytest.raises(FactError, match="not Unicode text"):
        load(source({"Have": [("lone surrogate \ud800",)]}))


def test_a_fact_value_over_the_tuple_limits_is_rejected() -> None:
    with pytest.raises(FactError, match="value_bytes"):
        load(source({"Have": [("x" * 11,)]}), Limits(value_bytes=10))
    with pytest.raises(FactError, match="arity"):
        load(source({"Edge": [("a", "b", "c")]}), Limits(arity=2))


def test_values_are_text_and_nothing_else() -> None:
    """'7' and '007' are two values, though they are one number."""
    text = "Same(X,Y) :- Have(X), Have(Y), IntCompare(X,'<=',Y), IntCompare(X,'>=',Y), X != Y."
    facts: Facts = {"Have": [("7",), ("007",), ("8",)]}
    assert derive(text, "Same", facts) == {("7", "007"), ("007", "7")}


# No hidden state.


def test_evaluation_reads_no_clock_and_no_peer_for_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("evaluation reached outside its snapshot")

    monkeypatch.setattr(time, "time", forbidden)
    monkeypatch.setattr(time, "time_ns", forbidden)
    monkeypatch.setattr(socket, "socket", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)
    facts: Facts = {"Have": [("a",)], "TickTAI": [("1",)]}
    assert derive("A(P,T) :- Have(P), TickTAI(T).", "A", facts) == {("a", "1")}
    assert derive("A(T) :- TickTAI(T).\nA('none') :- not TickTAI(_).", "A") == {("none",)}


def test_evaluation_is_free_of_side_effects() -> None:
    facts = source({"Have": [("a",), ("b",)], "Edge": [("a", "b")]})
    database = load(facts)
    module = compile_module([("x", "Have2(P) :- Have(P).\nEdge2(P,'new') :- Have(P).")])
    before = {p: sorted(DatabaseSource(database).iterate(p)) for p in facts.predicates()}
    evaluate(module, database)
    assert {p: sorted(DatabaseSource(database).iterate(p)) for p in facts.predicates()} == before


# Rules.


def test_a_body_is_a_conjunction() -> None:
    facts: Facts = {"Have": [("a",), ("b",)], "Peer": [("b",), ("c",)]}
    assert derive("A(P) :- Have(P), Peer(P).", "A", facts) == {("b",)}


def test_rules_with_one_head_are_a_union() -> None:
    facts: Facts = {"Have": [("a",), ("b",)], "Peer": [("b",), ("c",)]}
    text = "A(P) :- Have(P).\nA(P) :- Peer(P)."
    assert derive(text, "A", facts) == {("a",), ("b",), ("c",)}


def test_a_predicate_without_facts_and_rules_is_empty() -> None:
    assert derive("A(P) :- Unknown(P).", "A", {"Have": [("a",)]}) == set()
    text = "A(P) :- Have(P), not Unknown(P), Cardinality(Unknown(_),'<','1')."
    assert derive(text, "A", {"Have": [("a",)]}) == {("a",)}


def test_true_makes_a_fact() -> None:
    text = "KnownVerifier('V.example.H3') :- true."
    assert derive(text, "KnownVerifier") == {("V.example.H3",)}


def test_zero_arity_predicates() -> None:
    text = "A() :- TransportEncrypted().\nB() :- not TransportEncrypted()."
    module = compile_module([("x", text)])
    a, b = Predicate("A", 0), Predicate("B", 0)
    encrypted = Predicate("TransportEncrypted", 0)
    there = evaluate(module, load(TupleSource({encrypted: [()]})))
    assert (there.facts(a), there.facts(b)) == ([()], [])
    missing = evaluate(module, load(TupleSource({})))
    assert (missing.facts(a), missing.facts(b)) == ([], [()])


def test_each_anonymous_term_is_independent() -> None:
    facts: Facts = {"Edge": [("a", "b")]}
    assert derive("A() :- Edge(_,_).", "A", facts) == {()}
    assert derive("A() :- Edge(X,X).", "A", facts) == set()


def test_anonymous_terms_in_positive_negated_and_counted_atoms() -> None:
    facts: Facts = {"Have": [("a",), ("b",)], "Edge": [("a", "x"), ("a", "y")]}
    assert derive("A(P) :- Edge(P,_).", "A", facts) == {("a",)}
    assert derive("A(P) :- Have(P), not Edge(P,_).", "A", facts) == {("b",)}
    text = "A(P) :- Have(P), Cardinality(Edge(P,_),'>=','2')."
    assert derive(text, "A", facts) == {("a",)}


def test_escapes_in_constants() -> None:
    facts: Facts = {"Have": [("it's",), ("back\\slash",), ("plain",)]}
    text = r"A(P,'\'\\') :- Have(P), P != 'it\'s', P != 'back\\slash'."
    assert derive(text, "A", facts) == {("plain", "'\\")}


def test_predicates_are_told_apart_by_arity() -> None:
    text = "A(X) :- Edge(X).\nB(X) :- Edge(X,_)."
    facts = TupleSource({Predicate("Edge", 1): [("one",)], Predicate("Edge", 2): [("two", "x")]})
    found = evaluate(compile_module([("x", text)]), load(facts))
    assert found.facts(Predicate("A", 1)) == [("one",)]
    assert found.facts(Predicate("B", 1)) == [("two",)]


# Strata and fixed points.


def test_evaluation_reaches_the_least_fixed_point() -> None:
    facts: Facts = {"Edge": [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")]}
    text = "Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Path(Y,Z)."
    round_trip = {(x, y) for x in "abc" for y in "abc"}
    assert derive(text, "Path", facts) == round_trip | {("d", "d")}


def test_recursion_without_a_start_derives_nothing() -> None:
    facts: Facts = {"Edge": [("a", "b")]}
    assert derive("A(X) :- B(X).\nB(Y) :- A(X), Edge(X,Y).", "A", facts) == set()


def test_negation_is_closed_world_over_the_snapshot() -> None:
    text = """\
Reached('a') :- true.
Reached(Y) :- Reached(X), Edge(X,Y).
Lost(P) :- Have(P), not Reached(P).
"""
    facts: Facts = {"Have": [("a",), ("b",), ("c",)], "Edge": [("a", "b")]}
    assert derive(text, "Lost", facts) == {("c",)}
    assert derive(text, "Lost", {**facts, "Edge": [("a", "b"), ("b", "c")]}) == set()


def test_the_counted_predicate_is_evaluated_before_the_count() -> None:
    text = """\
Reached(X,X) :- Have(X).
Reached(X,Z) :- Reached(X,Y), Edge(Y,Z).
Busy(X) :- Have(X), Cardinality(Reached(X,_),'>=','3').
"""
    facts: Facts = {"Have": [("a",), ("b",), ("c",)], "Edge": [("a", "b"), ("b", "c")]}
    assert derive(text, "Busy", facts) == {("a",)}


@pytest.mark.parametrize(
    "text",
    [
        "A(P) :- Have(P), not B(P).\nB(P) :- Have(P), not A(P).",
        "A(P) :- Candidate(P), Cardinality(A(Q),'<','100').",
        "A(P) :- Have(P), B(P).\nB(P) :- C(P).\nC(P) :- Have(P), not A(P).",
    ],
)
def test_an_unstratified_lacegram_is_not_evaluated(text: str) -> None:
    with pytest.raises(CompileError, match=r"error\[unstratified\]"):
        compile_module([("x", text)])


def test_the_order_of_rules_and_facts_changes_nothing() -> None:
    rules = ["P(X) :- Edge(X,_).", "P(Y) :- P(X), Edge(X,Y).", "Q(X) :- Have(X), not P(X)."]
    edges = [("a", "b"), ("b", "c")]
    haves = [("a",), ("c",), ("d",)]
    answers = [
        derive("\n".join(order), "Q", {"Edge": edges[::step], "Have": haves[::step]})
        for order in (rules, rules[::-1])
        for step in (1, -1)
    ]
    assert answers == [{("d",)}] * 4


# IntCompare.


@pytest.mark.parametrize(
    ("a", "operator", "b", "answer"),
    [
        ("2", "<", "10", True),
        ("10", "<", "2", False),
        ("2", "<=", "2", True),
        ("2", "<", "2", False),
        ("3", ">", "-4", True),
        ("-4", ">=", "-5", True),
        ("007", "<=", "7", True),
        ("007", ">=", "7", True),
        ("-0", ">=", "0", True),
        ("9" * 40, "<", "1" + "0" * 40, True),
        ("9223372036854775808", ">", "9223372036854775807", True),
        ("-9223372036854775809", "<", "-9223372036854775808", True),
    ],
)
def test_int_compare_is_numeric(a: str, operator: str, b: str, answer: bool) -> None:
    assert holds(f"IntCompare(A,'{operator}',B)", A=a, B=b) is answer
    assert holds(f"IntCompare(A,'{operator}','{b}')", A=a) is answer
    assert holds(f"IntCompare('{a}','{operator}',B)", B=b) is answer
    assert holds(f"IntCompare('{a}','{operator}','{b}')") is answer


def test_int_compare_of_thousands_of_digits() -> None:
    text = "A(X) :- Have(X), Have(Y), IntCompare(X,'<',Y)."
    low, high = "1" + "0" * 6000, "2" + "0" * 6000
    limits = Limits(value_bytes=10_000)
    database = load(source({"Have": [(low,), (high,)]}), limits)
    found = evaluate(compile_module([("x", text)]), database, limits=limits)
    assert found.facts(Predicate("A", 1)) == [(low,)]


@pytest.mark.parametrize(
    "value", ["", "-", "+1", " 1", "1 ", "1.0", "1e3", "one", "0x1", "٣", "１", "--1", "1\0"]
)
@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_int_compare_of_what_is_no_decimal_is_false(value: str, operator: str) -> None:
    assert not holds(f"IntCompare(A,'{operator}','0')", A=value)
    assert not holds(f"IntCompare('0','{operator}',A)", A=value)
    assert not holds(f"IntCompare(A,'{operator}',A)", A=value)


# LexCompare.


@pytest.mark.parametrize(
    ("a", "operator", "b", "answer"),
    [
        ("a", "<", "b", True),
        ("10", "<", "2", True),
        ("", "<", "a", True),
        ("a", "<", "aa", True),
        ("a", "<", "a\0", True),
        ("Z", "<", "a", True),
        ("z", "<", "é", True),
        ("\uffff", "<", "\U00010000", True),  # UTF-16 would order these the other way
        ("é", "<=", "é", True),
        ("é", "<", "é", False),
        ("b", ">", "a", True),
        ("a", ">=", "b", False),
    ],
)
def test_lex_compare_is_bytewise(a: str, operator: str, b: str, answer: bool) -> None:
    assert holds(f"LexCompare(A,'{operator}',B)", A=a, B=b) is answer
    assert holds(f"LexCompare(A,'{operator}','{b}')", A=a) is answer
    assert holds(f"LexCompare('{a}','{operator}',B)", B=b) is answer


# TextShape.


@pytest.mark.parametrize(
    ("text", "start", "end", "answer"),
    [
        ("links/x", "links/", "", True),
        ("links/", "links/", "", True),
        ("link", "links/", "", False),
        ("data.json", "", ".json", True),
        (".json", "", ".json", True),
        ("data.jsonx", "", ".json", False),
        ("links/a.md", "links/", ".md", True),
        ("links/.md", "links/", ".md", True),  # the middle may be empty
        ("links/a.txt", "links/", ".md", False),
        ("aba", "ab", "ba", False),  # Start and End do not overlap
        ("abba", "ab", "ba", True),
        ("", "", "", True),
        ("a", "a\0", "", False),
    ],
)
def test_text_shape_without_delimiters(text: str, start: str, end: str, answer: bool) -> None:
    assert holds(f"TextShape(T,'{start}','','{end}')", T=text) is answer
    assert holds("TextShape(T,S,'',E)", T=text, S=start, E=end) is answer


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("links/bob/msg", True),
        ("links/bob.msg", True),
        ("links/msg", False),
        ("links/bob/alice/msg", False),
        ("links/.msg", False),
    ],
)
def test_the_example_of_links_and_messages(name: str, answer: bool) -> None:
    text = "Selected(P) :- Have(P), Field(P,'Name',_,K), TextShape(K,'links/','./','msg')."
    facts: Facts = {"Have": [("r",)], "Field": record("r", ("Name", name))}
    assert derive(text, "Selected", facts) == ({("r",)} if answer else set())


@pytest.mark.parametrize(
    ("text", "start", "delims", "end", "answer"),
    [
        ("a/b/c", "a/", "/", "c", True),  # a delimiter inside Start is ignored
        ("b/c/d", "", "/", "c/d", True),  # a delimiter inside End is ordinary text
        ("a//c", "a/", "/", "c", False),  # immediately after Start: the segment is empty
        ("/c", "", "/", "c", False),
        ("ab/", "a", "/", "", True),  # End is empty: the delimiter is the last scalar value
        ("ab/x", "a", "/", "", False),
        ("ab", "a", "/", "", False),  # no delimiter
        ("ab.c", "a", "..", "c", True),  # a duplicate delimiter has no extra effect
        ("ab.c", "a", "/.", "c", True),
        ("日b本c", "日", "本", "c", True),  # Delims is a set of scalar values, not of bytes
        ("x日", "", "本", "", False),
        ("a👩‍👩", "a", "\u200d", "👩", True),
        ("a👩‍👩", "a", "👩", "\u200d👩", False),
        ("bob/alice/msg", "", "/", "msg", False),  # the first delimiter decides
    ],
)
def test_text_shape_with_delimiters(
    text: str, start: str, delims: str, end: str, answer: bool
) -> None:
    """D10."""
    assert holds(f"TextShape(T,'{start}','{delims}','{end}')", T=text) is answer
    assert holds(f"TextShape(T,S,'{delims}',E)", T=text, S=start, E=end) is answer


def test_delimiters_must_be_a_constant() -> None:
    with pytest.raises(CompileError, match="delims-not-constant"):
        compile_module([("x", "A(P) :- Have(P), TextShape(P,'',P,'').")])


# !=


def test_unequal_compares_text() -> None:
    assert holds("A != B", A="7", B="007")
    assert holds("A != 'é'", A="e")
    assert not holds("A != B", A="same", B="same")
    assert not holds("'x' != 'x'")


# Cardinality.

LINKS = [("r", "to", "0", "a", "x"), ("r", "to", "1", "a", "x"), ("r", "to", "2", "b", "y")]


@pytest.mark.parametrize(
    ("counted", "count"),
    [
        ("RecordLink(P,_,_,_,_)", 3),  # every column tells facts apart
        ("RecordLink(P,_,_,D,T)", 3),  # variables not bound outside are local wildcards
        ("RecordLink(P,'to',_,'a',_)", 2),
        ("RecordLink(P,_,_,_,'z')", 0),  # no match counts as zero
        ("RecordLink(P,_,_,L,L)", 0),  # two uses of one local name must be equal
        ("RecordLink(_,_,_,_,_)", 3),
        ("RecordLink(_,_,_,_,P)", 0),
        ("Have(P)", 1),
    ],
)
def test_cardinality_counts_distinct_facts_of_one_atom(counted: str, count: int) -> None:
    facts: Facts = {"Have": [("r",)], "RecordLink": LINKS}
    for bound in range(-1, 5):
        for operator, answer in (
            ("<", count < bound),
            ("<=", count <= bound),
            (">", count > bound),
            (">=", count >= bound),
        ):
            text = f"A(P) :- Have(P), Cardinality({counted},'{operator}','{bound}')."
            assert derive(text, "A", facts) == ({("r",)} if answer else set())


def test_variables_bound_outside_are_substituted() -> None:
    text = "A(P) :- Have(P), Cardinality(Edge(P,_),'>','1')."
    facts: Facts = {"Have": [("a",), ("b",), ("c",)], "Edge": [("a", "x"), ("a", "y"), ("b", "x")]}
    assert derive(text, "A", facts) == {("a",)}


def test_cardinality_binds_nothing() -> None:
    with pytest.raises(CompileError, match="unbound-variable"):
        compile_module([("x", "A(Q) :- Have(P), Cardinality(Edge(P,Q),'>','1').")])


def test_a_bound_may_be_a_variable_and_fails_when_it_is_no_decimal() -> None:
    text = "A(N) :- Have(N), Cardinality(Edge(_,_),'<=',N)."
    bounds = [("1",), ("2",), ("003",), ("many",), ("",)]
    facts: Facts = {"Have": bounds, "Edge": [("a", "b"), ("b", "c")]}
    assert derive(text, "A", facts) == {("2",), ("003",)}


# The examples of the text.


def test_the_example_of_selection() -> None:
    text = """\
Selected(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'App',_,'ding'), Field(P,'Name',_,K), \
TextShape(K,'links/','','').
"""
    fields = [
        *record("yes", ("Group", "u"), ("App", "ding"), ("Name", "links/a")),
        *record("name", ("Group", "u"), ("App", "ding"), ("Name", "other/a")),
        *record("app", ("Group", "u"), ("App", "dong"), ("Name", "links/a")),
        *record("missing", ("Group", "u"), ("App", "ding"), ("Name", "links/a")),
    ]
    facts: Facts = {"Have": [("yes",), ("name",), ("app",)], "Field": fields}
    assert derive(text, "Selected", facts) == {("yes",)}


def test_the_example_of_support() -> None:
    text = "Support(Target) :- Have(P), RecordLink(P,'+Link',_,'evidence',Target)."
    links = [("p", "+Link", "0", "evidence", "t"), ("p", "+Link", "1", "other", "u")]
    facts: Facts = {"Have": [("p",)], "RecordLink": [*links, ("q", "+Link", "0", "evidence", "v")]}
    assert derive(text, "Support", facts) == {("t",)}


LATEST = """\
Before(P,Q) :- Candidate(P,T), Candidate(Q,T), LexCompare(Q,'>',P).
Before(P,Q) :- Candidate(P,TP), Candidate(Q,TQ), LexCompare(TQ,'>',TP).
Candidate(P,T) :- Have(P), Field(P,'Group',_,'u'), Field(P,'App',_,'ding'), Field(P,'Name',_,K), \
TextShape(K,'links/','',''), Field(P,'TAI',_,T).
Selected(P) :- Candidate(P,T), Cardinality(Before(P,Q),'<','100').
"""


@pytest.mark.parametrize("all_outputs", [True, False])
def test_the_example_of_the_latest_hundred(all_outputs: bool) -> None:
    """Newest first by TAI, then by hash; the same whether Before is made or not."""
    fields: list[Row] = []
    for n in range(150):
        values = (("Group", "u"), ("App", "ding"), ("Name", f"links/{n}"), ("TAI", f"{n // 3:04}"))
        fields.extend(record(f"r{n:03}", *values))
    facts: Facts = {"Have": [(f"r{n:03}",) for n in range(150)], "Field": fields}
    selected = Predicate("Selected", 1)
    outputs = None if all_outputs else [selected]
    found = evaluate(compile_module([("latest", LATEST)]), load(source(facts)), outputs)
    assert found.facts(selected) == [(f"r{n:03}",) for n in range(50, 150)]


def test_the_example_of_blocked_signers() -> None:
    text = """\
Blocked(V) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked'), Field(P,'Name',_,V).
Selected(P) :- Have(P), Field(P,'Signed-By',_,V), not Blocked(V).
"""
    fields = [
        *record("list", ("Group", "keys"), ("App", "blocked"), ("Name", "V.bad")),
        *record("good", ("Signed-By", "V.good")),
        *record("bad", ("Signed-By", "V.bad")),
    ]
    facts: Facts = {"Have": [("list",), ("good",), ("bad",), ("unsigned",)], "Field": fields}
    assert derive(text, "Selected", facts) == {("good",)}


# Limits.


def test_defaults_are_at_least_the_minimum() -> None:
    limits = Limits()
    assert limits.base_facts >= 2**20
    assert limits.runtime_facts >= 2**20
    assert limits.derived_facts >= 2**18
    assert limits.rules >= 256
    assert limits.iterations >= 1000
    assert limits.arity >= 8
    assert limits.value_bytes >= 1024


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(base_facts=1), "base_facts"),
        (Limits(runtime_facts=0), "runtime_facts"),
        (Limits(derived_facts=2), "derived_facts"),
        (Limits(iterations=2), "iterations"),
    ],
)
def test_the_engine_stops_with_an_error_rather_than_exceed_a_limit(
    limits: Limits, name: str
) -> None:
    text = "Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Edge(Y,Z)."
    facts: Facts = {"Edge": [("a", "b"), ("b", "c")], "Peer": [("v",)]}
    assert len(derive(text, "Path", facts)) == 3
    with pytest.raises(LimitError, match=name):
        derive(text, "Path", facts, limits)


# Fact sources.


@pytest.mark.parametrize("encoded", [True, False])
def test_a_fact_source_iterates_queries_and_counts(encoded: bool) -> None:
    field, nothing = Predicate("Field", 4), Predicate("Nothing", 2)
    rows = [("r", "Name", "0", "a"), ("r", "Name", "1", "b"), ("r", "TAI", "0", "a")]
    plain = TupleSource({field: [*rows, rows[0]]})
    facts = DatabaseSource(load(plain)) if encoded else plain
    assert sorted(facts.iterate(field)) == sorted(rows)
    assert facts.count(field) == 3
    assert sorted(facts.query(field)) == sorted(rows)
    assert sorted(facts.query(field, "r", "Name")) == rows[:2]
    assert list(facts.query(field, *rows[2])) == [rows[2]]
    assert list(facts.query(field, "r", "missing")) == []
    assert list(facts.iterate(nothing)) == []
    assert facts.count(nothing) == 0


def test_changed_facts_give_what_a_full_evaluation_gives() -> None:
    text = "A(P) :- Have(P), not Peer(P)."
    before: Facts = {"Have": [("a",), ("b",)], "Peer": [("a",)]}
    assert derive(text, "A", before) == {("b",)}
    assert derive(text, "A", {"Have": [("a",), ("b",)]}) == {("a",), ("b",)}
    assert derive(text, "A", {"Have": [("a",)], "Peer": [("a",)]}) == set()
