"""R. and U. identifiers (030): B64A of the BLAKE3-256 digest of canonical text."""

from blake3 import blake3

from lacec.records import b64a

RULE_TAG = b"lace-rule/v1"


def lacegram_id(canonical: str) -> str:
    """R.…: the identity of a canonical lacegram."""
    return "R." + b64a.encode(blake3(canonical.encode("utf-8")).digest())


def rule_id(line: str) -> str:
    """U.…: the identity of one canonical rule line."""
    return "U." + b64a.encode(blake3(RULE_TAG + line.encode("utf-8")).digest())
