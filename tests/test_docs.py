"""The pages: each diagnostic has one that is true, and what the pages show is what happens."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import lacec
from docs import conf, generate
from docs.screenshots import SCREENS
from docs.specification import documents, find, named_by, read_rules, read_tests
from lacec.cli.facts import read_fact_files
from lacec.core.diagnostics import CATALOGUE, Diagnostic
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.engine.side import PROFILE_FACTS
from lacec.lint.subject import Context
from lacec.pipeline import compile_sources, lint_sources, read_exposure
from lacec.policytest.reading import read_tests as read_policy_tests
from tests.cli.run import printed

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINTS = {lint.stem.replace("_", "-") for lint in (ROOT / "lacec" / "lint" / "rules").glob("*.py")}
# Every page: what is in docs/, and what stands beside it.
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.md")])


# The pages of diagnostics.


class Example(NamedTuple):
    """A module, or facts that a module is given, or both."""

    source: bytes | None
    facts: bytes | None
    facet: Facet
    limits: Limits
    plan: bool = False
    linked: bytes | None = None
    expose: bytes | None = None
    tests: bytes | None = None

    def found(self, folder: Path) -> list[str]:
        diagnostics: list[Diagnostic] = []
        if self.tests is not None:
            diagnostics.extend(read_policy_tests("page.test.toml", self.tests)[1])
        derived: set[Predicate] = set()
        if self.source is not None:
            inputs = [("page", self.source)]
            inputs += [("linked", self.linked)] if self.linked is not None else []
            context = Context()
            if self.expose is not None:
                context = Context(exposures=(read_exposure(("expose", self.expose)),))
            # Facts are given for what the page has facts of.
            given = re.findall(rb"^(\w+)\(", self.facts or b"", re.MULTILINE)
            context = replace(context, inputs=frozenset(Predicate(g.decode(), 1) for g in given))
            diagnostics.extend(lint_sources(inputs, self.facet, self.limits, context))
            outcome = compile_sources(inputs, self.facet, self.limits)
            if outcome.module is not None:
                derived = {p for group in outcome.module.groups for p in group}
        if self.facts is not None:
            path = folder / "page.facts"
            path.write_bytes(self.facts)
            known = PROFILE_FACTS if self.plan else None
            diagnostics.extend(read_fact_files([str(path)], derived, self.limits, known=known)[1])
        return [diagnostic.name for diagnostic in diagnostics]


def page(name: str) -> str:
    return (DOCS / "rules" / f"{name}.md").read_text(encoding="utf-8")


def example(name: str, heading: str) -> Example:
    """The blocks below a heading; the words after the language say how to read the source."""
    part = re.search(rf"^## {heading}\n((?s:.*?))^## ", page(name) + "## ", re.MULTILINE)
    assert part is not None, f"{name}.md has no heading {heading}"
    block = re.search(r"^```lace(.*)\n((?s:.*?))^```$", part[1], re.MULTILINE)
    more = {
        word: text.encode()
        for word, text in re.findall(
            r"^```lace (linked|expose)\n((?s:.*?))^```$", part[1], re.MULTILINE
        )
    }
    given = re.search(r"^```facts( plan)?\n((?s:.*?))^```$", part[1], re.MULTILINE)
    facts = None if given is None else given[2].encode()
    facet, limits = Facet.PLAIN, Limits()
    if block is None and (tests := re.search(r"^```toml\n((?s:.*?))^```$", part[1], re.MULTILINE)):
        return Example(None, facts, facet, limits, tests=tests[1].encode())
    if block is None:
        assert facts is not None, f"{name}.md has no example below {heading}"
        return Example(None, facts, facet, limits, given is not None and bool(given[1]))
    source = block[2].encode()
    for word in block[1].split():
        kind, _, value = word.partition("=")
        match kind:
            case "facet":
                facet = Facet(value)
            case "limit":
                limit, _, number = value.partition("=")
                limits = Limits(**{limit: int(number)})
            case "escapes":
                source = re.sub(rb"\\x([0-9a-f]{2})", _byte, source).replace(rb"\r", b"\r")
            case _:
                pytest.fail(f"{name}.md: nobody knows the word {word}")
    return Example(
        source, facts, facet, limits, linked=more.get("linked"), expose=more.get("expose")
    )


def _byte(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[1], 16)])


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_page_has_its_parts(name: str) -> None:
    lines = page(name).split("\n")
    assert lines[0] == f"# {name}"
    assert re.fullmatch(r"\S.*[.)]", lines[2]), "one line says what it is"
    headings = [line for line in lines if line.startswith("#") and not line.startswith("#:")]
    fix = ["## Fix"] if name in LINTS else []
    parts = ["## Avoid", "## Prefer", "## Why", *fix]
    assert [h for h in headings if h.startswith("## ")] == parts
    assert page(name).partition("## Why\n\n")[2].strip()


@pytest.mark.parametrize("name", CATALOGUE)
def test_what_to_avoid_draws_that_diagnostic_alone(name: str, tmp_path: Path) -> None:
    assert example(name, "Avoid").found(tmp_path) == [name]


@pytest.mark.parametrize("name", CATALOGUE)
def test_what_to_prefer_draws_nothing(name: str, tmp_path: Path) -> None:
    assert example(name, "Prefer").found(tmp_path) == []


def test_every_page_belongs_to_a_diagnostic() -> None:
    pages = {path.stem for path in (DOCS / "rules").iterdir()}
    assert pages == {*CATALOGUE, "README"}


# Pages that are generated.


@pytest.mark.parametrize("path", generate.PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_generated_pages_are_not_stale(path: Path) -> None:
    made = generate.PAGES[path]()
    assert path.read_text(encoding="utf-8") == made, "run `make docs`"


def test_every_picture_is_made_and_shown() -> None:
    made = {path for path in generate.PAGES if path.suffix == ".svg"}
    assert {path for path in (DOCS / "pictures").iterdir() if path.suffix == ".svg"} == made
    shown = {path.parent / target for path in PAGES for target in targets(path, r"!\[[^]]*\]")}
    assert made <= {path.resolve() for path in shown}


@pytest.mark.parametrize("name", SCREENS)
def test_a_screenshot_fetches_nothing(name: str) -> None:
    svg = (DOCS / "pictures" / f"terminal-{name}.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\"]*", svg)) == {"http://www.w3.org/2000/svg"}


# The specification.


@pytest.mark.parametrize("document", documents())
def test_every_rule_of_a_document_names_tests_that_exist(document: str) -> None:
    sections = read_rules()[document]["rules"].values()
    rules = [names for section in sections for names in section.values()]
    assert rules
    assert all(find(document, name, read_tests()) for names in rules for name in names)
    assert all(rules), "each rule has a test"


def test_a_rule_whose_test_is_gone_is_found_out() -> None:
    for name in ("no_such_test", "tests/spec/test_050.py::no_such_test"):
        with pytest.raises(LookupError, match="no_such_test"):
            find("050", name, read_tests())


def test_every_test_of_the_specification_belongs_to_a_rule() -> None:
    named = {
        find(document, name, read_tests())
        for document in documents()
        for section in read_rules()[document]["rules"].values()
        for names in section.values()
        for name in names
    }
    own = {test for test in read_tests().values() if test.file.startswith("tests/spec/")}
    assert own - named == set()


@pytest.mark.parametrize("decision", read_rules()["decisions"])
def test_every_decision_has_a_test(decision: str) -> None:
    assert named_by(decision)


# What pages show.


class Shown(NamedTuple):
    command: str
    output: str


def blocks(language: str) -> Iterator[tuple[Path, str]]:
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for block in re.finditer(rf"^```{language}\n((?s:.*?))^```$", text, re.MULTILINE):
            yield path, block[1]


def shown_commands(block: str) -> list[Shown]:
    assert block.startswith("$ ")
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [Shown(*part.split("\n", 1)) for part in parts]


TUTORIAL = DOCS / "tutorial.md"
# What the demo shows; tests/test_examples.py compares it.
DEMO = "demo"
CONSOLE = [
    pytest.param(block, id=f"{path.relative_to(ROOT).with_suffix('')}-{number}")
    for number, (path, block) in enumerate(blocks("console"))
    if path != TUTORIAL
]
# What is shown of Spark is run by tests/spark/test_pages.py, beside the other tests of it.
ON_SPARK = [each for each in CONSOLE if "lacec spark " in str(each.values[0])]


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy of examples/, so that commands may write there."""
    return shutil.copytree(ROOT / "examples", tmp_path / "examples")


@pytest.mark.parametrize("block", [each for each in CONSOLE if each not in ON_SPARK])
def test_commands_print_what_the_page_shows(block: str, examples: Path) -> None:
    run_shown(block, examples)


def test_the_tutorial_can_be_followed_word_for_word(tmp_path: Path) -> None:
    """From an empty folder: files are written where the text says so, commands run in order."""
    steps = re.findall(
        r"((?:(?!^```).*\n)*?)^```(\w+)\n((?s:.*?))^```$",
        TUTORIAL.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for before, language, block in steps:
        if language == "console":
            run_shown(block, tmp_path)
        else:
            (tmp_path / re.findall(rf"`(\w[\w.]*\.{language})`", before)[-1]).write_text(block)
    assert {"console", "lace", "toml"} == {language for _, language, _ in steps}


def run_shown(block: str, folder: Path) -> None:
    for shown in shown_commands(block):
        words = plain_words(shown.command)
        found = in_a_shell(shown.command, folder) if words is None else called(words, folder)
        assert found == shown.output, shown.command


def plain_words(command: str) -> list[str] | None:
    """What follows `lacec`, where a shell would do no more than cut the line into words."""
    words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    shell = any(set(word) <= set("();<>|&") for word in words) or set(command) & set("$`*?~#[{")
    return None if shell or words[0] != "lacec" else shlex.split(command)[1:]


def in_a_shell(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    environment.pop("FORCE_COLOR", None)
    result = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return result.stdout.decode()


def called(words: list[str], folder: Path) -> str:
    """The same in this process, without the time that a start takes."""
    with chdir(folder):
        return printed(*words, env={"COLUMNS": "80", "NO_COLOR": "1"})


def test_a_call_prints_what_a_process_prints(examples: Path) -> None:
    for command in ("lacec check broken.lace", "lacec explain links.lace", "lacec eval"):
        words = plain_words(command)
        assert words is not None
        assert called(words, examples) == in_a_shell(command, examples) != ""


def test_what_looks_like_a_session_is_run() -> None:
    """In a block that is tried, or on a page that is made by running it."""
    made = [path for path in PAGES if path in generate.PAGES]
    tried = {"console": r"\$ ", "pycon": r">>> "}
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for language, first in re.findall(r"^```([\w ]*)\n(.*)$", text, re.MULTILINE):
            for name, prompt in tried.items():
                shows = re.match(prompt, first) is not None
                run = language in (name, DEMO) or path in made
                assert run or not shows, f"{path.name}: {first}"


def test_no_page_says_what_another_says() -> None:
    """Paragraphs of some length, without what is shown in blocks."""
    said: dict[str, Path] = {}
    for path in PAGES:
        words = re.sub(r"^```(?s:.*?)^```$", "", path.read_text("utf-8"), flags=re.MULTILINE)
        for paragraph in {" ".join(each.split()) for each in re.split(r"\n\s*\n", words)}:
            if len(paragraph) > 80:
                assert said.setdefault(paragraph, path) == path, paragraph
    assert len(said) > 300


def test_the_readme_shows_commands() -> None:
    readme = [block for path, block in blocks("console") if path.name == "README.md"]
    commands = [shown.command for block in readme for shown in shown_commands(block)]
    assert any(command.startswith("lacec explain ") for command in commands)


def test_the_readme_shows_the_first_policy_as_it_is() -> None:
    policy = (ROOT / "examples" / "links.lace").read_text(encoding="utf-8")
    assert f"\n```\n{policy}```\n" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["links", "ours"])
def test_the_page_on_testing_shows_tests_as_they_are(name: str) -> None:
    tests = (ROOT / "examples" / f"{name}.test.toml").read_text(encoding="utf-8")
    assert f"\n```toml\n{tests}```\n" in (DOCS / "testing.md").read_text(encoding="utf-8")


def test_python_prints_what_the_page_shows(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(examples)
    tried = 0
    for path, block in blocks("pycon"):
        test = doctest.DocTestParser().get_doctest(block, {"lacec": lacec}, path.name, str(path), 0)
        report: list[str] = []
        results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
        assert results.failed == 0, "".join(report)
        tried += results.attempted
    assert tried > 0


def test_who_works_on_lacec_finds_every_target_and_every_folder() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert targets
    for target in targets:
        assert f"make {target}`" in page, target
    for folder in (ROOT / "lacec").glob("*/__init__.py"):
        assert f"`lacec/{folder.parent.name}" in page, folder.parent.name


def test_the_glossary_leads_to_the_code() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    places = re.findall(r"\| `([^`]+)` \|$", page, re.MULTILINE)
    assert len(places) == len(re.findall(r"^\| (?!word)", page, re.MULTILINE))
    assert [place for place in places if not (ROOT / place).is_file()] == []


# Links.


def targets(path: Path, before: str = r"\]") -> list[str]:
    """Where the links of a page lead, but for those to other places on the net."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = re.findall(rf"{before}\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(path: Path) -> set[str]:
    """The headings of a page, as links name them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    for target in targets(path):
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target
        # The site has the pages of docs/ alone.
        outside = DOCS in path.parents and DOCS not in page.parents
        assert not outside, f"{target} leads out of the site"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_a_page_names_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:lacec|tests|docs|examples)/[\w/.-]*)`", text))
    assert named
    yours = {path for path in named if re.search(r"my[-_]lint|NAME", path)}
    assert [path for path in sorted(named - yours) if not (ROOT / path).exists()] == []


def test_there_are_links() -> None:
    assert sum(len(targets(path)) for path in PAGES) > 100


def test_every_page_is_reached_by_links_from_the_index() -> None:
    reached, ahead = set[Path](), [DOCS / "index.md"]
    while ahead:
        path = ahead.pop()
        if path in reached:
            continue
        reached.add(path)
        found = ((path.parent / target.partition("#")[0]).resolve() for target in targets(path))
        ahead += [page for page in found if page.suffix == ".md"]
    assert {path for path in PAGES if DOCS in path.parents} - reached == set()


def read_as_a_site(docs: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """All that Sphinx does with the pages, but for writing them: every warning is an error."""
    options = ["-W", "--keep-going", "-n", "-q", "-b", "dummy", "-d", str(folder / "trees")]
    command = [sys.executable, "-m", "sphinx", *options, str(docs), str(folder / "site")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    found = read_as_a_site(DOCS, tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_a_dead_link_and_a_page_in_no_contents_are_warnings(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "std").mkdir(parents=True)
    for name in ("conf.py", "limits.md"):
        shutil.copy(DOCS / name, docs)
    (docs / "index.md").write_text("# All\n\n[a](gone.md), [b](limits.md#of-nothing)\n")
    (docs / "std" / "lost.md").write_text("# Lost\n")  # below a first page that is not there
    found = read_as_a_site(docs, tmp_path)
    assert found.returncode != 0
    for said in ("gone.md", "of-nothing", "std/lost.md: WARNING: document isn't included"):
        assert said in found.stderr


def test_every_page_is_in_the_contents_of_the_site() -> None:
    listed = set(re.findall(r"^[\w/-]+$", conf.contents(), re.MULTILINE))
    own = {p.relative_to(DOCS).with_suffix("").as_posix() for p in PAGES if DOCS in p.parents}
    below = {name for name in own if name.startswith(conf.BELOW) and "README" not in name}
    assert own - below - {"index"} == listed
    assert all(name in own for names in conf.PAGES.values() for name in names)
