"""Partitions that change (050 Reconciliation), beside those made anew of the same records."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.advertisement import Advertisement
from lacec.runtime.interlace.advertisements import Altered
from lacec.runtime.interlace.reconcile.merkle import root
from lacec.runtime.interlace.reconcile.partitions import LARGE, SYMBOLS, Partitions, Summary
from tests.helpers import examples
from tests.runtime.interlace.solo import claim


def slow_summary(records: list[Advertisement], prefix: str) -> Summary:
    digests = [each.digest for each in records if each.payload.startswith(prefix)]
    return Summary(prefix, len(digests), root(digests))


def check(partitions: Partitions, present: dict[str, Advertisement], depth: int) -> None:
    """All partitions down to a depth, and what is in them."""
    records = list(present.values())
    assert len(partitions) == len(records)
    prefixes = {each.payload[:length] for each in records for length in range(depth + 1)}
    for prefix in {"", *prefixes}:
        here = [each for each in records if each.payload.startswith(prefix)]
        assert partitions.summary(prefix) == slow_summary(here, prefix)
        assert partitions.count(prefix) == len(here)
        listed = partitions.records(prefix)
        assert listed == sorted(here, key=lambda each: (each.payload, each.hash))
        children = [prefix + symbol for symbol in SYMBOLS]
        told = [slow_summary(here, child) for child in children if child in prefixes]
        if len(prefix) < depth:
            assert partitions.children(prefix) == told


# Few payloads, of all types, with one claim or another: a hash may come back with another one.
some = st.builds(claim, st.integers(0, 60), st.sampled_from("BPS"), st.sampled_from("xy"))
sets = st.lists(some, max_size=120)
changes = st.tuples(st.lists(st.integers(0, 1000), max_size=6), st.lists(some, max_size=6))
pieces = st.integers(0, 40)


@given(sets, st.lists(st.tuples(changes, pieces), max_size=8), st.sampled_from([1, 4, 30]))
@examples(100)
def test_partitions_that_change_are_those_made_anew(
    begun: list[Advertisement],
    steps: list[tuple[tuple[list[int], list[Advertisement]], int]],
    large: int,
) -> None:
    """050, D24: every prefix has the count and the root of the records that are there, however
    far ahead was looked."""
    present = {each.hash: each for each in begun}
    partitions = Partitions(present.values(), large)
    check(partitions, present, 2)
    for (places, more), ahead in steps:
        assert len(list(islice(partitions.look_ahead(), ahead))) <= ahead
        come = {each.hash: each for each in more}
        hashes = list(present)
        gone = {hashes[place % len(hashes)] for place in places if hashes}
        gone |= come.keys() & present.keys()
        partitions.change(Altered(sorted(gone), list(come.values())))
        present = {hash: each for hash, each in present.items() if hash not in gone} | come
        check(partitions, present, 2)


def test_what_was_told_of_partitions_holds_until_they_change() -> None:
    """D19: a partition whose count and root are known is not asked for, nor hashed again."""
    partitions = Partitions([claim(number) for number in range(40)], large=4)
    told = partitions.summary("")._replace(root=bytes(32))
    assert not partitions.are_as(told)
    partitions.take_word([told])
    assert partitions.are_as(told)
    assert not partitions.are_as(told._replace(size=41))
    assert partitions.summary("") == slow_summary(partitions.records(""), "")
    partitions.change(Altered([], [claim(40)]))
    assert not partitions.are_as(told._replace(size=41))
    assert partitions.are_as(partitions.summary(""))


def test_what_was_looked_ahead_to_is_not_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the children of large partitions only those that the next change is in."""
    partitions = Partitions([claim(number) for number in range(600)], large=4)
    partitions.summary("")
    for _ in partitions.look_ahead():
        pass
    partitions.change(Altered([], [claim(600)]))
    found: list[str] = []

    def find(prefix: str) -> bytes:
        found.append(prefix)
        return bytes(32)

    monkeypatch.setattr(partitions, "_root", find)
    payload = claim(600).payload
    changed = [payload[:length] for length in range(len(payload))]
    narrowed = [prefix for prefix in changed if partitions.count(prefix) > 4]
    for prefix in narrowed:
        partitions.children(prefix)
    assert found == changed[1 : len(narrowed) + 1]
    assert len(found) > 1


def test_so_much_is_told_and_no_more_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lacec.runtime.interlace.reconcile.partitions.MOST_TOLD", 3)
    partitions = Partitions([claim(number) for number in range(40)])
    lies = [child._replace(root=bytes(32)) for child in partitions.children("")]
    partitions.take_word(lies[:3])
    assert [partitions.are_as(lie) for lie in lies[:4]] == [True, True, True, False]
    partitions.take_word(lies[3:4])
    assert not any(partitions.are_as(lie) for lie in lies)


def test_large_partitions_that_change_have_the_roots_of_their_records() -> None:
    """050, D24: at the size at which one has a tree."""
    records = [claim(number) for number in range(LARGE + 8)]
    present = {each.hash: each for each in records[:-8]}
    partitions = Partitions(present.values())
    partitions.summary("")
    for old, new in zip(records[:4], records[-8:-4], strict=True):
        partitions.change(Altered([old.hash], [new]))
        del present[old.hash]
        present[new.hash] = new
        assert partitions.summary("") == slow_summary(list(present.values()), "")
    partitions.change(Altered([], records[-4:]))
    present |= {each.hash: each for each in records[-4:]}
    assert partitions.summary("") == slow_summary(list(present.values()), "")
