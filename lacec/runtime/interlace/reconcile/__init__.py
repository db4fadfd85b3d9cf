"""Finding what differs: partitions, their Merkle roots, and the loop that narrows them (050)."""
