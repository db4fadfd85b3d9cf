"""Partition summaries: the state that comes of them is that of a full listing (D19)."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField
from lacec.runtime.interlace.advertisements import Altered, Claims
from lacec.runtime.interlace.limits import DEFAULT_LIMITS, DEFAULT_OWN_LIMITS, ExchangeLimits
from lacec.runtime.interlace.messages import Ask, Offer
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.reconcile.narrowing import Answerer, Asker, listing_pays
from lacec.runtime.interlace.reconcile.partitions import Partitions, Summary
from tests.helpers import examples
from tests.runtime.interlace.solo import claim

RECORDS = [claim(n) for n in range(3000)]


def reconcile(
    known: list[Advertisement],
    offered: list[Advertisement],
    limits: ExchangeLimits = DEFAULT_LIMITS,
) -> tuple[Claims, int, int]:
    """The state in the end, how many records were listed and how many steps it took."""
    asker = Asker(Partitions(known), limits, DEFAULT_OWN_LIMITS)
    listed, steps = talk(Answerer(Partitions(offered), limits), asker)
    gone, come = asker.changes()
    state = Claims(known).altered(frozenset(gone), {record.hash: record for record in come})
    return state, listed, steps


def talk(answerer: Answerer, asker: Asker) -> tuple[int, int]:
    """How many records were listed, and how many steps it took until nothing was left to ask."""
    offer, listed, steps = Offer(summaries=answerer.first()), 0, 1
    while True:
        asker.take(offer)
        ask = asker.ask()
        if not ask.lists and not ask.narrows:
            return listed, steps
        answerer.ask(ask)
        records, summaries = answerer.answer()
        offer = Offer(tuple(records), tuple(summaries))
        listed += len(records)
        steps += 1


def state(records: list[Advertisement]) -> Claims:
    return Claims(records)


sets = st.lists(st.sampled_from(RECORDS[:300]), unique=True, max_size=300)
# So few may be listed at once that much is narrowed.
NARROW = replace(DEFAULT_LIMITS, max_advertisement_records=8)


@given(sets, sets)
@examples(60)
def test_the_state_is_that_of_a_full_listing(
    known: list[Advertisement], offered: list[Advertisement]
) -> None:
    assert reconcile(known, offered)[0] == state(offered)


@given(st.lists(sets, min_size=2, max_size=5), st.sampled_from([DEFAULT_LIMITS, NARROW]))
@examples(60)
def test_it_is_so_loop_after_loop_by_what_was_told_before(
    loops: list[list[Advertisement]], limits: ExchangeLimits
) -> None:
    """The roots that a peer said are taken for those of what it listed."""
    own, known = Partitions(loops[0]), Partitions([])
    for before, offered in pairwise([loops[0], *loops]):
        gone = [each.hash for each in before if each not in offered]
        own.change(Altered(gone, [each for each in offered if each not in before]))
        asker = Asker(known, limits, DEFAULT_OWN_LIMITS)
        talk(Answerer(own, limits), asker)
        if not asker.unchanged:
            known.change(asker.changes())
        known.take_word(asker.told)
        assert {*known.records("")} == {*offered}


@given(sets, st.integers(0, 20))
@examples(40)
def test_small_limits_change_the_steps_and_not_the_state(
    known: list[Advertisement], most: int
) -> None:
    limits = ExchangeLimits(8192, 20 + most, 2000, 3)
    assert reconcile(known, RECORDS[:200], limits)[0] == state(RECORDS[:200])


def test_an_unchanged_set_costs_one_summary() -> None:
    assert reconcile(RECORDS, RECORDS) == (state(RECORDS), 0, 1)


def test_few_differences_cost_few_records() -> None:
    found, listed, steps = reconcile(RECORDS[:-1], RECORDS)
    assert found == state(RECORDS)
    assert listed <= 64
    assert steps <= 5


def test_scattered_differences_cost_few_records_each() -> None:
    """They are looked for in smaller and smaller partitions before anything is listed."""
    known = [each for number, each in enumerate(RECORDS) if number % 100]
    found, listed, _ = reconcile(known, RECORDS)
    assert found == state(RECORDS)
    assert listed <= 3 * 30


@pytest.mark.parametrize("size", [1, 2, 30, 64, 65, 1000, 4096, 100_000])
def test_what_is_all_new_is_listed(size: int) -> None:
    """And where one of many differs, that one is looked for."""
    assert listing_pays(size, size)
    assert listing_pays(size, 1) == (size < 4)


def test_a_changed_claim_is_a_difference() -> None:
    changed = [replace(RECORDS[0], fields=()), *RECORDS[1:]]
    assert reconcile(RECORDS, changed)[0] == state(changed)


def test_records_of_different_types_share_partitions() -> None:
    """050: the record type does not take part in the prefix."""
    both = [claim(1, "P"), claim(1, "S")]
    partitions = Partitions(both)
    assert partitions.count(both[0].payload) == 2
    assert reconcile([], both)[0] == state(both)


def test_children_append_one_symbol_and_empty_ones_are_left_out() -> None:
    children = Partitions(RECORDS[:10]).children("")
    assert all(len(child.prefix) == 1 for child in children)
    assert sum(child.size for child in children) == 10
    assert all(child.size for child in children)


# What a peer may not do.


def asker(known: int = 0, **limits: int) -> Asker:
    return Asker(Partitions(RECORDS[:known]), ExchangeLimits(**limits), DEFAULT_OWN_LIMITS)


def refused(reason: str, run: Callable[[], object]) -> None:
    with pytest.raises(Abort) as found:
        run()
    assert found.value.reason == reason


ROOT = Partitions(RECORDS[:100]).summary("")


def begun(first: Summary = ROOT, known: int = 0, **limits: int) -> Asker:
    found = asker(known, **limits)
    found.take(Offer(summaries=(first,)))
    found.ask()
    return found


def test_a_listing_must_have_the_count_and_root_announced() -> None:
    wrong = "advertisement-list-root-mismatch"
    refused(wrong, lambda: begun().take(Offer(tuple(RECORDS[:99]))))
    changed = (replace(RECORDS[0], fields=()), *RECORDS[1:100])
    refused(wrong, lambda: begun().take(Offer(changed)))
    begun().take(Offer(tuple(RECORDS[:100])))


def test_the_first_offer_is_one_summary_of_everything() -> None:
    wrong = "malformed-partition-summary"
    refused(wrong, lambda: asker().take(Offer(tuple(RECORDS[:2]))))
    refused(wrong, lambda: asker().take(Offer(summaries=(Summary("a", 1, bytes(32)),))))
    refused(wrong, lambda: asker().take(Offer()))
    refused(wrong, lambda: asker().take(Offer(summaries=(Summary("", 0, bytes(32)),))))


def test_children_add_up_and_were_asked_for() -> None:
    wrong = "malformed-partition-summary"
    children = tuple(Partitions(RECORDS[:100]).children(""))
    begun().take(Offer(summaries=children))
    refused(wrong, lambda: begun().take(Offer(summaries=children[1:])))
    refused(wrong, lambda: begun().take(Offer(summaries=(*children, children[0]))))
    grandchild = children[0]._replace(prefix=children[0].prefix + "0")
    refused(wrong, lambda: begun().take(Offer(summaries=(grandchild,))))
    empty = children[0]._replace(size=0)
    refused(wrong, lambda: begun().take(Offer(summaries=(empty,))))
    refused(wrong, lambda: begun().take(Offer()))


def test_the_limits_on_summaries_and_records_hold() -> None:
    children = tuple(Partitions(RECORDS[:100]).children(""))
    few = len(children) - 1
    refused(
        "summary-limit-exceeded",
        lambda: begun(max_partition_summaries=few).take(Offer(summaries=children)),
    )
    many = Summary("", DEFAULT_OWN_LIMITS.peer_advertisements + 1, bytes(32))
    refused("listing-limit-exceeded", lambda: asker().take(Offer(summaries=(many,))))


def test_an_answerer_answers_what_is_on_offer_once() -> None:
    wrong = "malformed-partition-summary"

    def answerer(**limits: int) -> Answerer:
        return Answerer(Partitions(RECORDS[:100]), ExchangeLimits(**limits))

    refused(wrong, lambda: answerer().ask(Ask(("a",))))
    refused(wrong, lambda: answerer().ask(Ask(("",), ("",))))
    again = answerer()
    again.ask(Ask(("",)))
    again.answer()
    refused(wrong, lambda: again.ask(Ask(("",))))
    refused(wrong, lambda: answerer(max_narrowing_depth=0).ask(Ask((), ("",))))


def test_what_cannot_be_listed_is_narrowed() -> None:
    answerer = Answerer(Partitions(RECORDS[:100]), ExchangeLimits(max_advertisement_records=50))
    answerer.ask(Ask(("",)))
    records, summaries = answerer.answer()
    assert not records
    assert sum(summary.size for summary in summaries) == 100


def test_what_can_neither_be_listed_nor_narrowed_ends_the_exchange() -> None:
    same = [replace(RECORDS[0], hash=f"{letter}{RECORDS[0].hash[1:]}") for letter in "BPS"]
    limits = ExchangeLimits(max_advertisement_records=2, max_narrowing_depth=1)
    refused("listing-limit-exceeded", lambda: reconcile([], same, limits))


short = st.builds(
    Advertisement,
    st.text("ab", max_size=3).map(lambda payload: f"P.{payload}.H3") | st.just("S.a.H3"),
    st.just("S"),
    st.sampled_from([(), (ClaimedField("App", 0, "x"),)]),
)
shorts = st.lists(short, unique_by=lambda record: record.hash)


@given(shorts, shorts)
@examples(200)
def test_partitions_that_change_are_those_of_the_new_set(
    old: list[Advertisement], new: list[Advertisement]
) -> None:
    """Their roots, too, which were asked for before."""
    partitions, fresh = Partitions(old), Partitions(new)
    prefixes = ["", "a", "b", "ab", "aba"]
    for prefix in prefixes:
        partitions.summary(prefix)
    gone = [record.hash for record in old if record not in new]
    partitions.change(Altered(gone, [record for record in new if record not in old]))
    for prefix in prefixes:
        assert partitions.summary(prefix) == fresh.summary(prefix)
        assert partitions.records(prefix) == fresh.records(prefix)


@given(shorts, st.lists(short.filter(lambda r: len(r.payload) == 3), unique_by=lambda r: r.hash))
@examples(100)
def test_what_was_known_with_a_shorter_payload_is_gone(
    known: list[Advertisement], offered: list[Advertisement]
) -> None:
    """Although it is in no child of a partition that was narrowed."""
    limits = replace(DEFAULT_LIMITS, max_advertisement_records=1)
    assert reconcile(known, offered, limits)[0] == Claims(offered)
