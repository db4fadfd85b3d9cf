"""lacec test: policy tests, with what differs explained and the rules that no test reaches."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacec.cli.files import read_file
from lacec.cli.options import (
    JsonOption,
    LimitOption,
    WatchOption,
    read_exchange_limits,
    read_limits,
)
from lacec.cli.render.output import write, write_json
from lacec.core.diagnostics import Diagnostic, place
from lacec.core.limits import Limits
from lacec.policytest.reading import SUFFIX
from lacec.policytest.tables import MOST_BYTES

if TYPE_CHECKING:
    from lacec.policytest.outcomes import FileOutcome

# Of an evaluation by itself, and of one inside an exchange.
BothLimits = tuple[Limits, Limits]

_HELP = (
    "write the tests of NAME.lace into NAME.test.toml beside it:\n\n"
    '  [[test]]\n  name = "what is stored is selected"\n  facts = "Have(\'S.1\')"\n'
    '  is.selected = ["S.1"]'
)


def test_command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]", help="Test files, policies, or folders; this folder if none."
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML, too.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Processes; as many as cores if none.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 when a rule is not covered, too.")
    ] = False,
    watch: WatchOption = False,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Run policy tests: facts and records in, what is selected, sent and requested out.

    The tests of NAME.lace are in NAME.test.toml. What differs is shown with why it is there,
    or why it is not; then each rule that derived nothing in any test. Exits with 1 when a
    test fails or cannot be run.

    Example: lacec test policies/
    """
    limits = (read_limits(limit), read_exchange_limits(limit))
    given = paths or ["."]
    if watch:
        if json or junit:
            raise typer.BadParameter("prints text, not one document", param_hint="--watch")
        _watch(given, limits, jobs)
    found = _run(find_tests(given), limits, jobs)
    _report(found, json, junit)
    if not all(file.passed for file in found) or (strict and _uncovered(found)):
        raise typer.Exit(1)


def find_tests(paths: Sequence[str]) -> list[str]:
    """Test files, each once; a policy stands for its own, a folder for all below it."""
    found: dict[str, None] = {}
    for name in paths:
        if os.path.isdir(name):
            found.update(dict.fromkeys(_below(name)))
            continue
        test = name.removesuffix(".lace") + SUFFIX if name.endswith(".lace") else name
        if not test.endswith(SUFFIX):
            raise typer.BadParameter(f"{name} is neither a folder, a policy nor a *{SUFFIX} file")
        if not os.path.isfile(test):
            raise typer.BadParameter(f"there is no {test}; {_HELP}")
        found[os.path.normpath(test)] = None
    if not found:
        raise typer.BadParameter(f"there are no tests below {', '.join(paths)}; {_HELP}")
    return list(found)


def _below(folder: str) -> Iterator[str]:
    """The test files below a folder; hidden folders are left alone."""
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(SUFFIX):
                yield os.path.normpath(os.path.join(above, name))


def _run(names: Sequence[str], limits: BothLimits, jobs: int | None) -> "list[FileOutcome]":
    workers = min(jobs or os.cpu_count() or 1, len(names))
    if workers == 1:
        return [_run_one(limits, name) for name in names]
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Fresh processes: this one may have threads, which no fork survives.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(partial(_run_one, limits), names))


def _run_one(limits: BothLimits, name: str) -> "FileOutcome":
    from lacec.policytest.outcomes import FileOutcome
    from lacec.policytest.running import run_file

    try:
        shown, content = read_file(name, MOST_BYTES + 1)
    except typer.BadParameter as error:  # found below a folder: others are run all the same
        problem = Diagnostic("bad-test", error.message, place(name, 1, (0, 0)))
        return FileOutcome(name, problems=(problem,), sources={name: ""})
    return run_file(shown, content, *limits)


def _uncovered(found: "Sequence[FileOutcome]") -> bool:
    from lacec.policytest.outcomes import coverage

    return any(each.never for each in coverage(found))


def _report(found: "Sequence[FileOutcome]", json: bool, junit: Path | None) -> None:
    from lacec.cli.render.junit import write_junit
    from lacec.cli.render.test_report import report_json, report_text

    if junit is not None:
        write_junit(found, junit)
    if json:
        write_json(report_json(found))
    else:
        write(report_text(found))


def _watch(paths: Sequence[str], limits: BothLimits, jobs: int | None) -> None:
    """Test until somebody interrupts; what goes wrong meanwhile is said, and watched too."""
    from lacec.cli.watch import State, pause, state_of

    before: State | None = None
    found: list[FileOutcome] = []
    while True:
        now = state_of(_watched(paths, found))
        if now != before:
            try:
                found = _run(find_tests(paths), limits, jobs)
                _report(found, False, None)
            except typer.BadParameter as error:
                write([(f"{error.message}\n", "")], sys.stderr)
            # What is read is known only now; what changed meanwhile has another time.
            before = {**state_of(_watched(paths, found)), **now}
        pause()


def _watched(paths: Sequence[str], found: "Sequence[FileOutcome]") -> list[str]:
    """The files whose change matters: tests, and what they read; settings above them."""
    from lacec.project.settings import NAME

    try:
        names = find_tests(paths)
    except typer.BadParameter:
        names = list(paths)
    names += [name for file in found for name in file.read]
    folders = {above for name in names for above in Path(name).absolute().parents}
    return [*dict.fromkeys(names), *sorted(str(above / NAME) for above in folders)]
