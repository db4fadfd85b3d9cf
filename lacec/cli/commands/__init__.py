"""The commands, one a file: options, a call, a rendering."""
