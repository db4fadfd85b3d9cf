"""Whose rules read record facts, and through which view (020 Origin-aware resolution).

The lowering of a plan says it for each predicate; the emitter writes it into the code,
and the verifier and the machine go by it. What is not named is local and reads all facts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from lacec.core.predicates import Predicate


class Origin(IntEnum):
    """Where a rule comes from. It decides the limits of its evaluation (D12)."""

    LOCAL = 0
    PEER = 1  # sees record facts through a view only
    TRUSTED = 2  # a peer's operand that local policy lets see all facts (D16b)


class OriginMode(StrEnum):
    """What the origins of a plan are: labels of one exchange, or proven verifiers (D14)."""

    OPAQUE = "opaque"
    VERIFIER = "verifier"


FULL_VIEW = 0


class Reading(NamedTuple):
    """How the rules of a predicate read record facts: the number of a view, or FULL_VIEW."""

    origin: Origin = Origin.LOCAL
    view: int = FULL_VIEW

    @property
    def closed(self) -> bool:
        """Whether the rules may read no other derived predicates than those read like this."""
        return self != OPEN


OPEN = Reading()


class View(NamedTuple):
    """The records P for which gate(viewer,P) holds."""

    gate: Predicate
    viewer: str


@dataclass(frozen=True)
class Resolution:
    """The views of a program, numbered from 1, and how its predicates read."""

    views: tuple[View, ...] = ()
    readings: Mapping[Predicate, Reading] = field(default_factory=dict, hash=False)

    def of(self, predicate: Predicate) -> Reading:
        return self.readings.get(predicate, OPEN)


PLAIN = Resolution()
