"""lacec fmt: tidy white space in source files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lacec.cli.files import expand, read_input, replace_file
from lacec.cli.options import FilesArgument
from lacec.cli.render.diagnostics import render
from lacec.cli.render.output import write
from lacec.core.errors import CompileError
from lacec.core.limits import DEFAULT_LIMITS
from lacec.pipeline import format_source


def fmt_command(
    files: FilesArgument,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if a file would change.")
    ] = False,
) -> None:
    """Format source files in place; - reads standard input and writes standard output.

    Only white space changes: comments, annotations and the order of lines are
    kept. A file that cannot be read is reported and left as it is.

    Example: lacec fmt --check policies/
    """
    failed = False
    for name in expand(files):
        source = read_input(name, DEFAULT_LIMITS)
        try:
            text = format_source(source).encode("utf-8")
        except CompileError as error:
            write(render(error.diagnostics, dict([source])), sys.stderr)
            failed = True
            continue
        changed = text != source[1]
        if check:
            failed |= changed
            if changed:
                write([(f"would reformat {source[0]}\n", "")])
        elif name == "-":
            sys.stdout.buffer.write(text)
        elif changed:
            replace_file(Path(name), text)
            write([(f"reformatted {name}\n", "")], sys.stderr)
    if failed:
        raise typer.Exit(1)
