"""Policy tests: reading, running and what they cover."""
