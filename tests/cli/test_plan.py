"""compile, eval and explain with --plan: two operands, one side, the forms that scripts rely on."""

from pathlib import Path

import pytest

from lacec.store.store import Store
from tests.cli.run import Outcome, lacec
from tests.store.samples import samples

GROUP_X = (
    "SelectHave(P) :- Have(P), Field(P,'Group',_,'X').\n"
    "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'Group',_,'X').\n"
)
EVERYTHING = "SelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S).\n"
FACTS = """\
Have('1')
Have('2')
Field('1','Group','0','X')
Field('2','Group','0','Y')
Advertised('8','V.b')
Advertised('9','V.b')
AdvertisedField('9','V.b','Group','0','X')
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "x.lace": GROUP_X,
        "all.lace": EVERYTHING,
        "all.facts": FACTS,
        "y.lace": "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'Y').\n",
        "bob.lace": "AllowQueryRecord('V.bob',P) :- Have(P).\n",
        "broken.lace": "SelectHave(P) :- Have(Q).\n",
    }.items():
        Path(name).write_text(text)


def evaluated(*more: str) -> Outcome:
    return lacec("eval", "--plan", "x.lace", "all.lace", "--facts", "all.facts", "--json", *more)


def test_compile_prints_the_plan_as_json() -> None:
    outcome = lacec("compile", "--plan", "x.lace", "all.lace", "--verifier0", "V.a", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert list(document) == [
        *("id", "transcript", "operands", "required_fields", "all_fields", "provenance")
    ]
    assert document["id"].startswith("E.")
    assert document["transcript"].startswith("ExchangePlanProfile('lace-040-exchange-plan-v1')\n")
    assert [operand["index"] for operand in document["operands"]] == [0, 1]
    assert [operand["verifier"] for operand in document["operands"]] == ["V.a", None]
    assert all(operand["origin"].startswith("Opq_") for operand in document["operands"])
    assert all(operand["id"].startswith("R.") for operand in document["operands"])
    assert (document["required_fields"], document["all_fields"]) == (["Group"], False)
    assert any(fact.startswith("RuleSource('U.") for fact in document["provenance"])


def test_all_fields_name_none() -> None:
    Path("any.lace").write_text(EVERYTHING + "A(P) :- AdvertisedField(P,_,_,_,_).\n")
    document = lacec("compile", "--plan", "x.lace", "any.lace", "--json").document
    assert (document["required_fields"], document["all_fields"]) == ([], True)


def test_compile_prints_the_transcript_for_people_and_writes_it() -> None:
    outcome = lacec("compile", "--plan", "x.lace", "all.lace", "-o", "made")
    assert outcome.out.startswith("E.")
    transcript = Path("made/plan.transcript").read_text()
    assert outcome.out.endswith(transcript + "\n")
    assert "RuleOrigin(" in Path("made/plan.provenance").read_text()


def test_origins_by_verifier() -> None:
    more = ("--verifier0", "V.a", "--verifier1", "V.b", "--origins", "verifier", "--json")
    document = lacec("compile", "--plan", "x.lace", "all.lace", *more).document
    assert [operand["origin"] for operand in document["operands"]] == ["V.a", "V.b"]


def test_nonces_and_lowerings_are_options() -> None:
    plain = lacec("compile", "--plan", "x.lace", "all.lace", "--json").document["id"]
    one_nonce = lacec("compile", "--plan", "x.lace", "all.lace", "--nonce0", "n", "--json")
    assert one_nonce.document["id"] == plain
    both = [
        lacec(
            "compile", "--plan", "x.lace", "all.lace", "--nonce0", str(n), "--nonce1", "m", "--json"
        )
        for n in range(6)
    ]
    assert len({each.document["id"] for each in both}) > 1
    more = ("--lowering", "encrypted-v1", "--json")
    assert lacec("compile", "--plan", "x.lace", "all.lace", *more).document["id"] != plain


def test_every_diagnostic_of_both_operands_is_reported() -> None:
    outcome = lacec("compile", "--plan", "broken.lace", "y.lace", "--json")
    assert outcome.code == 1
    found = {(d["file"], d["name"]) for d in outcome.document["diagnostics"]}
    assert ("broken.lace", "missing-export") in found
    assert ("broken.lace", "unbound-variable") in found
    assert ("y.lace", "reserved-name") in found
    assert ("y.lace", "closed-selector") in found


@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", "--plan", "x.lace"),
        ("compile", "--plan", "x.lace", "all.lace", "y.lace"),
        ("compile", "x.lace", "all.lace"),
        ("compile", "x.lace", "--nonce0", "n"),
        ("compile", "x.lace", "--origins", "verifier"),
        ("compile", "--plan", "x.lace", "all.lace", "--lowering", "mine"),
        ("compile", "--plan", "x.lace", "all.lace", "--with", "y.lace"),
        ("compile", "--plan", "x.lace", "all.lace", "--verifier0", "Opq_a"),
        ("compile", "--plan", "x.lace", "all.lace", "--verifier0", ""),
        ("compile", "--plan", "-", "-"),
        ("eval", "--plan", "x.lace", "all.lace"),
        ("eval", "--plan", "x.lace", "all.lace", "--side", "2"),
        ("eval", "--plan", "x.lace", "all.lace", "--side", "0", "--query", "MaySend/1"),
        ("eval", "--plan", "x.lace", "all.lace", "--side", "0", "--expose", "missing.lace"),
        ("eval", "--plan", "-", "all.lace", "--side", "0", "--expose", "-"),
        ("eval", "x.lace", "--side", "0"),
        ("eval", "x.lace", "--expose", "all"),
        ("explain", "x.lace", "all.lace"),
        ("explain", "x.lace", "--trust-peer"),
        ("explain", "--plan", "x.lace", "all.lace"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert lacec(*arguments).code == 2


def test_equal_verifier_origins_make_no_plan() -> None:
    more = ("--verifier0", "V.a", "--verifier1", "V.a", "--origins", "verifier")
    outcome = lacec("compile", "--plan", "x.lace", "all.lace", *more)
    assert outcome.code == 2
    assert "both sides have the origin V.a" in outcome.err


def test_nothing_is_exposed_by_default() -> None:
    assert evaluated("--side", "0").document == {
        "may_send": [],
        "may_request": ["9"],
        "can_query": [],
    }
    text = lacec("eval", "--plan", "x.lace", "all.lace", "--side", "0", "--facts", "all.facts")
    assert text.out == "MayRequest('9')\n"
    assert "nothing is exposed to the peer" in text.err
    assert "nothing is sent" in text.err


@pytest.mark.parametrize(
    ("side", "expose", "may_send", "can_query"),
    [
        ("0", ["selected"], ["1"], ["1"]),
        ("0", ["all"], ["1"], ["1", "2"]),
        ("0", ["y.lace"], [], ["2"]),
        ("1", ["selected"], ["1"], ["1", "2"]),
        ("1", ["y.lace"], [], ["2"]),
        ("0", ["all", "selected"], ["1"], ["1"]),
        ("0", ["y.lace", "selected"], [], []),
        ("0", ["bob.lace"], [], []),
    ],
)
def test_exposure_decides_what_the_peer_sees(
    side: str, expose: list[str], may_send: list[str], can_query: list[str]
) -> None:
    """Modules are intersected; operand 0 selects group X, operand 1 everything."""
    more = [argument for each in expose for argument in ("--expose", each)]
    document = evaluated("--side", side, *more).document
    assert (document["may_send"], document["can_query"]) == (may_send, can_query)
    assert document["may_request"] == ["9"]


def test_a_verifier_is_the_viewer() -> None:
    more = ("--side", "0", "--expose", "bob.lace", "--verifier1", "V.bob")
    assert evaluated(*more).document["can_query"] == ["1", "2"]


def test_a_trusted_peer_and_a_narrowed_operand() -> None:
    assert evaluated("--side", "0", "--trust-peer").document["may_send"] == ["1"]
    narrowed = ("--side", "1", "--expose", "all", "--narrow", "y.lace")
    assert evaluated(*narrowed).document["may_send"] == []


def test_text_is_fact_lines() -> None:
    more = ("--side", "0", "--facts", "all.facts", "--expose", "selected", "--verifier1", "V.b")
    outcome = lacec("eval", "--plan", "x.lace", "all.lace", *more)
    assert outcome.out == "CanQueryRecord('V.b','1')\nMayRequest('9')\nMaySend('1')\n"


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("Member('a')", "unknown-fact"),
        ("Have('a','b')", "unknown-fact"),
        ("_Viewer('a')", "unknown-fact"),
        ("MaySend('a')", "derived-fact"),
        ("SelectHave('a')", "derived-fact"),
        ("CanQueryRecord('a','b')", "derived-fact"),
        ("o1_SelectHave('a')", "derived-fact"),
    ],
)
def test_facts_that_no_exchange_has_are_refused(fact: str, name: str) -> None:
    Path("wrong.facts").write_text(f"Have('1')\n{fact}\n")
    more = ("--side", "0", "--expose", "all", "--facts", "wrong.facts", "--json")
    outcome = lacec("eval", "--plan", "x.lace", "all.lace", *more)
    assert outcome.code == 1
    (found,) = outcome.document["diagnostics"]
    assert (found["name"], found["line"]) == (name, 2)


def test_a_broken_exposure_is_refused() -> None:
    outcome = evaluated("--side", "0", "--expose", "broken.lace")
    assert outcome.code == 1
    assert {d["file"] for d in outcome.document["diagnostics"]} == {"broken.lace"}


def test_the_operand_of_a_peer_is_held_to_256_rules() -> None:
    """D12."""
    Path("large.lace").write_text(
        EVERYTHING + "".join(f"Helper{n}(P) :- Have(P).\n" for n in range(255))
    )
    wrong = lacec("eval", "--plan", "x.lace", "large.lace", "--side", "0", "--json")
    assert wrong.code == 1
    assert [d["name"] for d in wrong.document["diagnostics"]] == ["too-many-rules"]
    assert lacec("eval", "--plan", "x.lace", "large.lace", "--side", "1", "--json").code == 0


def test_a_limit_exits_with_3() -> None:
    outcome = evaluated("--side", "0", "--expose", "all", "--limit", "derived_facts=1")
    assert outcome.code == 3
    assert outcome.document["limit"]["name"] == "derived_facts"
    product = (
        "SelectHave(P) :- Have(P), Have(Q), P != Q.\nSelectAdvertised(P,S) :- Advertised(P,S).\n"
    )
    Path("all.lace").write_text(product)
    more = ("--side", "0", "--expose", "all", "--limit", "peer_intermediate_rows=3")
    found = evaluated(*more).document["limit"]
    assert (found["name"], found["origin"]) == ("peer_intermediate_rows", "peer")
    text = lacec("eval", "--plan", "x.lace", "all.lace", "--facts", "all.facts", *more)
    assert "exceeds the limit peer_intermediate_rows of 3, in the rules of the peer" in text.err


def test_explain_says_whose_each_rule_is_and_what_it_sees() -> None:
    arguments = ("explain", "--plan", "x.lace", "all.lace", "--side", "0", "--expose", "y.lace")
    document = lacec(*arguments, "--verifier1", "V.bob", "--json").document
    assert (document["side"], document["viewer"]) == (0, "V.bob")
    found = {rule["text"].partition("(")[0]: rule for rule in document["rules"]}
    peer, own = found["o1_SelectHave"], found["o0_SelectHave"]
    assert (peer["from"], peer["sees"]) == ("peer", "the records that V.bob may query")
    assert (own["from"], own["sees"]) == ("own", "all records")
    assert (own["file"], own["line"]) == ("x.lace", 1)
    assert found["m1_AllowQueryRecord"]["from"] == "exposure"
    assert found["MaySend"]["from"] == "generated"
    assert found["MaySend"]["sees"] == "no record facts"
    (plan,) = [plan for plan in document["main"] if plan["text"].startswith("o1_SelectHave")]
    assert "LOAD     Have/1 view 1" in plan["bytecode"]


def test_explain_shows_the_sizes_that_each_rule_sees() -> None:
    arguments = ("explain", "--plan", "x.lace", "all.lace", "--side", "0", "--expose", "y.lace")
    document = lacec(*arguments, "--facts", "all.facts", "--json").document
    starts = {plan["text"].partition("(")[0]: plan["order"][0]["size"] for plan in document["main"]}
    assert starts["o1_SelectHave"] == 1
    assert lacec(*arguments, "--facts", "all.facts").out.count("sees ") == 3


def test_a_side_over_a_store() -> None:
    """--store gives the record facts, --facts those of the exchange."""
    with Store.create("mine") as store:
        store.add(samples())
    Path("more.facts").write_text("Peer('V.b')\nAdvertised('9','V.b')\n")
    Path("u.lace").write_text("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'u').\n")
    arguments = ("all.lace", "all.lace", "--side", "0", "--expose", "u.lace", "--store", "mine")
    document = lacec("eval", "--plan", *arguments, "--facts", "more.facts", "--json").document
    chosen = sorted(record.hash for record in samples() if record.group == "u")
    assert document == {"may_send": chosen, "may_request": ["9"], "can_query": chosen}
    audit = lacec("audit", *arguments, "--json").document
    assert (audit["records"], audit["can_query"]) == (len(samples()), len(chosen))
    explained = lacec("explain", "--plan", *arguments, "--json").document
    sizes = {plan["text"].partition("(")[0]: plan["order"][0]["size"] for plan in explained["main"]}
    assert sizes["o1_SelectHave"] == len(chosen)


def test_the_shortcuts_of_an_exposure_keep_to_the_limits_given() -> None:
    constants = "".join(f"SelectHave('{n}') :- true.\n" for n in range(4095))
    Path("big.lace").write_text(constants + "SelectAdvertised(P,S) :- Advertised(P,S).\n")
    side = ("--side", "0", "--facts", "all.facts", "--expose", "selected")
    outcome = lacec("eval", "--plan", "big.lace", "x.lace", *side, "--json")
    assert (outcome.code, outcome.document["can_query"]) == (0, ["1", "2"])
    long = "x" * 2000
    Path("long.lace").write_text(EVERYTHING + f"SelectHave('{long}') :- true.\n")
    for command in ("eval", "explain"):
        outcome = lacec(
            command, "--plan", "long.lace", "x.lace", *side, "--limit", "value_bytes=4096"
        )
        assert outcome.code == 0


def test_a_misspelt_shortcut_of_an_exposure_is_told() -> None:
    outcome = evaluated("--side", "0", "--expose", "slected")
    assert (outcome.code, outcome.out) == (2, "")
    assert "there is no file slected; did you mean selected?" in outcome.err
    Path("slected").write_text("AllowQueryRecord(V,P) :- _Viewer(V), Have(P).\n")
    assert evaluated("--side", "0", "--expose", "slected").code == 0


def test_eval_of_a_plan_writes_no_tables() -> None:
    outcome = evaluated("--side", "0", "--as", "csv")
    assert outcome.code == 2
    assert "--as" in outcome.err
