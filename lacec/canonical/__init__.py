"""Canonical text and the identifiers computed from it."""
