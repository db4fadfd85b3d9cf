"""Listeners and callers that stay: admission, counters, watching the store, reconnecting."""
