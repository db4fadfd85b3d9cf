"""The bytes of a stream, read and written without a connection (060)."""
