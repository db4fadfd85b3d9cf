"""Text into trees with spans, and back."""
