"""The embedded record store: bytes in SQLite, facts in segments, snapshots to evaluate over."""
