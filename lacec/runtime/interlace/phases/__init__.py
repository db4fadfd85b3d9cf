"""The phases of an exchange: what a machine does with an event, and where that leads."""
