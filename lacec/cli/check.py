"""lacec check: the diagnostics of source files."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from lacec.cli.files import expand, read_input, read_inputs
from lacec.cli.options import FacetOption, FilesArgument, LimitOption, WithOption, read_limits
from lacec.cli.output import write, write_json
from lacec.cli.render import render, summary
from lacec.diagnostics import Diagnostic, has_errors
from lacec.facets import Facet
from lacec.pipeline import check_sources


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


def check_command(
    files: FilesArgument,
    facet: FacetOption = Facet.PLAIN,
    linked: WithOption = None,
    limit: LimitOption = None,
    format: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Report every problem of each file, each file as a module of its own.

    Exits with 1 when there are errors; warnings alone exit with 0.

    Example: lacec check policy.lace --facet selector
    """
    limits = read_limits(limit)
    names = expand(files)
    further = read_inputs(linked or (), limits)
    if "-" in names and "-" in (linked or ()):
        raise typer.BadParameter("standard input (-) can be read only once")
    as_json = json or format is Format.JSON
    # Each once, though a linked file is checked with every file.
    found: dict[Diagnostic, None] = {}
    for name in names:
        inputs = [read_input(name, limits), *further]
        diagnostics = check_sources(inputs, facet, limits)
        found.update(dict.fromkeys(diagnostics))
        if not as_json:
            write(render(diagnostics, dict(inputs)))
    if as_json:
        write_json({"diagnostics": [diagnostic.json() for diagnostic in found]})
    else:
        write([(summary(list(found), len(names)) + "\n", "")], sys.stderr)
    if has_errors(found):
        raise typer.Exit(1)
