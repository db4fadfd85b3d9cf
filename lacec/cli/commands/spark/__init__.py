"""The commands of `lacec spark`."""
