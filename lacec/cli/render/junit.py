"""Outcomes of policy tests as JUnit XML, which most services that build software can show."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from lacec.cli.files import replace_file
from lacec.cli.render.diagnostics import render
from lacec.cli.render.test_report import outcome_text
from lacec.core.diagnostics import visible
from lacec.policytest.outcomes import FileOutcome, Outcome

_DIFFERS = "it is not as expected"


def write_junit(found: Sequence[FileOutcome], path: Path) -> None:
    root = _suites(found)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    replace_file(path, content, "--junit")


def _suites(found: Sequence[FileOutcome]) -> ElementTree.Element:
    root = ElementTree.Element("testsuites", name="lacec test")
    for file in found:
        outcomes = file.outcomes
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=visible(file.name),
            tests=str(len(outcomes) or 1),
            failures=str(sum(_kind(outcome) == "failure" for outcome in outcomes)),
            errors=str(int(bool(file.problems)) + sum(_kind(o) == "error" for o in outcomes)),
            time=f"{sum(outcome.seconds for outcome in outcomes):.6f}",
        )
        if file.problems:
            case = _case(suite, file.name, file.name, file.problems[0].place.line, 0)
            said = "".join(text for text, _ in render(file.problems, file.sources))
            _said(case, "error", file.problems[0].message, said)
        for outcome in outcomes:
            case = _case(suite, file.name, outcome.name, outcome.line, outcome.seconds)
            if kind := _kind(outcome):
                said = "".join(text for text, _ in outcome_text(file, outcome))
                problems = [problem.message for problem in outcome.problems]
                _said(case, kind, outcome.error or ", ".join(problems) or _DIFFERS, said)
    return root


def _kind(outcome: Outcome) -> str | None:
    """A test that is wrong itself is an error."""
    if outcome.passed:
        return None
    return "error" if outcome.problems else "failure"


def _case(
    suite: ElementTree.Element, file: str, name: str, line: int, seconds: float
) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite,
        "testcase",
        classname=visible(file),
        name=visible(name),
        file=visible(file),
        line=str(line),
        time=f"{seconds:.6f}",
    )


def _said(case: ElementTree.Element, kind: str, message: str, text: str) -> None:
    found = ElementTree.SubElement(case, kind, message=visible(message))
    # Lines stay lines; what no XML may hold is made visible.
    found.text = "\n".join(visible(line) for line in text.split("\n"))
