"""Answers explained: query plans, proofs, why not, what a change of policy does, disclosure."""
