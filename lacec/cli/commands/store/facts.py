"""lacec store facts: the record facts of a store."""

from lacec.cli.commands.store.common import StoreArgument, opened
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write_json, write_lines
from lacec.facts.bulk_reader import write_facts


def facts_command(store: StoreArgument, json: JsonOption = False) -> None:
    """Print the facts of all records, as sorted fact lines.

    Example: lacec store facts mine
    """
    with opened(store, json, read_only=True) as source:
        database = source.snapshot().database()
        facts = {p: database.tuples(database.relation(p)) for p in database.predicates()}
    if json:
        write_json({"facts": {str(p): [list(row) for row in rows] for p, rows in facts.items()}})
    else:
        lines = b"".join(write_facts(p, rows) for p, rows in facts.items()).splitlines(True)
        write_lines(b"".join(sorted(lines)))
