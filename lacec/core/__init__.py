"""What all rooms know, and what knows none of them: names, limits, errors, diagnostics."""
