"""lacec store stats: how much is in a store."""

from dataclasses import asdict

from lacec.cli.commands.store.common import StoreArgument, opened
from lacec.cli.options import JsonOption
from lacec.cli.render.output import write, write_json


def stats_command(store: StoreArgument, json: JsonOption = False) -> None:
    """Print how many records and facts there are, and how much room they take.

    Example: lacec store stats mine
    """
    with opened(store, json, read_only=True) as source:
        stats = source.stats()
    if json:
        write_json(asdict(stats))
        return
    rows = [
        ("records", stats.records),
        ("removed, until compacted", stats.removed),
        ("bytes of records", stats.record_bytes),
        ("last StoreRecordId", stats.last_id),
        *stats.facts.items(),
        ("strings", stats.strings),
        ("segments", len(stats.segments)),
        ("bytes of segments", sum(stats.segments)),
        ("records after them", stats.tail),
        ("bytes on disk", stats.disk_bytes),
    ]
    write([(f"{count:>15,}  {what}\n", "") for what, count in rows])
