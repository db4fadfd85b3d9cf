"""Outcomes of policy tests as people and programs read them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lacec.cli.explain_exchange import direction_text
from lacec.cli.render.diagnostics import counted, render
from lacec.cli.render.output import Segment
from lacec.cli.why import explanation_text
from lacec.core.diagnostics import visible
from lacec.policytest.outcomes import Covered, Failure, FileOutcome, Outcome, Wrong, coverage
from lacec.runtime.exchange.explaining import Direction


def report_json(found: Sequence[FileOutcome]) -> dict[str, Any]:
    outcomes = [outcome for file in found for outcome in file.outcomes]
    return {
        "passed": sum(outcome.passed for outcome in outcomes),
        "failed": sum(not outcome.passed for outcome in outcomes),
        "files": [file.json() for file in found],
        "coverage": [each.json() for each in coverage(found)],
        "diagnostics": [problem.json() for file in found for problem in file.all_problems],
    }


def report_text(found: Sequence[FileOutcome]) -> Iterator[Segment]:
    for file in found:
        yield from _file_text(file)
    for each in coverage(found):
        yield from _coverage_text(each)
    outcomes = [outcome for file in found for outcome in file.outcomes]
    failed = sum(not outcome.passed for outcome in outcomes)
    broken = sum(bool(file.problems) for file in found)
    said = [f"{len(outcomes) - failed} passed", f"{failed} failed"]
    said += [f"{counted(broken, 'file')} cannot be run"] if broken else []
    style = "bold red" if failed or broken else "bold green"
    yield f"{', '.join(said)}\n", style


def _file_text(file: FileOutcome) -> Iterator[Segment]:
    if file.problems:
        yield from render(file.problems, file.sources)
    for outcome in file.outcomes:
        if not outcome.passed:
            for text, style in outcome_text(file, outcome):
                yield _named(text, file.names), style


def outcome_text(file: FileOutcome, outcome: Outcome) -> Iterator[Segment]:
    """A test that failed: each expectation that does not hold, and why."""
    yield "failed", "bold red"
    yield f"  {visible(outcome.name)}", "bold"
    yield f"  {visible(file.name)}:{outcome.line}\n", "dim"
    if outcome.error is not None:
        yield f"  {visible(outcome.error)}\n", "red"
    yield from render(outcome.problems, file.sources)
    for failure in outcome.failures:
        yield from _failure_text(file, failure)
    yield "\n", ""


def _failure_text(file: FileOutcome, failure: Failure) -> Iterator[Segment]:
    yield f"  {failure.how}.{visible(failure.what)}", "bold"
    yield f"  {visible(file.name)}:{failure.line}\n", "dim"
    if failure.note is not None:
        yield f"  {visible(failure.note)}\n", "red"
    for sign, style, wrongs in (("-", "red", failure.missing), ("+", "green", failure.extra)):
        for wrong in wrongs:
            said = "is missing" if sign == "-" else "must not be there"
            yield f"  {sign} {visible(wrong.fact)}  {said}\n", style
            yield from _because_text(wrong)


def _because_text(wrong: Wrong) -> Iterator[Segment]:
    if isinstance(wrong.because, Direction):
        yield from direction_text(wrong.because, "      ")
    elif wrong.because is not None:
        yield from explanation_text(wrong.because, "      ")


def _named(text: str, names: Mapping[str, str]) -> str:
    """With the names that a test file gives records and keys."""
    for value, name in names.items():
        text = text.replace(value, name)
    return text


def _coverage_text(covered: Covered) -> Iterator[Segment]:
    reached = covered.rules - len(covered.never)
    yield f"{visible(covered.file)}", "bold"
    yield f"  {reached} of {counted(covered.rules, 'rule')} derived something\n", ""
    for line, text in covered.never:
        yield f"  {visible(covered.file)}:{line}  never: {visible(text)}\n", "yellow"
