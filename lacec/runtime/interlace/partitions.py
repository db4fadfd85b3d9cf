"""Partitions of a set of advertisement records (050 Reconciliation): counts, roots, children.

In: the advertisement records of one snapshot. Out: for a prefix of their payloads, how
many there are, the Merkle root over them, the records, and the prefixes one symbol longer.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from lacec.records.b64a import ALPHABET
from lacec.runtime.interlace.advertisement import Advertisement, payload_of
from lacec.runtime.interlace.claims import Altered
from lacec.runtime.interlace.merkle import EMPTY, root

SYMBOLS = ALPHABET.decode("ascii")
# After every symbol of B64A, and after a payload that has ended.
_LAST = "\x7f"


class Summary(NamedTuple):
    """AdvertisementPartition(Prefix,Count,Root)."""

    prefix: str
    size: int  # its Count
    root: bytes


class Partitions:
    """The partitions of a set. Roots are computed when asked for, and kept."""

    def __init__(self, records: Iterable[Advertisement]) -> None:
        self._records = sorted(records, key=lambda record: (record.payload, record.hash))
        self._payloads = [record.payload for record in self._records]
        self._roots: dict[str, bytes] = {}

    def change(self, altered: Altered) -> None:
        """Take records out and put others in; only the roots over them are found again."""
        for hash in altered.gone:
            payload = payload_of(hash)
            at = bisect_left(self._payloads, payload)
            while self._records[at].hash != hash:
                at += 1
            del self._records[at], self._payloads[at]
            self._forget_roots(payload)
        for record in altered.come:
            payload = record.payload
            at = bisect_left(self._payloads, payload)
            while at < len(self) and (self._payloads[at], self._records[at].hash) < (
                payload,
                record.hash,
            ):
                at += 1
            self._records.insert(at, record)
            self._payloads.insert(at, payload)
            self._forget_roots(payload)

    def _forget_roots(self, payload: str) -> None:
        for length in range(len(payload) + 1):
            self._roots.pop(payload[:length], None)

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

    def summary(self, prefix: str) -> Summary:
        start, end = self._range(prefix)
        if start == end:
            return Summary(prefix, 0, EMPTY)
        if prefix not in self._roots:
            self._roots[prefix] = root(record.digest for record in self._records[start:end])
        return Summary(prefix, end - start, self._roots[prefix])

    def children(self, prefix: str) -> list[Summary]:
        """The summaries of the children that are not empty."""
        return [self.summary(prefix + symbol) for symbol in SYMBOLS if self.count(prefix + symbol)]

    def can_narrow(self, prefix: str) -> bool:
        """Whether the children hold all its records: none has a payload that ends here."""
        start, end = self._range(prefix)
        return start == end or len(self._payloads[start]) > len(prefix)
