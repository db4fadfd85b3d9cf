"""Facts that change: semi-naive insertion, delete-and-rederive, overlays, counts by rank."""
