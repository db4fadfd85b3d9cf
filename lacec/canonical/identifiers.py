"""R., U. and E. identifiers (030, 040): B64A of the BLAKE3-256 digest of canonical text."""

from lacec.records import b64a

RULE_TAG = b"lace-rule/v1"
PLAN_TAG = b"lace-exchange-plan/v1"
ORIGIN_TAG = b"lace-opaque-origin/v1"


def lacegram_id(canonical: str) -> str:
    """R.…: the identity of a canonical lacegram."""
    return "R." + module_digest(canonical)


def module_digest(canonical: str) -> str:
    """The digest of a canonical lacegram alone."""
    return _digest(canonical.encode("utf-8"))


def rule_id(line: str) -> str:
    """U.…: the identity of one canonical rule line."""
    return "U." + _digest(RULE_TAG + line.encode("utf-8"))


def plan_id(transcript: str) -> str:
    """E.…: the identity of an exchange plan."""
    return "E." + _digest(PLAN_TAG + transcript.encode("utf-8"))


def origin_digest(lines: str) -> str:
    """The full opaque origin digest of one side (D13)."""
    return _digest(ORIGIN_TAG + lines.encode("utf-8"))


def _digest(data: bytes) -> str:
    from blake3 import blake3  # not needed to check a program

    return b64a.encode(blake3(data).digest())
