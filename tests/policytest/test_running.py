"""Tests run: what passes, what fails and why, what is covered."""

from pathlib import Path

import pytest

from lacec.core.limits import Limits
from lacec.explain.proof_tree import Proof, WhyNot
from lacec.policytest.materials import secret_of
from lacec.policytest.outcomes import FileOutcome, coverage
from lacec.policytest.running import run_file
from lacec.records.record import build_blob, build_plex
from lacec.runtime.exchange.explaining import Direction

TAI = "1767225637:000000000"
POLICY = """\
Blocked(V) :- Field(P,'App',_,'blocked'), Field(P,'Name',_,V).
Known(P,V) :- Have(P), Field(P,'Signed-By',_,V).
Selected(P) :- Known(P,V), not Blocked(V).
Empty() :- Blocked('nobody').
"""
FACTS = """\
facts = '''
Have('S.1')
Field('S.1','Signed-By','0','V.a')
'''
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.lace").write_text(POLICY, encoding="utf-8")
    return tmp_path


def run(text: str, name: str = "x.test.toml", *limits: Limits) -> FileOutcome:
    return run_file(name, text.encode(), *limits)


def case(rest: str, above: str = FACTS) -> str:
    return f'{above}[[test]]\nname = "a"\n{rest}\n'


def told(text: str) -> tuple[int, str, str | None]:
    """The one problem that keeps a file or its test from running."""
    (problem,) = run(text).all_problems
    return problem.place.line, problem.message, problem.help


PASSES = [
    'is.selected = ["S.1"]',
    'is."Selected/1" = ["S.1"]',
    'is.Known = [["S.1", "V.a"]]',
    'has.selected = ["S.1"]',
    'lacks.selected = ["S.2"]',
    "is.Empty = false",
]
FAILS = [
    ("is.selected = []", [], ["Selected('S.1')"]),
    ('is.selected = ["S.2"]', ["Selected('S.2')"], ["Selected('S.1')"]),
    ('has.selected = ["S.1", "S.2"]', ["Selected('S.2')"], []),
    ('lacks.selected = ["S.1", "S.2"]', [], ["Selected('S.1')"]),
    ("is.Empty = true", ["Empty()"], []),
]


@pytest.mark.parametrize("rest", PASSES)
def test_what_is_as_expected_passes(rest: str) -> None:
    assert run(case(rest)).passed


@pytest.mark.parametrize(("rest", "missing", "extra"), FAILS)
def test_what_differs_is_explained(rest: str, missing: list[str], extra: list[str]) -> None:
    (outcome,) = run(case(rest)).outcomes
    (failure,) = outcome.failures
    assert [wrong.fact for wrong in failure.missing] == missing
    assert [wrong.fact for wrong in failure.extra] == extra
    assert all(isinstance(wrong.because, WhyNot) for wrong in failure.missing)
    assert all(isinstance(wrong.because, Proof) for wrong in failure.extra)


def test_coverage_is_of_all_tests_together() -> None:
    first = run(case("is.Blocked = []"))
    (covered,) = coverage([first])
    assert (covered.file, covered.rules) == ("x.lace", 4)
    assert [line for line, _ in covered.never] == [1, 4]
    more = "facts = '''\nField('B','App','0','blocked')\nField('B','Name','0','nobody')\n'''\n"
    second = run(case("is.Empty = true", more))
    assert [each.never for each in coverage([first, second])] == [()]


CANNOT = [
    (case("is.selcted = []"), 7, "the policy derives no `selcted`", "did you mean `selected`?"),
    (case("is.Knwon = []"), 7, "the policy derives no `Knwon`", "did you mean `Known`?"),
    (
        case('is."Known/1" = []'),
        7,
        "the policy derives no `Known/1`",
        "there are selected, sent, requested, queryable, Blocked, Empty, Known, Selected",
    ),
    (case('is."Known/x" = []'), 7, "'Known/x' is not NAME/ARITY", "as in Blocked/1"),
    (case("is.sent = []"), 7, "`sent` needs a peer", 'add peer = "theirs.lace" to the test'),
    (
        case('is.Known = ["S.1"]'),
        7,
        "Known has 2 values a row, not 1",
        'write rows as [["one", "two"], …]',
    ),
    (
        case('is.selected = ["$one"]'),
        7,
        "`$one` is no record and no key",
        'write [records.one], or keys = ["one"]; a dollar itself is $$',
    ),
    (
        case('is.selected = []\nstored = ["one"]'),
        5,
        "there is no record `one`",
        'write [records.one], or keys = ["one"]; a dollar itself is $$',
    ),
    (
        case("is.selected = []\nfacts = \"Blocked('a')\"", ""),
        1,
        "Blocked/1 is derived by rules, so it cannot be given as a fact",
        "give the facts under another name, and derive from that",
    ),
    (
        case("is.selected = []\nfacts_from = 'no.facts'"),
        5,
        "cannot read no.facts: no such file or directory",
        None,
    ),
    (
        case("is.selected = []", "policy = 'y.lace'\n"),
        2,
        "cannot read y.lace: no such file or directory",
        'a test file NAME.test.toml tests NAME.lace, or says policy = "…"',
    ),
    (
        case("is.selected = []", "with = ['std:nothing']\n"),
        2,
        "there is no std:nothing",
        "`lacec std list` says what there is",
    ),
    (
        case(
            "is.selected = []\nstored = ['a']",
            "records.a = {group='u', app='a', name='$b'}\n"
            "records.b = {group='u', app='a', name='$a'}\n",
        ),
        1,
        "records name each other in a circle: `a` to `b` to `a`",
        None,
    ),
]


@pytest.mark.parametrize(("text", "line", "message", "help"), CANNOT)
def test_what_cannot_be_run_has_its_line_and_what_to_do(
    text: str, line: int, message: str, help: str | None
) -> None:
    assert told(text) == (line, message, help)


def test_a_mistake_keeps_no_other_test_from_running() -> None:
    wrong = 'stored = ["one"]\nis.selected = []\n'
    more = 'is.Knwon = []\nis.selected = ["S.1"]\nis."Known/3" = []\n'
    text = case(wrong) + f'[[test]]\nname = "b"\n{more}[[test]]\nname = "c"\nis.Blocked = []\n'
    found = run(text)
    assert found.problems == ()
    assert [outcome.passed for outcome in found.outcomes] == [False, False, True]
    assert [[p.message for p in outcome.problems] for outcome in found.outcomes] == [
        ["there is no record `one`"],
        ["the policy derives no `Knwon`", "the policy derives no `Known/3`"],
        [],
    ]


def test_a_circle_of_records_is_one_each_time_it_is_met() -> None:
    circle = "records.a = {group='u', app='a', name='$a'}\n"
    text = case("is.selected = []\nstored = ['a']", circle)
    text += '[[test]]\nname = "b"\nis.selected = []\nstored = ["a"]\n'
    first, second = run(text).outcomes
    assert first.problems == second.problems


def test_a_policy_that_is_not_there_is_told_once() -> None:
    text = case("is.selected = []", "policy = 'y.lace'\n")
    found = run(text + '[[test]]\nname = "b"\nis.selected = []\n')
    assert (len(found.problems), found.outcomes) == (1, ())


def test_a_record_that_is_not_valid_is_told() -> None:
    text = case("is.selected = []\nstored = ['a']", "records.a = {group='', app='a', name='b'}\n")
    line, message, help = told(text)
    assert (line, message.partition(": ")[0]) == (1, "the record `a` is not valid")
    assert help


def test_facts_are_told_where_they_stand() -> None:
    (problem,) = run(case("is.selected = []\nfacts = '''\nHave('S.1')\nHave(P)\n'''")).all_problems
    assert (problem.name, problem.place.line, problem.place.column) == ("bad-fact", 10, 6)


def test_a_policy_with_errors_is_told_by_its_own_diagnostics(folder: Path) -> None:
    (folder / "x.lace").write_text("Selected(P,V) :- Have(P).\n", encoding="utf-8")
    found = run(case("is.selected = []"))
    assert [(each.name, each.place.file) for each in found.problems] == [
        ("unbound-variable", "x.lace")
    ]


def test_a_limit_fails_a_test_and_no_other() -> None:
    text = case('is.selected = ["S.1"]') + '[[test]]\nname = "b"\nfacts = "Have(\'S.2\')"\n'
    text += 'is.selected = ["S.1"]\n'
    found = run_file("x.test.toml", text.encode(), Limits(base_facts=2))
    assert [outcome.error is None for outcome in found.outcomes] == [True, False]


def test_names_stand_for_hashes_and_verifiers() -> None:
    text = """\
keys = ["bob"]
[records.one]
group = "u"
app = "a"
name = "$bob"
signed_by = "alice"
headers = ["Price: $$5"]
[[test]]
name = "a"
stored = ["one"]
is.Known = [["$one", "$alice"]]
"""
    found = run(text)
    assert found.passed
    assert set(found.names.values()) == {"$one", "$alice", "$bob"}
    assert found.names[secret_of("bob").verifier] == "$bob"
    assert found.names == run(text).names  # the same each time


# Plans and exchanges.

SELECTOR = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X').
SelectAdvertised(P,S) :- AdvertisedField(P,S,'Group',_,'X').
"""
RECORDS = """\
[records]
ours = { group = "X", app = "a", name = "n", signed_by = "alice" }
private = { group = "Y", app = "a", name = "n" }
"""


@pytest.fixture
def selectors(folder: Path) -> None:
    (folder / "s.lace").write_text(SELECTOR, encoding="utf-8")
    exposure = "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'X').\n"
    (folder / "open.lace").write_text(exposure, encoding="utf-8")


def side(rest: str) -> FileOutcome:
    return run(f'{RECORDS}[[test]]\nname = "a"\npeer = "s.lace"\n{rest}\n', "s.test.toml")


@pytest.mark.usefixtures("selectors")
@pytest.mark.parametrize("number", [0, 1])
def test_a_side_sends_requests_and_exposes(number: int) -> None:
    given = f'side = {number}\nstored = ["ours", "private"]\nexpose = ["open.lace"]\n'
    expected = 'is.sent = ["$ours"]\nis.queryable = ["$ours"]\nis.selected = ["$ours"]\n'
    found = side(given + expected)
    assert found.passed
    assert {file for file, _ in found.rules} == {"s.lace", "open.lace"}


@pytest.mark.usefixtures("selectors")
def test_nothing_is_exposed_by_default() -> None:
    assert side('stored = ["ours"]\nis.sent = []\nis.queryable = []').passed


@pytest.mark.usefixtures("selectors")
def test_a_trusted_peer_sees_all() -> None:
    assert side('stored = ["private"]\ntrust_peer = true\nis.queryable = ["$private"]').passed


@pytest.mark.usefixtures("selectors")
def test_offers_are_requested() -> None:
    assert side('offered = ["ours", "private"]\nis.requested = ["$ours"]').passed


@pytest.mark.usefixtures("selectors")
def test_a_proven_peer_is_the_viewer() -> None:
    """D14: where a verifier is proven, query views are computed for it."""
    rest = 'stored = ["private"]\nexpose = ["open.lace"]\nhas.queryable = ["$private"]\n'
    (outcome,) = side(f'{rest}runtime = {{ Here = "V.me", Peer = "V.you" }}').outcomes
    assert outcome.failures[0].missing[0].fact.startswith("CanQueryRecord('V.you',")


@pytest.mark.usefixtures("selectors")
def test_a_side_has_no_other_facts() -> None:
    (problem,) = side("facts = \"Other('x')\"\nis.sent = []").all_problems
    assert problem.message == "Other/1 is no fact of an exchange"


def exchange(rest: str, *limits: Limits) -> FileOutcome:
    left = 'left = { stored = ["ours", "private"], expose = ["selected"] }'
    text = f'{RECORDS}[[exchange]]\nname = "a"\n{left}\nright = {{}}\n{rest}\n'
    return run(text, "s.test.toml", *limits)


@pytest.mark.usefixtures("selectors")
def test_an_exchange_moves_what_both_select() -> None:
    found = exchange('is.to_right = ["$ours"]\nis.to_left = []\nlacks.to_right = ["$private"]')
    assert found.passed
    assert found.rules.keys() <= found.fired


@pytest.mark.usefixtures("selectors")
def test_what_an_exchange_does_not_move_is_explained_by_both_sides() -> None:
    (outcome,) = exchange('is.to_right = ["$private"]').outcomes
    (failure,) = outcome.failures
    missing, extra = failure.missing[0].because, failure.extra[0].because
    assert isinstance(missing, Direction)
    assert isinstance(extra, Direction)
    assert (missing.outcome, extra.outcome) == ("not-sent", "moves")


@pytest.mark.usefixtures("selectors")
def test_an_exchange_has_the_time_it_is_given(folder: Path) -> None:
    rule = "SelectHave(P) :- Have(P), TickTAI(T), LexCompare(T,'<','1767225638:').\n"
    (folder / "s.lace").write_text(rule + SELECTOR.split("\n")[1], encoding="utf-8")
    moved = 'is.to_right = ["$ours"]'
    assert exchange(f'at = "2026-01-01T00:00:00Z"\n{moved}').passed
    assert not exchange(f'at = "2026-01-01T00:00:05Z"\n{moved}').passed


@pytest.mark.usefixtures("selectors")
def test_an_exchange_that_does_not_converge_says_why() -> None:
    sides = 'left = { key = "alice" }\nright = { key = "alice" }'
    text = f'[[exchange]]\nname = "a"\n{sides}\nis.to_left = []\n'
    (outcome,) = run(text, "s.test.toml").outcomes
    (failure,) = outcome.failures
    assert failure.note == "the exchange did not converge: peer-verifier-mismatch"
    assert (failure.missing, failure.extra) == ((), ())


@pytest.mark.usefixtures("selectors")
def test_a_limit_ends_the_exchanges_of_tests_too() -> None:
    """An evaluation in an exchange has limits of its own, as it has less time (D12)."""
    moved = 'is.to_right = ["$ours"]'
    low, high = Limits(base_facts=2), Limits(base_facts=100)
    assert exchange(moved, low, high).passed
    (outcome,) = exchange(moved, high, low).outcomes
    assert outcome.error is not None
    assert "base facts" in outcome.error


@pytest.mark.usefixtures("selectors")
def test_of_many_records_that_do_not_move_some_are_explained() -> None:
    (outcome,) = exchange(f"has.to_left = {[f'P.{n}' for n in range(50)]}").outcomes
    missing = outcome.failures[0].missing
    assert [wrong.because is not None for wrong in missing] == [True] * 5 + [False] * 45


@pytest.mark.usefixtures("selectors")
def test_records_of_files_are_stored_too(folder: Path) -> None:
    """They are below the test file, and as an import takes them: one, several, or a folder."""
    first, second = (build_plex("X", "a", name, TAI, (), build_blob(b"")) for name in "nm")
    (folder / "two.records").write_bytes(first.data + b"\n" + second.data + b"\n")
    (folder / "more").mkdir()
    (folder / "more" / "one").write_bytes(first.data)
    hashes = str(sorted([first.hash, second.hash]))
    given = 'stored_from = ["two.records", "more"]\nexpose = ["open.lace"]\n'
    found = side(f"{given}is.sent = {hashes}")
    assert found.passed
    assert {"two.records", "more"} <= set(found.read)
    left = 'left = { stored_from = "two.records", expose = ["selected"] }'
    text = f'[[exchange]]\nname = "a"\n{left}\nright = {{}}\nis.to_right = {hashes}\n'
    assert run(text, "s.test.toml").passed


def test_what_is_no_file_of_records_is_told(folder: Path) -> None:
    (folder / "bad").write_bytes(b"nothing of the kind")
    for name, said in (("bad", "bad has a record that is not valid"), ("no", "cannot read no: ")):
        line, message, _ = told(case(f'stored_from = "{name}"\nis.selected = []'))
        assert (line, message.startswith(said)) == (5, True)
