"""lacec explain --html: one page, whole in itself, for a policy, a side of a plan, an exchange."""

import os
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import pytest

from lacec.explain.html_report.tables import MOST_ROWS
from tests.cli.run import lacec
from tests.explain.html_report.reading import Page

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(folder)
    return folder


def page_of(*arguments: str) -> Page:
    """The page that a command writes; it says so, and prints nothing."""
    outcome = lacec("explain", *arguments, "--html", "page.html")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.endswith("wrote page.html\n")
    return Page(Path("page.html").read_text(encoding="utf-8"))


def check_whole(page: Page) -> None:
    """Nothing is loaded from anywhere, every link leads to a place of the page."""
    ids = page.ids()
    for name, attributes in page.elements:
        assert name not in ("img", "iframe", "link", "object", "base", "form")
        assert "style" not in attributes
        assert not [key for key in attributes if key.startswith("on")]
        assert "src" not in attributes
        href = attributes.get("href")
        assert href is None or href[1:] in ids, href
    assert len(page.tags("script")) == len(page.tags("style")) == 1


@pytest.mark.usefixtures("examples")
def test_a_policy_has_what_it_derives_its_graph_and_its_rules() -> None:
    page = page_of("links.lace", "--facts", "links.facts")
    check_whole(page)
    for text in (
        "R.K0f50V0zEvC0OcLa8grBSNnILJW7vMNSV4eqb2gIgJO",
        "Selected('S.1')",
        "Namelinks/tea",
        "not Blocked('V.alice')",
        "Selected/1 negates Blocked/1",
        "stratum 1",
        "links.lace:5",
        "A link counts only when somebody vouches for it.",
        "EMIT     Selected/1",
    ):
        assert text in page.text
    assert "Selected('S.2')" not in page.text


@pytest.mark.usefixtures("examples")
def test_a_policy_without_facts_says_how_to_see_more() -> None:
    page = page_of("links.lace")
    check_whole(page)
    assert "No facts were given: with --facts FILE or --store STORE" in page.text
    assert "What it derives" not in page.text


@pytest.mark.usefixtures("examples")
def test_a_side_of_a_plan_says_whose_rules_see_what() -> None:
    plan = ("--plan", "ours.lace", "theirs.lace", "--verifier1", "V.theirs", "--side", "0")
    page = page_of(*plan, "--expose", "open.lace", "--facts", "ours.facts")
    check_whole(page)
    for text in (
        "E.w0AenZf2rxBD9IR1r65OVCxBxPxfY4rqdFQZMK6RYy0",
        "MaySend('P.1')",
        "the viewer is V.theirs",
        "The peer's selector, as it runs here",
        "sees the records that V.theirs may query",
        "o1_SelectHave/1 reads records that CanQueryRecord/2 allows",
    ):
        assert text in page.text
    assert "MayRequest('P.9')" not in page.text


@pytest.fixture
def stores(examples: Path) -> Path:
    """Three records on the left, one of which may move; nothing on the right."""
    for name in ("left", "right"):
        assert lacec("store", "init", name).code == 0
    for group, name in (("X", "one"), ("Y", "two"), ("<script>", "three")):
        coordinate = ("--group", group, "--app", "ding", "--name", name)
        made = lacec("record", "new", *coordinate, "-o", name, source="to share")
        assert made.code == 0
        assert lacec("store", "import", "left", name).code == 0
    return examples


EXCHANGE = ("--left", "left", "--right", "right", "--policy", "ours.lace", "--expose", "selected")


@pytest.mark.usefixtures("stores")
def test_an_exchange_has_what_moves_and_what_stays() -> None:
    page = page_of(*EXCHANGE)
    check_whole(page)
    dry = lacec("run-interlace", *EXCHANGE, "--dry-run", "--json").document
    (move,) = dry["moves"]
    assert f"left → right{move['hash']}{move['bytes']} bytes" in page.text
    assert "left sends it: because" in page.text
    assert "right requests it: because" in page.text
    assert page.text.count("the record would not be sent") >= 2
    assert "left sends it: no, because" in page.text
    assert "What the right runs" in page.text
    assert lacec("store", "list", "right").out == ""


# What comes from outside stays text.

HOSTILE = "<script>alert(1)</script>"
QUOTES = "\"><img src=x onerror=alert(1)>&quot;\\'"


def test_hostile_values_names_and_annotations_stay_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    policy, facts = Path(f"{HOSTILE.replace('/', '_')}.lace"), Path("some.facts")
    policy.write_text(
        f'#:json {{"label":"{HOSTILE}","why":"</p>{HOSTILE}"}}\n'
        f"Bad(P,V) :- Have(P), Field(P,'Name',_,V), LexCompare(V,'>','{HOSTILE}').\n"
        "Bad(P,'</code>') :- Have(P).\n"
    )
    facts.write_text(
        f"Have('{HOSTILE}')\nField('{HOSTILE}','Name','0','{QUOTES}')\n"
        f"Field('{HOSTILE}','Group','0','{HOSTILE}')\nHave('{QUOTES}')\n"
        f"Field('{QUOTES}','Name','0','zzz\u202e<!--')\n"
    )
    page = page_of(str(policy), "--facts", str(facts))
    check_whole(page)
    assert f"'{HOSTILE}'" in page.text
    assert "onerror" in page.text
    assert "\u202e" not in page.text


@pytest.mark.usefixtures("examples")
def test_only_the_style_and_the_script_of_the_page_count() -> None:
    page_of("links.lace")
    text = Path("page.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src &#x27;none&#x27;; ")
    for name in ("style", "script"):
        (inner,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert "http" not in inner
        digest = b64encode(sha256(inner.encode()).digest()).decode()
        assert f"{name}-src &#x27;sha256-{digest}&#x27;" in policy


# Bounds.


def test_of_many_facts_some_are_shown_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.lace").write_text("Reach(A,B) :- Step(A,B).\nReach(A,C) :- Reach(A,B), Step(B,C).\n")
    Path("p.facts").write_text("".join(f"Step('{n:04}','{n + 1:04}')\n" for n in range(30)))
    page = page_of("p.lace", "--facts", "p.facts")
    assert f"{MOST_ROWS} of 465 facts" in page.text
    assert f"{465 - MOST_ROWS:,} more are left out; lacec eval lists them all." in page.text
    assert "… its proof goes deeper" in page.text


# What cannot be asked for.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("links.lace", "Selected('S.1')"), "the page shows all there is"),
        (("links.lace", "--not"), "cannot stand beside --not"),
        (("links.lace", "--json"), "cannot stand beside --json"),
        (("links.lace", "--all", "Link/1"), "cannot stand beside --all"),
        (("--left", "a", "--right", "b", "P.x"), "the page shows all there is"),
        ((), "give the name of a diagnostic or a file"),
    ],
)
@pytest.mark.usefixtures("examples")
def test_what_makes_no_page_is_refused(arguments: tuple[str, ...], message: str) -> None:
    outcome = lacec("explain", *arguments, "--facts", "links.facts", "--html", "page.html")
    if "--left" in arguments:
        outcome = lacec("explain", *arguments, "--html", "page.html")
    assert outcome.code == 2
    assert message in " ".join(outcome.err.replace("│", " ").split())
    assert not Path("page.html").exists()


@pytest.mark.usefixtures("examples")
def test_a_page_that_cannot_be_written_is_an_error() -> None:
    outcome = lacec("explain", "links.lace", "--html", "no/such/page.html")
    assert outcome.code == 2
    assert "cannot write no/such/page.html: no such file or directory" in outcome.err


@pytest.mark.usefixtures("examples")
def test_a_page_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("there.html").write_text("before", encoding="utf-8")
    os.link("there.html", "link.html")
    assert lacec("explain", "links.lace", "--html", "there.html").code == 0
    assert Path("link.html").read_text(encoding="utf-8") == "before"  # replaced, not overwritten
    assert Path("there.html").stat().st_mode == Path("link.html").stat().st_mode
    Path("new").touch()
    assert lacec("explain", "links.lace", "--html", "new.html").code == 0
    assert Path("new.html").stat().st_mode == Path("new").stat().st_mode

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(Path().iterdir()), Path("there.html").read_bytes()
    monkeypatch.setattr("lacec.cli.files.os.replace", fail)
    outcome = lacec("explain", "links.lace", "--html", "there.html")
    assert (outcome.code, "no space left on device" in outcome.err) == (2, True)
    assert (sorted(Path().iterdir()), Path("there.html").read_bytes()) == before


@pytest.mark.usefixtures("examples")
def test_a_page_may_go_to_what_is_no_file() -> None:
    Path("small.lace").write_text("A(P) :- Have(P).\n", encoding="utf-8")
    os.mkfifo("pipe")
    with open(os.open("pipe", os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        assert lacec("explain", "small.lace", "--html", "pipe").code == 0
        assert reader.read().startswith(b"<!doctype html>")
    assert Path("pipe").is_fifo()


@pytest.mark.usefixtures("examples")
def test_a_wrong_policy_has_diagnostics_and_no_page() -> None:
    outcome = lacec("explain", "broken.lace", "--html", "page.html")
    assert outcome.code == 1
    assert "infix-comparison" in outcome.err
    assert not Path("page.html").exists()
