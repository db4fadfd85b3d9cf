"""How a command ends that cannot give its result: diagnostics, or a limit."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

import typer

from lacec.cli.render.diagnostics import render, summary
from lacec.cli.render.output import write, write_json
from lacec.core.diagnostics import Diagnostic
from lacec.core.errors import LimitError
from lacec.core.origins import Origin
from lacec.core.predicates import Predicate


def refuse(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str | bytes], json: bool
) -> NoReturn:
    """The input is wrong: exit code 1."""
    if json:
        write_json({"diagnostics": [diagnostic.json() for diagnostic in diagnostics]})
    else:
        write(render(diagnostics, sources), sys.stderr)
        write([(summary(diagnostics, len(sources)) + "\n", "")], sys.stderr)
    raise typer.Exit(1)


def warn(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str | bytes],
    given: Iterable[Predicate] | None,
    json: bool,
) -> None:
    """Warnings about what is evaluated, but for predicates that facts were given of.

    `given` is None where the command line names no facts: people are told when that is why
    there is no result.
    """
    if json:
        return
    names = {predicate.name for predicate in given or ()}
    shown = [each for each in diagnostics if _subject(each, sources) not in names]
    write(render(shown, sources), sys.stderr)
    if given is None:
        said = "no facts were given: --facts FILE or --store STORE gives some\n"
        write([(said, "dim")], sys.stderr)


def _subject(diagnostic: Diagnostic, sources: Mapping[str, str | bytes]) -> str:
    """The predicate that a diagnostic points at, by its name."""
    place = diagnostic.place
    source = sources.get(place.file, "")
    text = source.decode("utf-8") if isinstance(source, bytes) else source
    line = text.split("\n")[place.line - 1]
    return line[place.column - 1 : place.end_column - 1].partition("(")[0]


def stopped_by_limit(error: LimitError, json: bool) -> NoReturn:
    """A run-time limit was exceeded: exit code 3, and no partial result."""
    if json:
        write_json(
            {
                "limit": {
                    "name": error.name,
                    "value": error.limit,
                    "count": error.count,
                    "origin": error.origin.name.lower(),
                    "message": str(error),
                }
            }
        )
    else:
        whose = "" if error.origin == Origin.LOCAL else ", in the rules of the peer"
        help = limit_help(error)
        segments = [("error", "bold red"), (f": {error}{whose}\n  = help: {help}\n", "")]
        write(segments, sys.stderr)
    raise typer.Exit(3)


def limit_help(error: LimitError) -> str:
    return f"raise it with --limit {error.name}=VALUE, or ask for less"
