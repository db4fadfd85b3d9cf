"""lacec explain FILE FACT: proofs, and why there is none; of a plan, and of an exchange."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from lacec.store.store import Store
from tests.cli.run import Outcome, lacec
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import EVERYTHING, GROUP_U

POLICY = """\
Reach(X,Y) :- Edge(X,Y).
Reach(X,Z) :- Reach(X,Y), Edge(Y,Z).
Busy(X) :- Node(X), Cardinality(Edge(X,_),'>=','2'), not Closed(X).
"""
FACTS = "".join(
    f"{line}\n"
    for line in (
        *("Edge('a','b')", "Edge('b','c')", "Edge('c','d')", "Edge('a','c')"),
        *("Node('a')", "Node('b')", "Node('d')", "Edge('d','a')", "Edge('d','b')", "Closed('d')"),
    )
)
OURS = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X').
SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'Group',_,'X').
"""
RECORDS = "Have('P.1')\nField('P.1','Group','0','X')\nHave('P.2')\nField('P.2','Group','0','Y')\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.lace").write_text(POLICY)
    Path("some.facts").write_text(FACTS)
    Path("ours.lace").write_text(OURS)
    Path("records.facts").write_text(RECORDS)


def explain(*arguments: str) -> Outcome:
    return lacec("explain", "policy.lace", "--facts", "some.facts", *arguments)


def plan(*arguments: str) -> Outcome:
    files = ("ours.lace", "ours.lace", "--side", "0", "--facts", "records.facts")
    return lacec("explain", "--plan", *files, *arguments)


def test_a_proof_is_a_tree_of_facts_and_rules(snapshot: SnapshotAssertion) -> None:
    outcome = explain("Reach('a','d')")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot


def test_a_count_says_how_many_there_are() -> None:
    assert "Cardinality(Edge('a',_),'>=','2')  there are 2\n" in explain("Busy('a')").out
    below = explain("Busy('b')", "--not").out
    assert "Cardinality(Edge('b',_),'>=','2')  there are 1\n" in below


def test_a_negated_atom_says_what_is_there() -> None:
    assert "not Closed('d')  Closed('d') is there\n" in explain("Busy('d')", "--not").out


def test_a_missing_fact_is_looked_into(snapshot: SnapshotAssertion) -> None:
    outcome = explain("Reach('nowhere','d')", "--not")
    assert outcome.code == 0
    assert outcome.out == snapshot


def test_the_document_of_a_proof_has_its_steps() -> None:
    document = explain("Reach('a','d')", "--json").document
    assert list(document) == ["derived", "fact", "steps"]
    assert document["derived"] is True
    assert [(step["fact"], step["round"]) for step in document["steps"]] == [
        ("Reach('a','d')", 2),
        ("Reach('a','c')", 1),
    ]
    rule = document["steps"][0]["rule"]
    assert (rule["file"], rule["line"]) == ("policy.lace", 2)
    assert rule["id"].startswith("U.")


def test_the_document_of_a_failure_has_the_binding() -> None:
    document = explain("Busy('b')", "--not", "--json").document
    assert document["derived"] is False
    (goal,) = document["goals"]
    (failed,) = goal["rules"]
    assert (failed["kind"], failed["count"], failed["binding"]) == ("count", 1, {"X": "b"})
    assert failed["with"] == ["Node('b')"]


def test_all_facts_of_a_predicate() -> None:
    document = explain("--all", "Reach/2", "--json").document
    assert {step["fact"] for step in document["steps"]} == set(document["facts"])
    assert "Reach('a','d')\n" not in explain("--all", "Busy/1").out
    assert explain("--all", "Busy/1").out.startswith("Busy('a')\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Reach('d','e')",), "is not there: --not says why"),
        (("Reach('a','b')", "--not"), "is there: explain it without --not"),
    ],
)
def test_the_other_way_around_is_said(arguments: tuple[str, ...], says: str) -> None:
    outcome = explain(*arguments)
    assert outcome.code == 1
    assert says in outcome.out
    assert explain(*arguments, "--json").document["derived"] is ("--not" in arguments)


def test_a_given_fact_has_no_rule() -> None:
    assert explain("Edge('a','b')").out == "Edge('a','b')\n"
    assert explain("Edge('a','z')", "--not").out == "Edge('a','z')  is not given\n"
    assert explain("Edge('a','z')", "--not", "--json").document["base"] is True


def test_what_no_rule_could_make() -> None:
    Path("only.lace").write_text("Only('a') :- true.\n")
    outcome = lacec("explain", "only.lace", "Only('b')", "--not")
    assert outcome.out == "Only('b')  is not there, and no rule could make it\n"


@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("Reach('a')", "there is no Reach/1; did you mean Reach/2?\n"),
        ("Raech('a','b')", "there is no Raech/2; did you mean Reach/2?\n"),
        ("Elsewhere('a')", "there is no Elsewhere/1\n"),
    ],
)
def test_a_predicate_that_nothing_has(fact: str, says: str) -> None:
    for arguments in ((fact,), (fact, "--not")):
        outcome = explain(*arguments)
        assert (outcome.code, outcome.out) == (1, says)
    document = explain(fact, "--not", "--json")
    assert document.code == 1
    assert document.document["unknown"] in says
    assert all(f"did you mean {meant}?" in says for meant in document.document["meant"])


def test_a_file_that_is_not_there() -> None:
    outcome = lacec("explain", "nope.lace", "Reach('a','b')")
    assert outcome.code == 2
    assert "cannot read nope.lace: no such file" in outcome.err


def test_of_many_facts_the_first_are_shown() -> None:
    Path("pairs.lace").write_text("Pair(X,Y) :- In(X), In(Y).\n")
    Path("in.facts").write_text("".join(f"In('{n:03}')\n" for n in range(60)))
    outcome = lacec("explain", "pairs.lace", "--all", "Pair/2", "--facts", "in.facts")
    assert outcome.code == 0
    assert outcome.out.count("by pairs.lace:1") == 20
    assert outcome.out.endswith("and 3580 more facts; --json has all proofs\n")


def test_a_deep_proof_stays_on_the_page() -> None:
    Path("deep.facts").write_text("".join(f"Edge('{n}','{n + 1}')\n" for n in range(300)))
    out = lacec("explain", "policy.lace", "Reach('0','300')", "--facts", "deep.facts").out
    assert max(map(len, out.splitlines())) < 200
    assert "(200) Reach('0','100')" in out


def test_goals_that_were_not_looked_into_are_said() -> None:
    rules = "".join(f"P{n}(X) :- P{n + 1}(X).\n" for n in range(70)) + "P70(X) :- Base(X).\n"
    Path("chain.lace").write_text(rules)
    assert "not looked into: P64('a')\n" in lacec("explain", "chain.lace", "P0('a')", "--not").out
    document = lacec("explain", "chain.lace", "P0('a')", "--not", "--json").document
    assert document["left_out"] == ["P64('a')"]


def test_of_many_that_block_the_others_are_counted() -> None:
    Path("free.lace").write_text("Free(X) :- Ok(X), not Bad(_).\n")
    Path("bad.facts").write_text("Ok('a')\n" + "".join(f"Bad('{n:04}')\n" for n in range(5000)))
    out = lacec("explain", "free.lace", "Free('a')", "--not", "--facts", "bad.facts").out
    assert "is there, and 4999 others\n" in out


def test_a_bound_that_is_no_decimal() -> None:
    Path("many.lace").write_text("Many(X) :- Node(X), Thr(N), Cardinality(Edge(X,_),'>=',N).\n")
    Path("words.facts").write_text("Node('a')\nThr('x')\n")
    out = lacec("explain", "many.lace", "Many('a')", "--not", "--facts", "words.facts").out
    assert "Cardinality(Edge('a',_),'>=','x')  'x' is no decimal\n" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Reach('a'",), "is no fact"),
        (("--not",), "give the fact that is not there"),
        (("--all", "Reach"), "is not NAME/ARITY"),
        (("--all", "Edge/2"), "no rule makes Edge/2"),
        (("--all", "Reach/2", "Reach('a','b')"), "give no fact"),
        (("Reach('a','b')", "--left-policy", "x"), "needs --left and --right"),
        (("Reach('a','b')", "--side", "0"), "needs --plan"),
    ],
)
def test_a_wrong_command_line(arguments: tuple[str, ...], says: str) -> None:
    outcome = explain(*arguments)
    assert outcome.code == 2
    assert says in outcome.err


# Plans.


def test_a_plan_names_the_operands_and_their_rules() -> None:
    outcome = plan("MaySend('P.1')", "--expose", "selected")
    assert outcome.code == 0
    assert "by operand 0 (own)  ours.lace:1  SelectHave(P)" in outcome.out
    assert "by operand 1 (peer)  ours.lace:1  SelectHave(P)" in outcome.out
    steps = plan("MaySend('P.1')", "--expose", "selected", "--json").document["steps"]
    whose = [(step["rule"]["from"], step["rule"]["operand"]) for step in steps]
    assert ("own", 0) in whose
    assert ("peer", 1) in whose


def test_what_the_peer_may_not_see_is_said_to_be_so() -> None:
    out = plan("MaySend('P.1')", "--not").out
    assert "Have('P.1')  Have('P.1') is there, but not exposed to the peer\n" in out


def test_why_a_record_is_not_exposed() -> None:
    Path("expose.lace").write_text(
        "AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(P,'Group',_,'Z').\n"
    )
    out = plan("MaySend('P.1')", "--expose", "expose.lace", "--not").out
    assert "by exposure  expose.lace:1  AllowQueryRecord(V,P)" in out
    assert "Field('P.1','Group',_,'Z')  there is no such fact\n" in out


def test_a_narrowed_view_is_no_matter_of_the_peer() -> None:
    Path("none.lace").write_text("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'No',_,V).\n")
    out = plan("MaySend('P.1')", "--expose", "all", "--narrow", "none.lace", "--not").out
    assert "is there, but narrowed away\n" in out


def test_a_plan_has_no_predicate_of_an_operand_but_by_its_lowered_name() -> None:
    outcome = plan("SelectHave('P.1')")
    assert outcome.code == 1
    says = "there is no SelectHave/1; did you mean o0_SelectHave/1 or o1_SelectHave/1?\n"
    assert outcome.out == says


def viewer() -> str:
    files = ("ours.lace", "ours.lace", "--side", "0")
    return str(lacec("explain", "--plan", *files, "--json").document["viewer"])


def test_d16a_the_viewer_is_given() -> None:
    Path("expose.lace").write_text("AllowQueryRecord(V,P) :- _Viewer(V), Have(P).\n")
    fact = f"_Viewer('{viewer()}')"
    assert plan(fact, "--expose", "expose.lace").out == f"{fact}\n"
    assert plan(fact).out == f"{fact}\n", "though no rule reads it"


def test_what_is_generated_has_no_place() -> None:
    out = plan(f"CanQueryRecord('{viewer()}','P.1')", "--expose", "all").out
    assert "by generated  CanQueryRecord(" in out
    assert "<generated>" not in out


# Exchanges.

MINE, THEIRS, PRIVATE = plex("links/1"), plex("links/2"), plex("diary", group="x")


@pytest.fixture
def stores() -> None:
    for name, records in (("left", [MINE, PRIVATE]), ("right", [THEIRS])):
        with Store.create(name) as store:
            store.add(records)
    Path("u.lace").write_text(GROUP_U + "\n")
    Path("all.lace").write_text(EVERYTHING + "\n")


def exchange(hash: str, *arguments: str) -> Outcome:
    return lacec("explain", "--left", "left", "--right", "right", hash, *arguments)


@pytest.mark.usefixtures("stores")
def test_a_record_that_moves(snapshot: SnapshotAssertion) -> None:
    outcome = exchange(MINE.hash, "--policy", "u.lace", "--expose", "selected")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot


@pytest.mark.usefixtures("stores")
def test_a_record_that_stays(snapshot: SnapshotAssertion) -> None:
    outcome = exchange(PRIVATE.hash, "--policy", "u.lace", "--expose", "selected")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot


@pytest.mark.usefixtures("stores")
def test_the_receiver_explains_what_it_does_not_request() -> None:
    policies = ("--left-policy", "all.lace", "--right-policy", "u.lace", "--left-expose", "all")
    document = exchange(PRIVATE.hash, *policies, "--json").document
    to_right, to_left = document["directions"]
    assert (to_right["from"], to_right["to"]) == ("left", "right")
    assert to_right["outcome"] == "not-sent", "the selector of the right does not want it"
    assert to_left["outcome"] == "already-there"


@pytest.mark.usefixtures("stores")
def test_the_other_store_is_not_told_of() -> None:
    """Each side explains itself: no word of a record that the other has and does not advertise."""
    document = exchange(
        THEIRS.hash, "--policy", "u.lace", "--expose", "selected", "--json"
    ).document
    to_left = document["directions"][1]
    assert to_left["outcome"] == "moves"
    assert PRIVATE.hash not in str(to_left["send"])
    facts = str(to_left["request"])
    assert f"Advertised('{THEIRS.hash}'" in facts
    assert f"Have('{THEIRS.hash}')" not in facts


@pytest.mark.usefixtures("stores")
@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("--limit", "derived_facts=1"), 3, "derived_facts"),
        (("--left-key", "k", "--right-key", "k"), 1, "claims the verifier of this side"),
    ],
)
def test_an_exchange_that_ends_early_says_why(
    arguments: tuple[str, ...], code: int, reason: str
) -> None:
    lacec("key", "new", "-o", "k")
    both = ("--policy", "all.lace", "--expose", "all", *arguments)
    outcome = exchange(MINE.hash, *both)
    assert outcome.code == code
    assert "not converged: left: " in outcome.out
    assert reason in outcome.out
    document = exchange(MINE.hash, *both, "--json")
    assert document.code == code
    assert document.document["left"]["converged"] is False
    assert reason in document.document["left"]["detail"]


@pytest.mark.usefixtures("stores")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--policy", "u.lace", "--plan"), "cannot stand beside --left and --right"),
        (("--policy", "u.lace", "--not"), "cannot stand beside --left and --right"),
        (("another", "--policy", "u.lace"), "give the hash of one record"),
        ((), "has no selector"),
    ],
)
def test_a_wrong_exchange(arguments: tuple[str, ...], says: str) -> None:
    outcome = exchange(MINE.hash, *arguments)
    assert outcome.code == 2
    assert says in outcome.err
