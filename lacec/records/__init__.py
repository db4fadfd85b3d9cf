"""Records and their parts."""
