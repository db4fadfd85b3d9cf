"""The interlace machine (050): one pure machine for each side of a link."""
