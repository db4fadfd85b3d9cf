"""What came of tests, as values that another process can send: failures, and what was covered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lacec.core.diagnostics import Diagnostic
from lacec.explain.proof_tree import Proof, WhyNot
from lacec.policytest.cases import How
from lacec.runtime.exchange.explaining import Direction
from lacec.runtime.exchange.recording.recorder import NAMES

T = TypeVar("T", str, tuple[str, ...])
# Of many facts that are wrong, so many are explained.
MOST_EXPLAINED = 5
Because = Proof | WhyNot | Direction


@dataclass(frozen=True)
class Wrong:
    """A fact that is missing or too many, and why it is."""

    fact: str
    because: Because | None = None

    def json(self) -> dict[str, Any]:
        match self.because:
            case None:
                return {"fact": self.fact}
            case Proof():
                return {"fact": self.fact, "why": self.because.json()}
            case WhyNot():
                return {"fact": self.fact, "why_not": self.because.json()}
            case Direction():
                return {"fact": self.fact, "exchange": self.because.json(NAMES)}


@dataclass(frozen=True)
class Failure:
    """An expectation that does not hold."""

    how: How
    what: str
    line: int
    missing: tuple[Wrong, ...] = ()
    extra: tuple[Wrong, ...] = ()
    note: str | None = None  # what is wrong, where it is no fact

    def json(self) -> dict[str, Any]:
        return {
            "how": self.how,
            "what": self.what,
            "line": self.line,
            "missing": [each.json() for each in self.missing],
            "unexpected": [each.json() for each in self.extra],
            **({} if self.note is None else {"note": self.note}),
        }


@dataclass(frozen=True)
class Outcome:
    """One test; its problems keep it from running, or some of it."""

    name: str
    line: int
    seconds: float = 0.0
    failures: tuple[Failure, ...] = ()
    error: str | None = None
    problems: tuple[Diagnostic, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.failures and not self.problems and self.error is None

    def json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "line": self.line,
            "passed": self.passed,
            "seconds": round(self.seconds, 6),
            "failures": [each.json() for each in self.failures],
            "error": self.error,
            "diagnostics": [problem.json() for problem in self.problems],
        }


def differences(how: How, wanted: Sequence[T], there: set[T]) -> tuple[list[T], list[T]]:
    """What is missing, and what is there and must not be."""
    if how == "lacks":
        return [], [each for each in wanted if each in there]
    missing = [each for each in wanted if each not in there]
    return missing, sorted(there - set(wanted)) if how == "is" else []


RulePlace = tuple[str, int]
"""A file and a line."""


@dataclass(frozen=True)
class FileOutcome:
    """One test file: its tests, or what keeps all of them from running."""

    name: str
    outcomes: tuple[Outcome, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    rules: Mapping[RulePlace, str] = field(default_factory=dict, repr=False)
    fired: frozenset[RulePlace] = frozenset()
    read: tuple[str, ...] = ()  # the files beside its own

    @property
    def all_problems(self) -> tuple[Diagnostic, ...]:
        return (*self.problems, *(each for test in self.outcomes for each in test.problems))

    @property
    def passed(self) -> bool:
        return not self.problems and all(outcome.passed for outcome in self.outcomes)

    def json(self) -> dict[str, Any]:
        return {
            "file": self.name,
            "passed": self.passed,
            "tests": [outcome.json() for outcome in self.outcomes],
            "names": {name: value for value, name in self.names.items()},
            "diagnostics": [problem.json() for problem in self.problems],
        }


@dataclass(frozen=True)
class Covered:
    """The rules of one file, and those of them that no test made derive anything."""

    file: str
    rules: int
    never: tuple[tuple[int, str], ...]

    def json(self) -> dict[str, Any]:
        never = [{"line": line, "text": text} for line, text in self.never]
        return {"file": self.file, "rules": self.rules, "never": never}


def coverage(files: Sequence[FileOutcome]) -> list[Covered]:
    """What the tests of all files together cover."""
    rules: dict[RulePlace, str] = {}
    fired: set[RulePlace] = set()
    for file in files:
        rules |= file.rules
        fired |= file.fired
    by_file: dict[str, list[tuple[int, str]]] = {}
    for (name, line), text in sorted(rules.items()):
        by_file.setdefault(name, []).append((line, text))
    return [
        Covered(name, len(own), tuple((n, text) for n, text in own if (name, n) not in fired))
        for name, own in by_file.items()
    ]
