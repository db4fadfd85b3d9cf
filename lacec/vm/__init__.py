"""The NumPy machine: runs bytecode over interned facts."""
