"""Partitions of a set of advertisement records (050 Reconciliation): counts, roots, children.

In: the advertisement records of one snapshot. Out: for a prefix of their payloads, how
many there are, the Merkle root over them, the records, and the prefixes one symbol longer.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lacec.records.b64a import ALPHABET
from lacec.runtime.interlace.advertisement import Advertisement, payload_of
from lacec.runtime.interlace.advertisements import Altered
from lacec.runtime.interlace.reconcile.merkle import EMPTY, Tree, root

SYMBOLS = ALPHABET.decode("ascii")
# After every symbol of B64A, and after a payload that has ended.
_LAST = "\x7f"
# The root of a partition with fewer records is found from nothing after a change; one with more
# has a tree, which costs as much at first. Trees hold at most so many leaves for each record.
LARGE, LEAVES = 1024, 2
# Nobody has so many records that partitions so deep are large, unless their hashes were chosen.
DEPTH = 4
# More changes than these at once are not made one by one: partitions are made anew about as fast.
MANY = 2048
# Roots that were told are kept while there are no more than these: four loops can tell so many.
MOST_TOLD = 2**16


class Summary(NamedTuple):
    """AdvertisementPartition(Prefix,Count,Root)."""

    prefix: str
    size: int  # its Count
    root: bytes


class Partitions:
    """The partitions of a set. Roots are computed when asked for, and kept."""

    def __init__(self, records: Iterable[Advertisement], large: int = LARGE) -> None:
        self._records = sorted(records, key=lambda record: (record.payload, record.hash))
        self._payloads = [record.payload for record in self._records]
        self._roots: dict[str, bytes] = {}
        self._large = large
        self._trees: dict[str, Tree] = {}  # of large partitions; the last one used last
        self._told: dict[str, bytes] = {}  # roots, by the word of whose records these are
        self._unseen = self._to_narrow("")

    def change(self, altered: Altered) -> None:
        """Take records out and put others in; only the roots over them are found again."""
        for hash in altered.gone:
            at = self._place(hash)
            record = self._records.pop(at)
            assert record.hash == hash
            del self._payloads[at]
            for tree in self._touch(record):
                tree.remove(record.digest)
        for record in altered.come:
            at = self._place(record.hash)
            self._records.insert(at, record)
            self._payloads.insert(at, record.payload)
            for tree in self._touch(record):
                tree.add(record.digest)

    def _place(self, hash: str) -> int:
        """Where a record is, or would be."""
        payload = payload_of(hash)
        at = bisect_left(self._payloads, payload)
        while at < len(self) and self._payloads[at] == payload and self._records[at].hash < hash:
            at += 1
        return at

    def _touch(self, record: Advertisement) -> list[Tree]:
        """Forget the roots over a record; the trees that have it, or will."""
        payload = record.payload
        prefixes = [payload[:length] for length in range(len(payload) + 1)]
        for prefix in prefixes:
            self._roots.pop(prefix, None)
            self._told.pop(prefix, None)
        return [self._trees[prefix] for prefix in prefixes if prefix in self._trees]

    def __len__(self) -> int:
        return len(self._records)

    def _range(self, prefix: str) -> tuple[int, int]:
        start = bisect_left(self._payloads, prefix)
        return start, bisect_left(self._payloads, prefix + _LAST, start)

    def count(self, prefix: str) -> int:
        start, end = self._range(prefix)
        return end - start

    def records(self, prefix: str) -> list[Advertisement]:
        start, end = self._range(prefix)
        return self._records[start:end]

    def ended(self, prefix: str) -> list[Advertisement]:
        """Those whose payload has no more symbols."""
        start, _ = self._range(prefix)
        return self._records[start : bisect_right(self._payloads, prefix, start)]

    def summary(self, prefix: str) -> Summary:
        start, end = self._range(prefix)
        if start == end:
            return Summary(prefix, 0, EMPTY)
        if prefix not in self._roots:
            self._roots[prefix] = self._root(prefix)
        return Summary(prefix, end - start, self._roots[prefix])

    def take_word(self, summaries: Iterable[Summary]) -> None:
        """Keep what was said of partitions by the one whose records these are, all of them.

        Nothing is lost if it was not true: that it says the same again means no more than that
        it has nothing new to tell, and anything else is looked into as ever.
        """
        self._told.update((summary.prefix, summary.root) for summary in summaries)
        self._trees.clear()  # roots that change will be told
        if len(self._told) > MOST_TOLD:
            self._told.clear()

    def are_as(self, summary: Summary) -> bool:
        """Whether the records of a partition are those of a summary: it says what was said of
        them before, or what is found from them."""
        if summary.size != self.count(summary.prefix):
            return False
        told = self._told.get(summary.prefix)
        return summary.root == (self.summary(summary.prefix).root if told is None else told)

    def _root(self, prefix: str) -> bytes:
        tree = self._trees.pop(prefix, None)
        if tree is None:
            digests = [record.digest for record in self.records(prefix)]
            if self._told or len(digests) < self._large:
                return root(digests)
            tree = Tree(digests)
        self._trees[prefix] = tree
        while self.leaves > LEAVES * len(self):
            del self._trees[next(iter(self._trees))]
        return tree.root()

    def look_ahead(self) -> Iterator[None]:
        """Find in pieces, while nothing changes, what summaries after the next change need: the
        roots of the children of large partitions, and the runs that trees look ahead to."""
        for prefix in self._unseen:
            if prefix not in self._told:
                self.summary(prefix)
                yield
        for tree in list(self._trees.values()):
            yield from tree.look_ahead()

    def _to_narrow(self, prefix: str) -> Iterator[str]:
        """The children of a partition that is large, and of those of them that are."""
        if self.count(prefix) >= self._large and len(prefix) < DEPTH:
            for symbol in SYMBOLS:
                yield prefix + symbol
                yield from self._to_narrow(prefix + symbol)

    @property
    def leaves(self) -> int:
        """How many leaves all trees have together."""
        return sum(map(len, self._trees.values()))

    def drop_trees(self) -> None:
        """Roots stay; after the next change those of large partitions are found from nothing."""
        self._trees.clear()

    def children(self, prefix: str) -> list[Summary]:
        """The summaries of the children that are not empty."""
        return [self.summary(prefix + symbol) for symbol in SYMBOLS if self.count(prefix + symbol)]

    def can_narrow(self, prefix: str) -> bool:
        """Whether the children hold all its records: none has a payload that ends here."""
        return not self.ended(prefix)
