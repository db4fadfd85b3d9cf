"""ILTP (060): exchanges over byte streams, and what a stream proves about its ends."""
