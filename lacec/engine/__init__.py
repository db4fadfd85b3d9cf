"""Evaluation: a module, one side of a plan, and both over facts that change."""
