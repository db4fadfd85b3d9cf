"""Write two files of records for the demo: keys and the older records, and the newer ones."""

from pathlib import Path

import lacec

records = list(lacec.corpus(40, seed=1, groups=2, members=4, blocked=1))
for name, part in (("left.records", records[:20]), ("right.records", records[20:])):
    Path(name).write_bytes(b"".join(record.data + b"\n" for record in part))
