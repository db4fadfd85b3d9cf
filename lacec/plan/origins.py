"""Origins: the label of each operand, and the viewer that query views are computed for.

In: two operands, and what setup knows of the two sides. Out: for each operand its
origin (D13, D14). Nothing here is taken from the text of a lacegram.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from lacec.canonical.identifiers import module_digest, origin_digest
from lacec.core.errors import PlanError
from lacec.core.origins import OriginMode
from lacec.core.predicates import OPAQUE_PREFIX
from lacec.plan.operands import Operand
from lacec.syntax.show import show_fact

# D24: a source label is at most so long; a nonce need not be longer.
MOST_BYTES = 256


@dataclass(frozen=True, slots=True)
class Party:
    """What setup knows of a side: the verifier it proves, and its public nonce."""

    verifier: str | None = None
    nonce: str | None = None

    def __post_init__(self) -> None:
        for what, text in (("verifier", self.verifier), ("nonce", self.nonce)):
            if text is not None and (wrong := _wrong_with(text)):
                raise PlanError(f"bad-{what}", f"a {what} {wrong}")
        if self.verifier is not None and self.verifier.startswith(OPAQUE_PREFIX):
            raise PlanError("bad-verifier", f"a verifier does not begin with {OPAQUE_PREFIX}")


def is_verifier_origin(text: str) -> bool:
    """Whether a side could have this text for its verifier."""
    return _wrong_with(text) is None and not text.startswith(OPAQUE_PREFIX)


def _wrong_with(text: str) -> str | None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return "is Unicode text"
    if not 0 < size <= MOST_BYTES:
        return f"has 1 to {MOST_BYTES} bytes, not {size}"
    if "\n" in text or "\r" in text:
        return "has no line break"
    return None if unicodedata.is_normalized("NFC", text) else "is NFC text"


@dataclass(frozen=True, slots=True)
class AssignedOrigin:
    """The origin of one operand. The label is of this exchange only, and no identity."""

    label: str
    verifier: str | None
    text: str  # what the transcript has: the label, or by option the verifier

    @property
    def viewer(self) -> str:
        """Whom query views are computed for (D14)."""
        return self.verifier or self.label


def assign_origins(
    operands: tuple[Operand, Operand],
    parties: tuple[Party, Party],
    mode: OriginMode = OriginMode.OPAQUE,
) -> tuple[AssignedOrigin, AssignedOrigin]:
    # No nonce is used unless both sides have one, so that ids are stable (D13).
    nonces = all(party.nonce is not None for party in parties)
    digests = [
        opaque_digest(operand, party.verifier, party.nonce if nonces else None)
        for operand, party in zip(operands, parties, strict=True)
    ]
    labels = opaque_labels(*digests)
    one, other = (_assigned(*pair, mode) for pair in zip(labels, parties, strict=True))
    if one.text == other.text:
        raise PlanError("equal-origins", f"both sides have the origin {one.text}")
    return one, other


def _assigned(label: str, party: Party, mode: OriginMode) -> AssignedOrigin:
    text = party.verifier if mode is OriginMode.VERIFIER and party.verifier else label
    return AssignedOrigin(label, party.verifier, text)


def opaque_digest(operand: Operand, verifier: str | None, nonce: str | None) -> str:
    """The full opaque origin digest of a side, as B64A (D13)."""
    digest = module_digest(operand.module.canonical)
    lines: Sequence[tuple[str, ...] | None] = (
        ("OriginRole", str(operand.index)),
        None if nonce is None else ("OriginNonce", nonce),
        None if verifier is None else ("OriginVerifier", verifier),
        ("OriginOperand", operand.facet, operand.module.id, digest),
    )
    return origin_digest("\n".join(show_fact(*line) for line in lines if line is not None))


def opaque_labels(one: str, other: str) -> tuple[str, str]:
    """The label of each digest: its character at the first place where the two differ."""
    for a, b in zip(one, other, strict=True):
        if a != b:
            return OPAQUE_PREFIX + a, OPAQUE_PREFIX + b
    raise PlanError("equal-origins", "the origin digests of the two sides are equal")
