"""The lints, one a file."""
