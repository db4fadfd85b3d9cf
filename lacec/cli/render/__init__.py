"""Results as text, JSON, SARIF, annotations of GitHub and JUnit."""
