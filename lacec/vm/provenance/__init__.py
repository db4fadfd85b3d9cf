"""From a fact back to its proof: in bulk, or one row at a time."""
