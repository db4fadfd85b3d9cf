"""lacec key: signing secrets and verifiers."""
