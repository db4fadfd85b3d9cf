"""Sets of hashes that differ little from one moment to the next.

In: a large set that never changes, the ground, and the few hashes that were taken from it
and put to it. Out: a set like any other; what two such sets differ in is found at the cost
of what differs. Two grounds are compared once, and what came of it is kept.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain

# So many changes, or this share of the ground, are few; above that a new ground is made.
FEW, SHARE = 16, 128


def are_few(changes: int, ground: int) -> bool:
    return changes <= max(FEW, ground // SHARE)


class Ground:
    """A large set, and in what it differs from the ground that it was last compared with."""

    def __init__(self, hashes: AbstractSet[str]) -> None:
        self.hashes = hashes
        self._met: tuple[Ground, AbstractSet[str], AbstractSet[str]] | None = None

    def apart(self, other: "Ground") -> tuple[AbstractSet[str], AbstractSet[str]]:
        """What is here alone, and what is there alone."""
        if self is other:
            return frozenset(), frozenset()
        if self._met is None or self._met[0] is not other:
            self._met = (
                other,
                _minus(self.hashes, other.hashes),
                _minus(other.hashes, self.hashes),
            )
        return self._met[1:]


def _minus(one: AbstractSet[str], other: AbstractSet[str]) -> AbstractSet[str]:
    return one.minus(other) if isinstance(one, Grounded) else one - other


class Grounded(AbstractSet[str]):
    """A set on a ground: the ground itself, or one that differs a little from it."""

    gone: AbstractSet[str] = frozenset()
    more: AbstractSet[str] = frozenset()

    @cached_property
    def ground(self) -> Ground:
        return Ground(self)

    @classmethod
    def _from_iterable(cls, it: Iterable[str]) -> AbstractSet[str]:  # type: ignore[override]
        return set(it)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, AbstractSet) or len(self) != len(other):
            return False
        if isinstance(other, Grounded):
            return not self._apart(other)
        return all(hash in self for hash in other)

    __hash__ = None  # type: ignore[assignment]

    def __sub__(self, other: AbstractSet[object]) -> AbstractSet[str]:
        if not other:
            return self
        if isinstance(other, Grounded):
            found = self._apart(other)
            return self if len(found) == len(self) else found
        gone = [hash for hash in other if isinstance(hash, str) and hash in self]
        return self.changed((), gone) if gone else self

    def _apart(self, other: "Grounded") -> AbstractSet[str]:
        """What is here and not there."""
        here, _ = self.ground.apart(other.ground)
        if not (self.gone or self.more or other.gone or other.more):
            return here
        candidates = {*here, *self.more, *other.gone}
        return {hash for hash in candidates if hash in self and hash not in other}

    def minus(self, other: AbstractSet[str]) -> AbstractSet[str]:
        """What is in a ground, as this is, and not in another."""
        return {hash for hash in self if hash not in other}

    def changed(self, added: Iterable[str], removed: Iterable[str]) -> "LayeredSet":
        """The set without some of its hashes, and with some that it does not have."""
        gone, more = set(self.gone), set(self.more)
        for hash in removed:
            (more.discard if hash in more else gone.add)(hash)
        for hash in added:
            # What the ground has is not put to it again.
            (gone.discard if hash in gone else more.add)(hash)
        return LayeredSet(self.ground, gone, more)


class LayeredSet(Grounded):
    """`gone` are hashes of the ground, `more` none of what is left of it."""

    def __init__(self, ground: Ground, gone: AbstractSet[str], more: AbstractSet[str]) -> None:
        self.ground, self.gone, self.more = ground, gone, more

    def __len__(self) -> int:
        return len(self.ground.hashes) - len(self.gone) + len(self.more)

    def __iter__(self) -> Iterator[str]:
        left = (hash for hash in self.ground.hashes if hash not in self.gone)
        return chain(left if self.gone else self.ground.hashes, self.more)

    def __contains__(self, hash: object) -> bool:
        return hash in self.more or (hash not in self.gone and hash in self.ground.hashes)
