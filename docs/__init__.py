"""The documentation: pages in Markdown, and what makes those of them that are derived."""
