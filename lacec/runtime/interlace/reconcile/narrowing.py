"""Reconciliation by partition summaries (050, D19): the two sides of one advertise phase.

The Answerer holds a snapshot of its own send set and answers what it is asked; the Asker
holds what it knew of the peer and asks for what is not known. In: offers and asks. Out:
asks and offers, and in the end what changed of the peer's advertisement state, by which it is
the same as a full listing would have given. Everything a peer says is checked; every step
makes the work left smaller.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import inf, log

from lacec.runtime.interlace.advertisement import Advertisement
from lacec.runtime.interlace.advertisements import Altered
from lacec.runtime.interlace.limits import ExchangeLimits, OwnLimits
from lacec.runtime.interlace.messages import Ask, Offer
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.reconcile.merkle import EMPTY, root
from lacec.runtime.interlace.reconcile.partitions import SYMBOLS, Partitions, Summary

# The bytes of a summary line, and of an ask line: a prefix has at most a few symbols.
_SUMMARY_BYTES = 100
_ASK_BYTES = 64
# Room in a block for a line that says a tick.
_MARGIN = 128
# The bytes of an advertisement record that has no field but its type; others have more.
_RECORD_BYTES = 240
# What narrowing must save of a listing, as it costs another step.
_WORTH = 0.25


class Answerer:
    """Our own send set, offered step by step."""

    def __init__(self, partitions: Partitions, limits: ExchangeLimits) -> None:
        self._partitions, self._limits = partitions, limits
        self._offered = {""}  # and not yet answered
        self._summaries = 1
        self._asked: dict[str, bool] = {}  # prefix: whether to list it

    def first(self) -> tuple[Summary, ...]:
        return (self._partitions.summary(""),)

    def ask(self, ask: Ask) -> None:
        """Take what the peer asks for."""
        wanted = [*((p, True) for p in ask.lists), *((p, False) for p in ask.narrows)]
        for prefix, listing in wanted:
            if prefix not in self._offered or prefix in self._asked:
                raise Abort("malformed-partition-summary", "asked for a partition not on offer")
            if not listing and len(prefix) >= self._limits.max_narrowing_depth:
                raise Abort("malformed-partition-summary", "asked to narrow too deep")
            self._asked[prefix] = listing

    def answer(self) -> tuple[list[Advertisement], list[Summary]]:
        """As much of an answer as fits in a block, at least to one ask; others are asked again."""
        records: list[Advertisement] = []
        summaries: list[Summary] = []
        most = room = self._limits.max_fact_block_bytes - _MARGIN
        for prefix, listing in self._asked.items():
            count = self._partitions.count(prefix)
            lists = listing and count <= self._limits.max_advertisement_records
            listed = self._partitions.records(prefix) if lists else []
            size = sum(record.size for record in listed)
            if lists and size <= most:
                if size > room:
                    continue
                records += listed
            else:
                children = self._narrow(prefix)
                size = len(children) * _SUMMARY_BYTES
                if size > room:
                    continue
                summaries += children
                self._summaries += len(children)
                self._offered |= {child.prefix for child in children}
            room -= size
            self._offered.discard(prefix)
        self._asked.clear()
        return records, summaries

    def _narrow(self, prefix: str) -> list[Summary]:
        if not self._partitions.can_narrow(prefix) or (
            len(prefix) >= self._limits.max_narrowing_depth
        ):
            raise Abort("listing-limit-exceeded", f"partition {prefix!r} cannot be listed")
        children = self._partitions.children(prefix)
        if self._summaries + len(children) > self._limits.max_partition_summaries:
            raise Abort("summary-limit-exceeded", f"partition {prefix!r} cannot be narrowed")
        return children


def listing_pays(size: int, different: int) -> bool:
    """Whether to list a partition of so many records, of which some differ from what is known."""
    listing, narrowing = _costs(size, different)
    return narrowing > (1 - _WORTH) * listing


@lru_cache(maxsize=2**14)
def _costs(size: int, different: int) -> tuple[float, float]:
    """About the bytes of listing a partition, and of narrowing it as long as that pays."""
    children = min(len(SYMBOLS), size)
    if children <= 1:
        return size * _RECORD_BYTES, inf
    touched = children * (1 - (1 - 1 / children) ** different)
    rest = _costs(size // children, max(1, round(different / touched)))
    return size * _RECORD_BYTES, children * _SUMMARY_BYTES + touched * (_ASK_BYTES + min(rest))


@dataclass
class Asker:
    """What we know of the peer's send set, brought up to date step by step."""

    known: Partitions
    limits: ExchangeLimits
    own: OwnLimits
    _open: dict[str, Summary] = field(default_factory=dict)  # offered, not known, not answered
    _asked: dict[str, bool] = field(default_factory=dict)  # prefix: whether to list it
    _kept: list[str] = field(default_factory=list)
    _replaced: list[str] = field(default_factory=list)  # the prefixes of which nothing is kept
    _ended: list[Advertisement] = field(default_factory=list)  # known, with too short a payload
    _listed: list[Advertisement] = field(default_factory=list)
    _told: list[Summary] = field(default_factory=list)
    _summaries: int = 0
    _begun: bool = False
    _changing: float = 0.0  # which part of the records differs, by what has been seen

    def take(self, offer: Offer) -> None:
        """Take an offer: the first summary, or the answers to what was asked."""
        if not self._begun:
            self._begun = True
            if offer.records or [s.prefix for s in offer.summaries] != [""]:
                raise Abort("malformed-partition-summary", "the first offer is not one summary")
            if offer.summaries[0].size > self.own.peer_advertisements:
                raise Abort("listing-limit-exceeded", "the peer advertises too many records")
            self._offered(offer.summaries)
            return
        answered = self._listings(offer.records) | self._narrowed(offer.summaries)
        if self._asked and not answered:
            raise Abort("malformed-partition-summary", "nothing that was asked for was answered")
        self._asked.clear()

    def ask(self) -> Ask:
        """What to ask for next; nothing once all is known."""
        lists, narrows = [], []
        most = (self.limits.max_fact_block_bytes - _MARGIN) // _ASK_BYTES
        left = self.limits.max_partition_summaries - self._summaries
        for prefix, summary in list(self._open.items())[:most]:
            if self._lists(summary, left):
                lists.append(prefix)
            else:
                narrows.append(prefix)
                left -= min(len(SYMBOLS), summary.size)
        self._asked = dict.fromkeys(lists, True) | dict.fromkeys(narrows, False)
        return Ask(tuple(lists), tuple(narrows))

    @property
    def unchanged(self) -> bool:
        """Whether the peer's state is what was known."""
        return self._kept == [""]

    @property
    def told(self) -> Sequence[Summary]:
        """What the peer said of its partitions; when nothing is left to ask, its state has them."""
        return self._told

    def changes(self) -> Altered:
        """What makes the peer's advertisement state of what was known, when nothing is left
        to ask."""
        replaced = (record for each in self._replaced for record in self.known.records(each))
        known = {record.hash: record for record in chain(replaced, self._ended)}
        listed = {record.hash: record for record in self._listed}
        same = {hash for hash, record in listed.items() if known.get(hash) == record}
        return Altered(
            [hash for hash in known if hash not in same],
            [record for hash, record in listed.items() if hash not in same],
        )

    def _lists(self, summary: Summary, summaries_left: int) -> bool:
        """Whether listing costs less than narrowing, or narrowing is not possible."""
        known = self.known.count(summary.prefix)
        different = abs(summary.size - known)  # at least so many
        if len(summary.prefix) >= self.limits.max_narrowing_depth:
            return True
        if summaries_left < min(len(SYMBOLS), summary.size):
            return True
        if summary.size > self.limits.max_advertisement_records:
            return False
        guessed = round(summary.size * self._changing)
        return listing_pays(summary.size, min(summary.size, max(different, guessed, 1)))

    def _offered(self, summaries: Iterable[Summary]) -> None:
        for summary in summaries:
            self._summaries += 1
            if self._summaries > self.limits.max_partition_summaries:
                raise Abort("summary-limit-exceeded")
            self._told.append(summary)
            if self.known.are_as(summary):
                self._kept.append(summary.prefix)
            elif summary.size:
                self._open[summary.prefix] = summary
            elif summary.root != EMPTY:
                raise Abort("malformed-partition-summary", "an empty partition has a root")
            else:
                self._replaced.append(summary.prefix)

    def _listings(self, records: Sequence[Advertisement]) -> set[str]:
        """Take listings of partitions that were asked for, each complete."""
        found: dict[str, list[Advertisement]] = {}
        for record in records:
            payload = record.payload
            prefix = next(
                (payload[:n] for n in range(len(payload) + 1) if payload[:n] in self._asked), None
            )
            if prefix is None:
                raise Abort("malformed-partition-summary", "a record of no partition asked for")
            found.setdefault(prefix, []).append(record)
        for prefix, listed in found.items():
            summary = self._open.pop(prefix)
            if len(listed) != summary.size or (
                root(record.digest for record in listed) != summary.root
            ):
                raise Abort("advertisement-list-root-mismatch", f"partition {prefix!r}")
            del self._asked[prefix]
            self._replaced.append(prefix)
            self._listed += listed
        return set(found)

    def _narrowed(self, summaries: Sequence[Summary]) -> set[str]:
        """Take the children of partitions that were asked for, all of each."""
        counts: dict[str, int] = {}
        for summary in summaries:
            parent = summary.prefix[:-1]
            if not summary.prefix or parent not in self._asked or summary.size == 0:
                raise Abort("malformed-partition-summary", "a summary of no partition asked for")
            counts[parent] = counts.get(parent, 0) + summary.size
        for prefix, count in counts.items():
            if len(prefix) >= self.limits.max_narrowing_depth:
                raise Abort("malformed-partition-summary", "narrowed too deep")
            if count != self._open.pop(prefix).size:
                raise Abort("malformed-partition-summary", "children do not add up")
            del self._asked[prefix]
        told = {summary.prefix for summary in summaries}
        if len(told) < len(summaries):
            raise Abort("malformed-partition-summary", "a partition is summarised twice")
        for prefix in counts:
            # A child of which nothing is said is empty, and no payload ends here any more.
            children = (prefix + symbol for symbol in SYMBOLS)
            self._replaced += [child for child in children if child not in told]
            self._ended += self.known.ended(prefix)
        known = len(self._kept)
        self._offered(summaries)
        self._guess(summaries, len(self._kept) - known)
        return set(counts)

    def _guess(self, summaries: Sequence[Summary], same: int) -> None:
        """If differences fall on partitions by chance, those without any tell how many there
        are. Where there are none without, little is known."""
        if same:
            mean = sum(summary.size for summary in summaries) / len(summaries)
            self._changing = min(1.0, log(len(summaries) / same) / mean)
