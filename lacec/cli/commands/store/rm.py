"""lacec store rm: remove records."""

import sys

import typer

from lacec.cli.commands.store.common import HashesArgument, StoreArgument, opened, read_hash
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json


def rm_command(store: StoreArgument, hashes: HashesArgument, json: JsonOption = False) -> None:
    """Remove records. Their bytes go when the store is compacted.

    The exit code is 1 if one was not there.

    Example: lacec store rm mine S.rQ1VgQKd1GcQ2wbs~AIm0yEnhEQXvTYQU9xmRPY5L~G.H3
    """
    wanted = [read_hash(text) for text in hashes]
    with opened(store, json) as target:
        removed = target.remove(wanted)
    missing = [hash for hash in dict.fromkeys(wanted) if hash not in removed]
    if json:
        write_json({"removed": removed, "missing": missing})
    else:
        for hash in missing:
            said = f": the store has no record {hash}\n"
            write([("error", "bold red"), (said, "")], sys.stderr)
    if missing:
        raise typer.Exit(1)
