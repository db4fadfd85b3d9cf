"""R. and U. identifiers (030): B64A of the BLAKE3-256 digest of canonical text."""

from lacec.records import b64a

RULE_TAG = b"lace-rule/v1"


def lacegram_id(canonical: str) -> str:
    """R.…: the identity of a canonical lacegram."""
    return "R." + _digest(canonical.encode("utf-8"))


def rule_id(line: str) -> str:
    """U.…: the identity of one canonical rule line."""
    return "U." + _digest(RULE_TAG + line.encode("utf-8"))


def _digest(data: bytes) -> str:
    from blake3 import blake3  # not needed to check a program

    return b64a.encode(blake3(data).digest())
