"""The runtime: what executes exchange plans, and the store it executes them over."""
