"""A project of policies: `lace.toml`, the sources it links, and the standard library."""
