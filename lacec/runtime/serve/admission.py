"""With whom a listener exchanges what: terms by verifier, and how many links each may have."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lacec.runtime.iltp.session import Lace, Terms


@dataclass(frozen=True)
class Guest:
    """The terms of somebody in particular, and how many links at once; None: any number."""

    terms: Terms
    links: int | None = None


@dataclass(frozen=True)
class Guests:
    """`anyone` are the terms of who is not known; None: they are turned away."""

    anyone: Terms | None
    known: Mapping[str, Guest] = field(default_factory=dict)

    def welcome(self, lace: Lace, verifier: str | None) -> Terms | None:
        """The terms for who claims a verifier, which is proven before anything depends on it.

        Only proven links count: who claims to be somebody else takes no link away from them.
        So it is asked again when a claim is proven: others may have come meanwhile.
        """
        guest = None if verifier is None else self.known.get(verifier)
        if guest is None:
            return self.anyone
        linked = [pump.proven for pump in lace.links]
        if guest.links is not None and linked.count(verifier) >= guest.links:
            return None
        return guest.terms
