"""The commands of `lacec std`."""
