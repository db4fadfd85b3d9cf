"""The commands, as people and scripts call them."""
