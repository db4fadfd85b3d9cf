"""A page for each document of the specification: what it demands, and the tests that hold it.

In: docs/spec/rules.toml, which says each rule in short words and names its tests, and the
tests themselves, whose names and docstrings name decisions. Out: pages.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
RULES = ROOT / "docs" / "spec" / "rules.toml"
FOLDER = "tests/spec/"


class Test(NamedTuple):
    """A test by its file and its name, without `test_`; and the decisions that it names."""

    file: str
    name: str
    decisions: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.file}::test_{self.name}"


@cache
def read_rules() -> dict[str, Any]:
    return tomllib.loads(RULES.read_text(encoding="utf-8"))


@cache
def read_tests() -> dict[tuple[str, str], Test]:
    """Every test there is."""
    found = {}
    for file, tree in _files():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = node.name.removeprefix("test_")
                if name != node.name:
                    said = f"{name.replace('_', ' ')} {ast.get_docstring(node) or ''}"
                    found[file, name] = Test(file, name, _decisions(said))
    return found


@cache
def read_files() -> dict[str, frozenset[str]]:
    """The decisions that files of tests are about as a whole."""
    return {file: _decisions(ast.get_docstring(tree) or "") for file, tree in _files()}


def _files() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield path.relative_to(ROOT).as_posix(), tree


def _decisions(text: str) -> frozenset[str]:
    return frozenset(f"D{n}" for n in re.findall(r"\b[Dd]([0-9]+[a-z]?)\b", text))


def find(document: str, text: str, tests: Mapping[tuple[str, str], Test]) -> Test:
    """The test that a rule names; LookupError if it is gone, or if there are two."""
    file, _, name = text.rpartition("::")
    named = (file, name) if file else None
    own = f"{FOLDER}test_{document}"
    found = [
        test
        for key, test in tests.items()
        if key == named or (named is None and key[0].startswith(own) and key[1] == name)
    ]
    if len(found) != 1:
        raise LookupError(f"{document}: {len(found)} tests are called {text}")
    return found[0]


def documents() -> list[str]:
    return [name for name in read_rules() if name != "decisions"]


def spec_page(document: str) -> str:
    content, tests = read_rules()[document], read_tests()
    lines = [f"# {document}: {content['title']}", ""]
    lines += ["What the document demands, in short, and the tests that hold lacec to it.", ""]
    number = 0
    for section, rules in content["rules"].items():
        lines += [f"## {section}", ""]
        for rule, names in rules.items():
            number += 1
            lines.append(f"- **{document}.{number}** {rule}.")
            lines += [f"  - {_shown(find(document, name, tests))}" for name in names]
        lines.append("")
    return "\n".join(lines)


def _shown(test: Test) -> str:
    """Without its folder where that is the usual one."""
    return f"`{str(test).removeprefix(FOLDER).removeprefix('tests/')}`"


def named_by(decision: str) -> list[str]:
    """The tests that name a decision; of a file that does so as a whole, the file."""
    tests = [test for test in read_tests().values() if decision in test.decisions]
    known = {test.file for test in tests}
    files = [file for file, said in read_files().items() if decision in said]
    return [_shown(test) for test in tests] + [
        f"all of `{file.removeprefix('tests/')}`" for file in files if file not in known
    ]


def decisions_page() -> str:
    lines = [
        "# Decisions",
        "",
        "What the documents leave open is decided once, and code and tests name the decision.",
        "These are the tests that do, and the files that are about one as a whole.",
        "",
    ]
    for decision, about in read_rules()["decisions"].items():
        lines.append(f"- **{decision}** {about}.")
        lines += [f"  - {named}" for named in named_by(decision)]
    return "\n".join(lines) + "\n"


def spec_index() -> str:
    content = read_rules()
    lines = [
        "# The specification and its tests",
        "",
        "lacec follows the documents of a specification, and a list of decisions where they leave",
        "something open. Each has a page that says in short what it demands, and which tests hold",
        "lacec to it. A test fails when a rule names a test that is gone, and when a test of",
        "`tests/spec` is named by no rule.",
        "",
        "| document | rules | tests |",
        "|---|---|---|",
    ]
    for name in documents():
        rules = [names for part in content[name]["rules"].values() for names in part.values()]
        tests = {test for names in rules for test in names}
        title = f"[{name}: {content[name]['title']}]({name}.md)"
        lines.append(f"| {title} | {len(rules)} | {len(tests)} |")
    decisions = content["decisions"]
    named = [test for test in read_tests().values() if test.decisions & decisions.keys()]
    lines.append(f"| [Decisions](decisions.md) | {len(decisions)} | {len(named)} |")
    return "\n".join(lines) + "\n"
