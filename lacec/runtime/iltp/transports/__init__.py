"""Transports: each opens connections to an address, or takes them there, as channels."""
