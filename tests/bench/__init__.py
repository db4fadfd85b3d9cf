"""Measurements, run by `make bench`. Nothing here passes or fails."""
