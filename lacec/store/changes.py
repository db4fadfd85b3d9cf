"""What came and went between two snapshots of a store, as facts.

In: two snapshots, and how many records are too many to look at. Out: the facts that came
and those that went. They are made from the bytes of the records that changed, so that it
costs nothing that is as before.
"""

from typing import TYPE_CHECKING

import numpy as np

from lacec.store.protocol import FactChange, rows_of
from lacec.store.segments import stored_facts
from lacec.store.snapshot import Snapshot

if TYPE_CHECKING:
    from lacec.store.store import Store


def changes(store: "Store", before: Snapshot, now: Snapshot, most: int) -> FactChange | None:
    """None when that is more than `most` records, or their bytes are not as they were."""
    if before.generation != now.generation or now.last < before.last:
        return None
    gone = np.setdiff1d(now.removed, before.removed)
    gone = gone[gone <= before.last]
    if len(gone) + now.last - before.last > most:
        return None
    with store.reading():
        execute = store.connection.execute
        if execute("SELECT generation FROM state").fetchone() != (now.generation,):
            return None
        query = "SELECT id, data FROM records WHERE id > ? AND id <= ? ORDER BY id"
        come = execute(query, (before.last, now.last)).fetchall()
        # Removed records keep their bytes until the store is compacted, which changes the number.
        query = "SELECT id, data FROM records WHERE id = ?"
        went = [row for id in gone.tolist() for row in execute(query, (id,))]
    left = set(now.removed[now.removed > before.last].tolist())
    come = [row for row in come if row[0] not in left]
    added, removed = (
        [f for _, facts in stored_facts(rows) for f in facts] for rows in (come, went)
    )
    return FactChange(rows_of(added), rows_of(removed))
