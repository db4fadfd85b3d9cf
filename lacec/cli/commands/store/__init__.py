"""The commands of `lacec store`."""
