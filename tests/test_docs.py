"""The pages: each diagnostic has one that is true, and what the pages show is what happens."""

import doctest
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from lacec.cli import COMMANDS
from lacec.cli.facts import read_fact_files
from lacec.diagnostics import CATALOGUE, Diagnostic
from lacec.facets import Facet
from lacec.limits import Limits
from lacec.lint.subject import Context
from lacec.pipeline import compile_sources, lint_sources, read_exposure
from lacec.predicates import Predicate
from lacec.sides import PROFILE_FACTS
from lacec.testing.reading import read_tests

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINTS = {lint.stem.replace("_", "-") for lint in (ROOT / "lacec" / "lint").glob("*.py")}
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "std").glob("*.md"))]


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
            diagnostics.extend(read_tests("page.test.toml", self.tests)[1])
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


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_not_stale() -> None:
    for path, generate in generator().PAGES.items():
        assert path.read_text(encoding="utf-8") == generate(), f"run `make docs`: {path.name}"


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


CONSOLE = [
    pytest.param(block, id=f"{path.stem}-{number}")
    for number, (path, block) in enumerate(blocks("console"))
]


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy of examples/, so that commands may write there."""
    return shutil.copytree(ROOT / "examples", tmp_path / "examples")


@pytest.mark.parametrize("block", CONSOLE)
def test_commands_print_what_the_page_shows(block: str, examples: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    environment.pop("FORCE_COLOR", None)
    for shown in shown_commands(block):
        result = subprocess.run(
            shown.command,
            shell=True,
            cwd=examples,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert result.stdout.decode() == shown.output, shown.command


def test_the_readme_shows_commands() -> None:
    readme = [block for path, block in blocks("console") if path.name == "README.md"]
    commands = [shown.command for block in readme for shown in shown_commands(block)]
    assert any(command.startswith("lacec compile ") for command in commands)
    assert any(command.startswith("lacec check ") for command in commands)


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
        test = doctest.DocTestParser().get_doctest(block, {}, path.name, str(path), 0)
        report: list[str] = []
        results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
        assert results.failed == 0, "".join(report)
        tried += results.attempted
    assert tried > 0


def test_the_readme_names_every_command_and_every_target() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert re.search(rf"`lacec {command}[ `]", readme), command
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert targets
    for target in targets:
        assert f"make {target}" in readme


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*PAGES, *(DOCS / "rules").glob("*.md")]
    links = [
        (path, target)
        for path in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    ]
    assert links
    assert [(p.name, t) for p, t in links if not (p.parent / t).exists()] == []
