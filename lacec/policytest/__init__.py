"""Policy tests: facts and records in, expected facts and exchanges out, with rule coverage."""
