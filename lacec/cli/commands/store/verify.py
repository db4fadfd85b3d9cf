"""lacec store verify: whether a store is sound."""

import os
import sys
from dataclasses import asdict

import typer

from lacec.cli.commands.store.common import StoreArgument, opened
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json


def verify_command(store: StoreArgument, json: JsonOption = False) -> None:
    """Check every record, and every segment against the records.

    Whoever reads a damaged segment rebuilds it in memory; `lacec store compact` writes it
    anew. The exit code is 1 if anything is wrong.

    Example: lacec store verify mine
    """
    with opened(store, json, read_only=True) as source:
        problems = source.verify((os.cpu_count() or 1) - 1)
    if json:
        write_json({"problems": [asdict(problem) for problem in problems]})
    else:
        for each in problems:
            said = f"[{each.name}]: {each.where}: {each.message}\n"
            write([("error", "bold red"), (said, "")], sys.stderr)
        write([(f"{len(problems)} problems\n" if problems else "sound\n", "")])
    if problems:
        raise typer.Exit(1)
