"""lacec check: the diagnostics and lints of source files."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.files import expand, read_inputs, replace_file
from lacec.cli.modules import Checked, Options, check_file, settings_of
from lacec.cli.options import FilesArgument, LimitOption, WatchOption, WithOption, read_limits
from lacec.cli.render.diagnostics import counted, render, summary
from lacec.cli.render.output import write, write_json
from lacec.core.diagnostics import Diagnostic, has_errors
from lacec.core.facets import Facet
from lacec.core.resources import LIBRARY
from lacec.pipeline import Input

# A fix may make room for another; more rounds than this would be two that undo each other.
MOST_ROUNDS = 10


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def check_command(
    files: FilesArgument,
    facet: Annotated[
        Facet | None,
        typer.Option("--facet", help="What the modules are for; plain unless lace.toml says."),
    ] = None,
    linked: WithOption = None,
    expose: Annotated[
        list[str] | None,
        typer.Option(
            "--expose",
            metavar="FILE",
            help="What the peer of a selector may query: a file, selected, or all. Repeatable.",
        ),
    ] = None,
    limit: LimitOption = None,
    format: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make the fixes that keep what a module means.")
    ] = False,
    watch: WatchOption = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 when there are warnings, too.")
    ] = False,
) -> None:
    """Report every problem of each file, each file as a module of its own.

    Errors, and what is legal and seldom meant. The nearest lace.toml above a file says what
    the file is for, what it is linked with and which warnings count; options win over it.
    Exits with 1 when there are errors; warnings alone exit with 0.

    Example: lacec check policy.lace --facet selector
    """
    format = Format.JSON if json else format
    options = Options(facet, linked, expose, read_limits(limit))
    if "-" in files and "-" in (*(linked or ()), *(expose or ())):
        raise typer.BadParameter("standard input (-) can be read only once")
    if "-" in files and (fix or watch):
        raise typer.BadParameter("standard input (-) can be neither fixed nor watched")
    if watch:
        if format is not Format.TEXT:
            raise typer.BadParameter("prints text, not one document", param_hint="--watch")
        _watch(files, options, fix)
    found = _check(files, options, fix, format)
    if has_errors(found) or (strict and any(each.severity == "warning" for each in found)):
        raise typer.Exit(1)


def _check(
    files: Sequence[str], options: Options, fix: bool, format: Format
) -> tuple[Diagnostic, ...]:
    names = expand(files)
    linked = None if options.linked is None else read_inputs(options.linked, options.limits)
    # Each once, though a linked file is checked with every file.
    found: dict[Diagnostic, None] = {}
    for name in names:
        checked = check_file(name, options, linked)
        if fix and not name.startswith(LIBRARY):
            checked = _fix(checked, options, linked)
        if format is Format.TEXT:
            new = [each for each in checked.diagnostics if each not in found]
            write(render(new, dict(checked.inputs)))
        found.update(dict.fromkeys(checked.diagnostics))
    match format:
        case Format.TEXT:
            write([(summary(list(found), len(names)) + "\n", "")], sys.stderr)
        case Format.JSON:
            write_json({"diagnostics": [diagnostic.json() for diagnostic in found]})
        case Format.SARIF:
            from lacec.cli.render.sarif import sarif_log

            write_json(sarif_log(list(found)))
        case Format.GITHUB:
            from lacec.cli.render.github import workflow_commands

            write(workflow_commands(found))
    return tuple(found)


def _fix(checked: Checked, options: Options, linked: Sequence[Input] | None) -> Checked:
    """Fix a file until there is nothing left to fix in it, and say what remains."""
    from lacec.lint.fixes import apply_fixes

    total = 0
    for _ in range(MOST_ROUNDS):
        shown, content = checked.inputs[0]
        fixes = [
            each.fix
            for each in checked.diagnostics
            if each.fix and each.fix.keeps_meaning and each.place.file == shown
        ]
        if not fixes:
            break
        text = content if isinstance(content, str) else content.decode("utf-8", "surrogateescape")
        text, made = apply_fixes(text, fixes)
        replace_file(Path(checked.name), text.encode("utf-8", "surrogateescape"))
        total += made
        checked = check_file(checked.name, options, linked)
    if total:
        write([(f"fixed {counted(total, 'problem')} in {checked.name}\n", "")], sys.stderr)
    return checked


def _watch(files: Sequence[str], options: Options, fix: bool) -> None:
    """Check until somebody interrupts; what goes wrong meanwhile is said, and watched too."""
    from lacec.cli.watch import State, pause, state_of

    before: State | None = None
    while True:
        # Looked at before the check, so that what changes meanwhile is seen next time.
        now = state_of(_watched(files, options))
        if now != before:
            before = now
            try:
                _check(files, options, fix, Format.TEXT)
            except typer.BadParameter as error:
                write([(f"{error.message}\n", "")], sys.stderr)
        pause()


def _watched(files: Sequence[str], options: Options) -> list[str]:
    """The files whose change matters: sources, what is linked to them, settings."""
    from lacec.project.settings import NAME

    found = [*(options.linked or ()), *(options.expose or ())]
    try:
        for name in expand(files):
            settings = settings_of(name)
            found += [name, *settings.linked, *settings.expose]
            folder = Path(name).absolute().parent
            found += [str(above / NAME) for above in (folder, *folder.parents)]
    except typer.BadParameter:
        found += [*files]
    return found
