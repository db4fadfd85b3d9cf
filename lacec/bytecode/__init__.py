"""The bytecode: straight-line blocks over registers that hold relations."""
