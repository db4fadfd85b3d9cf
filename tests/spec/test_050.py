"""050, rule by rule: one machine, and the test as its peer."""

from dataclasses import replace
from typing import Any

import pytest
from blake3 import blake3

from lacec.canonical.identifiers import lacegram_id
from lacec.core.predicates import RUNTIME_FACTS, Predicate
from lacec.records import b64a
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.limits import SECOND, Budget, ExchangeLimits, OwnLimits
from lacec.runtime.interlace.reasons import LIMITS, REASONS
from lacec.runtime.interlace.reconcile.partitions import Partitions
from lacec.runtime.interlace.state import State
from tests.runtime.interlace.solo import ALICE, ALL_FIELDS, BOB, Solo, plex
from tests.simulation.policies import COMPLEMENT, GROUP_U, LATER, modules
from tests.simulation.world import EPOCH

ONE, TWO, THREE = plex("one"), plex("two"), plex("three")


def tai(seconds: int) -> str:
    return f"{EPOCH // SECOND + seconds:010}:000000000"


# Setup.


def test_setup_has_one_operand_and_comes_first() -> None:
    solo = Solo()
    assert solo.setup == m.Setup(0, solo.own.module.id, "unassigned", "selector")


def test_a_claimed_verifier_stands_in_the_origin() -> None:
    """D14."""
    assert Solo(claim=ALICE).setup.origin == ALICE


def test_two_equal_indexes_abort() -> None:
    solo = Solo()
    solo.tell(solo.peer_setup(index=0))
    assert solo.reason == "operand-index-conflict"


def test_a_module_whose_bytes_cannot_be_had_aborts_setup() -> None:
    solo = Solo()
    solo.tell(solo.peer_setup(module="R.unknown"))
    assert solo.reason == "module-unavailable"


def test_an_operand_of_another_facet_aborts() -> None:
    solo = Solo()
    solo.tell(solo.peer_setup(facet="expose"))
    assert solo.reason == "malformed-exchange-module"


@pytest.mark.parametrize(
    "text",
    [
        "SelectHave(P) :- Have(P).",  # 040: a selector exports both
        "SelectAdvertised(P,S) :- Advertised(P,S).\nSelectHave(P) :- true.",  # 030 Safety
        "SelectAdvertised(P,S) :- Advertised(P,S), not SelectHave(P).\n"
        "SelectHave(P) :- Have(P), not SelectAdvertised(P,_).",  # 030 Strata
    ],
)
def test_a_module_that_is_not_valid_for_its_facet_aborts_setup(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = "SelectAdvertised(P,S) :- Advertised(P,S).\nSelectHave(P) :- Have(P)."
    known = {**modules(), **{lacegram_id(each): each.encode() for each in (text, right)}}
    monkeypatch.setattr("tests.runtime.interlace.solo.modules", lambda: known)
    solo = Solo()
    solo.tell(solo.peer_setup(module=lacegram_id(text)))
    assert solo.reason == "malformed-exchange-module"
    solo = Solo()
    (hello,) = solo.tell(solo.peer_setup(module=lacegram_id(right)))
    assert isinstance(hello, m.Hello)


def test_an_origin_that_claims_to_be_this_side_aborts() -> None:
    solo = Solo(claim=ALICE)
    solo.tell(solo.peer_setup(origin=ALICE))
    assert solo.reason == "peer-verifier-mismatch"


def test_both_sides_compile_the_same_plan() -> None:
    solo = Solo()
    (hello,) = solo.tell(solo.peer_setup())
    assert isinstance(hello, m.Hello)
    assert hello.plan.startswith("E.")


# Hello: signers.


def test_a_proven_signer_becomes_peer() -> None:
    solo = Solo(claim=ALICE)
    solo.open(solo.peer_setup(origin=BOB))
    facts = solo.machine.link.runtime_facts()
    assert ("Peer", BOB) in facts
    assert ("Here", ALICE) in facts


def test_without_proof_there_is_neither_hello_signer_nor_peer() -> None:
    solo = Solo()
    hello = solo.greet()
    solo.tell(hello)
    assert hello.signer is None
    assert not [f for f in solo.machine.link.runtime_facts() if f[0] in ("Peer", "Here")]


@pytest.mark.parametrize(
    ("claimed", "signer", "demand"),
    [
        (BOB, None, False),  # claimed at setup, not proven in hello
        (BOB, ALICE + "x", False),  # another than claimed
        ("unassigned", BOB, False),  # never claimed
        ("V.mallory.H3", "V.mallory.H3", False),  # the proof is not valid
        ("unassigned", None, True),  # this side demands a proof
    ],
)
def test_a_verifier_that_is_not_proven_aborts(
    claimed: str, signer: str | None, demand: bool
) -> None:
    solo = Solo(claim=ALICE, demand_proof=demand)
    solo.tell(solo.greet(solo.peer_setup(origin=claimed), signer=signer))
    assert solo.reason == "peer-verifier-mismatch"


# Hello: what is negotiated.


def negotiated(options: dict[str, Any] | None = None, **peer: Any) -> Solo:
    solo = Solo(**(options or {}))
    solo.tell(solo.greet(**peer))
    return solo


def test_the_plan_is_the_same_on_both_sides_or_there_is_no_exchange() -> None:
    assert negotiated(plan="E.other").reason == "exchange-plan-mismatch"


def test_start_is_the_later_tai_and_skew_whole_seconds() -> None:
    solo = negotiated(tai=f"{EPOCH // SECOND + 7:010}:900000000")
    agreement = solo.machine.link.agreement
    assert agreement.start == f"{EPOCH // SECOND + 7:010}:900000000"
    assert agreement.skew_seconds == 7
    solo = negotiated(tai=f"{EPOCH // SECOND - 2:010}:000000001")
    assert solo.machine.link.agreement.start == tai(0)
    assert solo.machine.link.agreement.skew_seconds == 1


def test_ticktai_begins_at_start() -> None:
    facts = negotiated().machine.link.runtime_facts()
    assert ("StartTAI", tai(0)) in facts
    assert ("TickTAI", tai(0)) in facts
    assert ("ClockSkewSeconds", "0") in facts


def test_the_tick_interval_is_the_longer_one() -> None:
    solo = negotiated({"tick_interval": 5 * SECOND}, interval=7 * SECOND)
    assert solo.machine.link.agreement.interval == 7 * SECOND


@pytest.mark.parametrize("interval", [0, 10**18])
def test_a_tick_interval_is_not_zero_and_fits(interval: int) -> None:
    assert negotiated(interval=interval).reason == "negotiation-failed"


def test_a_limit_is_the_smallest_of_ours_and_all_that_are_told() -> None:
    told = (
        ("max_loop_iterations", "9"),
        ("max_loop_iterations", "7"),
        ("max_narrowing_depth", "99"),
        ("max_colours", "3"),
    )
    limits = negotiated(limits=told).machine.link.agreement.limits
    assert limits.max_loop_iterations == 7
    assert limits.max_narrowing_depth == ExchangeLimits().max_narrowing_depth


@pytest.mark.parametrize("value", ["", "x", "-1", "1.5", "9" * 20, "0", "٣"])
def test_a_malformed_limit_is_a_failure(value: str) -> None:
    assert negotiated(limits=(("max_loop_iterations", value),)).reason == "negotiation-failed"


def test_our_own_limits_are_told_by_the_names_of_d24a() -> None:
    assert [name for name, _ in Solo(partitions=True).greet().limits] == [
        "max_fact_block_bytes",
        "max_advertisement_records",
        "max_partition_summaries",
        "max_narrowing_depth",
        "max_total_transferred_bytes",
        "max_loop_iterations",
        "phase_timeout_seconds",
        "partition_summaries",
    ]


def test_no_record_format_in_common_aborts() -> None:
    assert negotiated(formats=frozenset(("H9",))).reason == "unsupported-record-format"


def test_the_schema_offered_is_type_and_what_the_plan_requires() -> None:
    """D22; more by option."""
    assert Solo().greet().schema == Schema(frozenset(("Type",)))
    assert Solo(source=GROUP_U).greet().schema == Schema(frozenset(("Group", "Type")))
    more = Solo(fields=Schema(frozenset(("App",)))).greet().schema
    assert more == Schema(frozenset(("App", "Type")))
    assert Solo(fields=ALL_FIELDS).greet().schema == ALL_FIELDS


def test_the_schema_must_satisfy_the_plan() -> None:
    missing = negotiated({"source": GROUP_U}, schema=Schema(frozenset(("Type",))))
    assert missing.reason == "unsupported-advertisement-schema"
    found = negotiated({"source": GROUP_U}, schema=ALL_FIELDS)
    assert found.machine.link.agreement.schema == Schema(frozenset(("Group", "Type")))


def test_the_link_id_is_of_both_verifiers_and_the_plan() -> None:
    """D24."""
    solo = Solo(claim=ALICE)
    solo.open(solo.peer_setup(origin=BOB))
    plan = solo.machine.link.compiled.plan
    digest = blake3(f"{min(ALICE, BOB)}{max(ALICE, BOB)}{plan}".encode()).digest()
    assert solo.machine.link.epoch.link_id == b64a.encode(digest)


def test_without_both_verifiers_there_is_no_link_id() -> None:
    solo = Solo(claim=ALICE)
    solo.open()
    assert solo.machine.link.epoch.link_id is None


def test_transport_facts_are_those_of_the_binding() -> None:
    """D24b: one process has no Transport."""
    assert not [f for f in negotiated().machine.link.runtime_facts() if "Transport" in f[0]]
    facts = negotiated({"transport": "stdio", "encrypted": True}).machine.link.runtime_facts()
    assert ("Transport", "stdio") in facts
    assert ("TransportEncrypted",) in facts


def test_runtime_facts_are_those_of_the_profile_and_no_others() -> None:
    """060: nothing private of an implementation is a fact that a peer's rules could read."""
    options = {"transport": "stdio", "encrypted": True, "claim": ALICE}
    facts = negotiated(options).machine.link.runtime_facts()
    assert facts
    assert {Predicate(name, len(values)) for name, *values in facts} <= RUNTIME_FACTS.keys()


# Advertise.


def test_a_full_listing_has_each_record_of_the_effective_send_set() -> None:
    offer = Solo([ONE, TWO]).open()
    assert {record.hash for record in offer.records} == {ONE.hash, TWO.hash}
    assert {field.name for record in offer.records for field in record.fields} == {"Type"}


def test_what_may_not_be_sent_is_not_advertised() -> None:
    """Nothing is exposed, so the peer's operand selects nothing here."""
    assert Solo([ONE, TWO], exposed="nothing").open().records == ()
    private = plex("private", group="x")
    offer = Solo([ONE, private], source=GROUP_U).open()
    assert [record.hash for record in offer.records] == [ONE.hash]


def test_the_source_is_the_label_unless_the_verifier_is_proven() -> None:
    """D21."""
    (record,) = Solo([ONE]).open().records
    assert record.source.startswith("Opq_")
    solo = Solo([ONE], claim=ALICE)
    (record,) = solo.open(solo.peer_setup(origin=BOB)).records
    assert record.source == ALICE


def test_an_advertisement_of_another_source_is_malformed() -> None:
    solo = Solo()
    solo.open()
    (claim,) = solo.claims(ONE)
    solo.tell(m.Offer((replace(claim, source="V.other.H3"),)))
    assert solo.reason == "malformed-fact-block"


def test_an_advertised_field_outside_the_schema_is_malformed() -> None:
    """D17."""
    solo = Solo()
    solo.open()
    (claim,) = solo.claims(ONE)
    solo.tell(m.Offer((replace(claim, fields=(ClaimedField("App", 0, "ding"),)),)))
    assert solo.reason == "malformed-fact-block"


def test_a_listing_longer_than_the_limit_aborts() -> None:
    solo = Solo(limits=ExchangeLimits(max_advertisement_records=1))
    solo.open()
    solo.tell(m.Offer(solo.claims(ONE, TWO)))
    assert solo.reason == "listing-limit-exceeded"
    solo = Solo([ONE, TWO], limits=ExchangeLimits(max_advertisement_records=1))
    solo.tell(solo.greet())
    assert solo.reason == "listing-limit-exceeded"


def test_summaries_that_were_not_agreed_on_abort() -> None:
    solo = Solo()
    solo.open()
    solo.tell(m.Offer(summaries=(Partitions(()).summary(""),)))
    assert solo.reason == "malformed-partition-summary"


def test_d19_summaries_are_used_when_both_hellos_say_so() -> None:
    solo = Solo([ONE], partitions=True)
    offer = solo.open()
    assert not offer.records
    assert [(s.prefix, s.size) for s in offer.summaries] == [("", 1)]
    assert Solo([ONE], partitions=True).open(limits=()).records


def test_d19_asks_are_answered_and_the_phase_ends_when_both_are_empty() -> None:
    solo = Solo([ONE], partitions=True)
    solo.open()
    (ask,) = solo.tell(m.Offer(summaries=(Partitions(solo.claims(TWO)).summary(""),)))
    assert ask == m.Ask(("",))
    (offer,) = solo.tell(m.Ask(("",)))
    assert isinstance(offer, m.Offer)
    assert [record.hash for record in offer.records] == [ONE.hash]
    (ask,) = solo.tell(m.Offer(solo.claims(TWO)))
    assert ask == m.Ask()
    (request,) = solo.tell(m.Ask())
    assert request == m.Request((TWO.hash,))


def test_a_listing_that_does_not_have_its_root_aborts() -> None:
    solo = Solo(partitions=True)
    solo.open()
    solo.tell(m.Offer(summaries=(Partitions(solo.claims(TWO)).summary(""),)))
    solo.tell(m.Ask())
    solo.tell(m.Offer(solo.claims(ONE)))
    assert solo.reason == "advertisement-list-root-mismatch"


# Request.


def test_what_is_advertised_selected_and_missing_is_requested() -> None:
    solo = Solo([ONE])
    solo.open()
    assert solo.advertise(ONE, TWO).hashes == (TWO.hash,)


def test_what_is_not_selected_is_not_requested() -> None:
    solo = Solo(source=GROUP_U)
    solo.open()
    assert solo.advertise(ONE).hashes == (), "it does not claim to be of the group"


def test_a_format_outside_the_negotiated_set_is_not_requested() -> None:
    solo = Solo()
    solo.open()
    strange = Advertisement("P.0000.H9", solo.machine.link.peer_source)
    (request,) = solo.tell(m.Offer((*solo.claims(ONE), strange)))
    assert request == m.Request((ONE.hash,))


def test_a_request_list_is_bounded() -> None:
    solo = Solo(own_limits=OwnLimits(requests=2))
    solo.open()
    assert len(solo.advertise(ONE, TWO, THREE).hashes) == 2


def test_a_request_list_fits_in_a_block() -> None:
    many = [plex(f"n{n}") for n in range(300)]
    solo = Solo(limits=ExchangeLimits(max_fact_block_bytes=8192))
    solo.open()
    assert 100 < len(solo.advertise(*many).hashes) < 130


# Transfer.


def asking(*records: Any, **options: Any) -> Solo:
    """A machine that has asked for these records and awaits them."""
    solo = Solo(**options)
    solo.open()
    assert solo.advertise(*records).hashes
    assert solo.tell(m.Request()) == [m.BatchEnd()]
    return solo


def test_a_requested_record_is_validated_and_stored() -> None:
    solo = asking(ONE)
    solo.tell(m.Arrived(ONE), m.BatchEnd())
    assert solo.shelf.get(ONE.hash) == ONE.data
    assert list(solo.machine.link.totals.received) == [ONE.hash]


def test_a_record_that_was_not_requested_aborts() -> None:
    solo = asking(ONE)
    solo.tell(m.Arrived(TWO))
    assert solo.reason == "unrequested-record"
    assert solo.shelf.get(TWO.hash) is None


def test_a_record_answers_one_request_once() -> None:
    solo = asking(ONE)
    solo.tell(m.Arrived(ONE), m.Arrived(ONE))
    assert solo.reason == "unrequested-record"
    assert solo.shelf.get(ONE.hash), "what was valid is kept"


def test_a_record_outside_the_transfer_phase_aborts() -> None:
    solo = Solo()
    solo.open()
    solo.tell(m.Arrived(ONE))
    assert solo.reason == "unrequested-record"


def test_invalid_bytes_are_rejected_and_the_round_goes_on() -> None:
    solo = asking(ONE, TWO)
    (offer,) = solo.tell(m.Invalid(ONE.hash, 10), m.Arrived(TWO), m.BatchEnd())
    assert isinstance(offer, m.Offer)
    assert list(solo.machine.link.totals.rejected) == [ONE.hash]
    assert solo.shelf.get(TWO.hash)


@pytest.mark.parametrize("answer", [m.Invalid(ONE.hash, 10), m.NotAvailable(ONE.hash)])
def test_d18_what_was_answered_in_vain_is_asked_again_when_it_went_and_came_back(
    answer: m.Invalid | m.NotAvailable,
) -> None:
    solo = asking(ONE, records=[TWO])
    solo.tell(answer, m.BatchEnd())
    assert solo.advertise(ONE, TWO).hashes == ()
    solo.tell(m.Request())
    assert solo.advertise().hashes == ()
    solo.tell(m.Request())
    assert solo.advertise(ONE).hashes == (ONE.hash,)


def test_not_available_for_what_was_not_requested_is_malformed() -> None:
    solo = asking(ONE)
    solo.tell(m.NotAvailable(TWO.hash))
    assert solo.reason == "malformed-fact-block"


def test_what_gets_no_answer_is_deferred_and_asked_again() -> None:
    solo = asking(ONE, TWO)
    solo.tell(m.Arrived(ONE), m.BatchEnd())
    assert solo.advertise(ONE, TWO).hashes == (TWO.hash,)
    assert not solo.machine.link.totals.not_available


def serving(*wanted: str, records: Any = (ONE, TWO, THREE), **options: Any) -> list[m.Message]:
    """What a machine with some records says to a request."""
    solo = Solo(records, **options)
    solo.open()
    solo.advertise()
    return solo.tell(m.Request(wanted))


def test_a_sender_sends_what_is_requested() -> None:
    assert serving(ONE.hash) == [m.SentRecord(ONE.hash, ONE.data), m.BatchEnd()]


def test_a_sender_says_what_it_cannot_send() -> None:
    absent = plex("absent")
    assert serving(absent.hash, ONE.hash) == [
        m.NotAvailable(absent.hash),
        m.SentRecord(ONE.hash, ONE.data),
        m.BatchEnd(),
    ]


def test_a_sender_does_not_send_what_policy_does_not_select() -> None:
    private = plex("private", group="x")
    said = serving(private.hash, records=[private], source=GROUP_U)
    assert said == [m.NotAvailable(private.hash), m.BatchEnd()]


def test_maysend_is_decided_at_send_time() -> None:
    """The record was advertised, and is removed before it is requested."""
    solo = Solo([ONE])
    assert solo.open().records
    solo.advertise()
    solo.shelf.remove(ONE.hash)
    assert solo.tell(m.Request((ONE.hash,))) == [m.NotAvailable(ONE.hash), m.BatchEnd()]


def test_maysend_depends_on_what_the_peer_has_advertised_meanwhile() -> None:
    solo = Solo([ONE], source=COMPLEMENT)
    assert solo.open().records
    solo.advertise(ONE)
    assert solo.tell(m.Request((ONE.hash,))) == [m.NotAvailable(ONE.hash), m.BatchEnd()]


def test_what_was_not_available_is_not_advertised_in_the_next_loop() -> None:
    """So that its advertisement goes, and can come back (D18)."""
    solo = Solo([ONE, TWO])
    solo.open()
    solo.advertise()
    solo.shelf.remove(ONE.hash)
    solo.tell(m.Request((ONE.hash,)))
    solo.shelf.add([ONE])
    (offer,) = solo.tell(m.BatchEnd())
    assert isinstance(offer, m.Offer)
    assert [record.hash for record in offer.records] == [TWO.hash]
    solo.advertise()
    (offer,) = solo.tell(m.Request())
    assert isinstance(offer, m.Offer)
    assert {record.hash for record in offer.records} == {ONE.hash, TWO.hash}


@pytest.mark.parametrize(
    "budget", [Budget(records=2), Budget(bytes=len(ONE.data) + len(TWO.data) + 3)]
)
def test_a_sender_serves_within_its_budget_and_defers_the_rest(budget: Budget) -> None:
    hashes = (ONE.hash, TWO.hash, THREE.hash)
    said = serving(*hashes, budget=budget, own_limits=OwnLimits(loaded_at_once=1))
    assert [type(message) for message in said] == [m.SentRecord, m.SentRecord, m.BatchEnd]


def test_a_budget_of_time_ends_a_batch() -> None:
    solo = Solo([ONE, TWO], budget=Budget(seconds=5), own_limits=OwnLimits(loaded_at_once=1))
    solo.open()
    solo.advertise()
    effects = solo.machine.handle(m.Request((ONE.hash, TWO.hash)))
    assert len(effects) == 1, "one record is loaded at a time"
    assert isinstance(effects[0], e.Load)
    solo.clock(6)
    said = solo.tell(solo.side.answer(effects[0]))
    assert said == [m.SentRecord(ONE.hash, ONE.data), m.BatchEnd()]


def test_the_first_record_goes_however_large_it_is() -> None:
    assert serving(ONE.hash, budget=Budget(bytes=1))[0] == m.SentRecord(ONE.hash, ONE.data)


# Fixed points and loops.


def test_d18_a_fixed_point_is_two_equal_loops_without_requests() -> None:
    solo = Solo([ONE])
    solo.open()
    solo.loop()
    assert solo.result is None
    solo.loop()
    assert solo.result is not None
    assert solo.result.converged
    assert solo.result.loops == 2
    assert solo.machine.closed


def test_a_changed_advertisement_is_no_fixed_point() -> None:
    solo = Solo([ONE])
    solo.open()
    solo.loop()
    solo.loop([ONE])
    assert solo.result is None
    solo.loop([ONE])
    assert solo.result is not None


def test_records_that_arrive_are_advertised_in_the_next_loop() -> None:
    solo = Solo()
    solo.open()
    said = solo.loop([ONE], [ONE])
    assert isinstance(said[-1], m.Offer)
    assert [record.hash for record in said[-1].records] == [ONE.hash]


def test_a_bounded_exchange_sees_what_others_store_meanwhile() -> None:
    """050: no store ids are pinned."""
    solo = Solo()
    assert solo.open().records == ()
    solo.shelf.add([ONE])
    (offer,) = solo.loop()
    assert isinstance(offer, m.Offer)
    assert offer.records


def test_loops_that_store_nothing_are_limited() -> None:
    solo = Solo(limits=ExchangeLimits(max_loop_iterations=3))
    solo.open()
    for number in range(4):
        solo.loop([ONE if number % 2 else TWO])
    assert solo.reason == "loop-limit-exceeded"
    assert not solo.ended.converged


def test_d18_loops_that_store_something_are_not_counted() -> None:
    solo = Solo(limits=ExchangeLimits(max_loop_iterations=2))
    solo.open()
    records = [plex(f"n{n}") for n in range(6)]
    for record in records:
        solo.loop([record], [record])
    assert len(solo.shelf.records) == 6
    assert solo.result is None


def test_d18_nor_are_loops_in_which_a_record_is_sent_for_the_first_time() -> None:
    solo = Solo([ONE, TWO], limits=ExchangeLimits(max_loop_iterations=2))
    solo.open()
    solo.loop(wanted=[ONE.hash])
    solo.loop(wanted=[TWO.hash])
    for _ in range(3):
        assert solo.result is None
        solo.loop(wanted=[ONE.hash])
    assert solo.reason == "loop-limit-exceeded"


def test_bytes_of_which_nothing_is_stored_are_limited() -> None:
    solo = asking(ONE, TWO, limits=ExchangeLimits(max_total_transferred_bytes=1000))
    solo.tell(m.Invalid(ONE.hash, 900))
    assert solo.result is None
    solo.tell(m.Invalid(TWO.hash, 900))
    assert solo.reason == "transfer-limit-exceeded"
    assert solo.ended.bytes_received == 1800


# Cursors.


def test_a_proven_link_keeps_a_cursor_and_begins_from_it() -> None:
    solo = Solo([ONE], claim=ALICE, partitions=True)
    solo.open(solo.peer_setup(origin=BOB))
    same = Partitions(solo.claims(ONE))
    for step in ([m.Offer(summaries=(same.summary(""),)), m.Ask()], [m.Offer(solo.claims(ONE))]):
        solo.tell(*step)
    solo.tell(m.Ask(), m.Request())
    solo.tell(m.Offer(summaries=(same.summary(""),)), m.Ask(), m.Request())
    assert solo.result is not None
    assert solo.result.converged
    assert solo.result.cursor_updated
    again = Solo([ONE], claim=ALICE, partitions=True)
    again.side._cursors = solo.cursors
    again.open(again.peer_setup(origin=BOB))
    (ask,) = again.tell(m.Offer(summaries=(same.summary(""),)))
    assert ask == m.Ask(), "nothing changed, so nothing is asked for"


def test_a_link_that_is_not_proven_keeps_no_cursor() -> None:
    solo = Solo([ONE])
    solo.open()
    solo.loop([ONE])
    solo.loop([ONE])
    assert not solo.cursors.kept
    assert not solo.ended.cursor_updated


def test_a_cursor_of_another_schema_is_of_no_use() -> None:
    solo = Solo([ONE], claim=ALICE)
    solo.machine.handle(solo.greet(solo.peer_setup(origin=BOB)))
    solo.machine.handle(e.ProofChecked(True))
    solo.machine.handle(e.Recalled(e.Cursor(ALL_FIELDS, Claims(solo.claims(ONE)))))
    assert solo.machine.link.epoch.peer == {}


# Open exchanges and ticks.


def resting(records: Any = (), **options: Any) -> Solo:
    solo = Solo(records, open=True, **options)
    solo.open()
    solo.loop()
    solo.loop()
    assert solo.machine.state is State.REST
    assert solo.rested[-1].converged
    return solo


def test_an_open_exchange_rests_at_a_fixed_point() -> None:
    assert resting().result is None


def test_new_records_begin_a_loop() -> None:
    solo = resting()
    solo.shelf.add([ONE])
    (offer,) = solo.tell(e.StoreChanged(1))
    assert isinstance(offer, m.Offer)
    assert [record.hash for record in offer.records] == [ONE.hash]


def test_so_do_removed_ones() -> None:
    solo = resting([ONE])
    solo.shelf.remove(ONE.hash)
    assert solo.tell(e.StoreChanged(1)) == [], "no record is new"
    (offer,) = solo.tell(e.StoreChanged(1, removed=True))
    assert offer == m.Offer()


def test_a_change_that_changes_nothing_for_the_peer_begins_no_loop() -> None:
    solo = resting(source=GROUP_U)
    solo.shelf.add([plex("private", group="x")])
    assert solo.tell(e.StoreChanged(1)) == []
    assert solo.machine.state is State.REST


def test_the_peer_may_begin_a_loop_and_is_answered() -> None:
    solo = resting()
    offer, request = solo.tell(m.Offer(solo.claims(ONE)))
    assert offer == m.Offer()
    assert request == m.Request((ONE.hash,))


def test_a_tick_begins_a_loop_and_is_announced_once() -> None:
    solo = resting(tick_interval=10 * SECOND)
    assert solo.clock(9) == []
    (offer,) = solo.clock(1)
    assert offer == m.Offer(tick=tai(10))


def test_ticktai_moves_when_both_are_ready() -> None:
    solo = resting(tick_interval=10 * SECOND)
    solo.clock(10)
    solo.advertise()
    assert ("TickTAI", tai(0)) in solo.machine.link.runtime_facts()
    assert solo.tell(m.Request()) == []
    assert solo.machine.state is State.REST
    offer, _ = solo.tell(m.Offer(tick=tai(10)))
    assert offer == m.Offer(), "the same tick is not said again"
    assert ("TickTAI", tai(10)) in solo.machine.link.runtime_facts()


def test_a_policy_may_wait_for_a_tick() -> None:
    solo = resting([ONE], source=LATER, tick_interval=10 * SECOND)
    solo.clock(10)
    solo.advertise(tick=tai(10))
    (offer,) = solo.tell(m.Request())
    assert isinstance(offer, m.Offer)
    assert [record.hash for record in offer.records] == [ONE.hash]


def test_a_new_ticktai_is_no_fixed_point_yet() -> None:
    """What is advertised in a loop was evaluated at the TickTAI of the one before."""
    solo = resting(tick_interval=10 * SECOND)
    solo.clock(10)
    solo.advertise(tick=tai(10))
    solo.tell(m.Request())
    assert len(solo.rested) == 1
    solo.loop()
    assert len(solo.rested) == 2


def test_a_bounded_exchange_stays_at_start() -> None:
    solo = Solo(tick_interval=10 * SECOND)
    solo.open()
    solo.clock(20)
    solo.advertise(tick=tai(10))
    assert ("TickTAI", tai(0)) in solo.machine.link.runtime_facts()


def test_a_tick_that_is_not_valid_is_malformed() -> None:
    solo = Solo()
    solo.open()
    solo.tell(m.Offer(tick=tai(5)))
    assert solo.reason == "malformed-fact-block"


def test_a_clock_that_jumps_back_is_no_harm() -> None:
    solo = resting(tick_interval=10 * SECOND)
    assert solo.clock(5, offset=-1000) == []
    assert solo.machine.state is State.REST


# Epochs.


def test_d18a_a_new_operand_begins_a_new_epoch() -> None:
    solo = resting([ONE])
    (setup,) = solo.tell(e.OperandChanged(solo.own.module.id))
    assert isinstance(setup, m.Setup)
    offer = solo.open()
    assert [record.hash for record in offer.records] == [ONE.hash]
    assert solo.machine.link.epoch.before is None


def test_d18a_the_peer_is_answered_with_a_setup() -> None:
    solo = resting([ONE])
    setup, hello = solo.tell(solo.peer_setup())
    assert isinstance(setup, m.Setup)
    assert isinstance(hello, m.Hello)
    assert solo.shelf.get(ONE.hash), "what is stored stays stored"


def test_d18a_setup_wins_over_an_advertise_block_that_it_crosses() -> None:
    solo = resting()
    solo.tell(e.OperandChanged(solo.own.module.id))
    assert solo.tell(m.Offer()) == []
    assert solo.open() == m.Offer()


def test_d18a_a_machine_whose_offer_is_crossed_drops_its_loop() -> None:
    solo = resting()
    solo.shelf.add([ONE])
    assert solo.tell(e.StoreChanged(1))
    setup, hello = solo.tell(solo.peer_setup())
    assert isinstance(setup, m.Setup)
    assert isinstance(hello, m.Hello)


def test_only_one_block_can_cross() -> None:
    solo = resting()
    solo.tell(e.OperandChanged(solo.own.module.id))
    solo.tell(m.Offer(), m.Offer())
    assert solo.reason == "out-of-phase"


# Closing.


def test_an_open_exchange_is_finished_at_rest() -> None:
    solo = resting()
    solo.tell(e.Finish())
    assert solo.result is not None
    assert solo.result.converged


def test_it_ends_cleanly_when_the_peer_closes_at_rest() -> None:
    solo = resting()
    solo.tell(e.Disconnected(whole=True))
    assert solo.result is not None
    assert solo.result.converged


def test_a_close_at_a_boundary_is_clean_and_has_not_converged() -> None:
    """060: with the facts and records received up to that point."""
    solo = asking(ONE, TWO)
    solo.tell(m.Arrived(ONE), e.Disconnected(whole=True))
    assert solo.reason is None
    assert not solo.ended.converged
    assert solo.shelf.get(ONE.hash)


def test_a_break_in_the_middle_is_an_abort_and_keeps_what_was_valid() -> None:
    solo = asking(ONE, TWO)
    solo.tell(m.Arrived(ONE), e.Disconnected(whole=False))
    assert solo.reason == "disconnected"
    assert solo.shelf.get(ONE.hash)
    assert solo.ended.received_hashes == (ONE.hash,)


def test_a_cancelled_exchange_keeps_what_was_valid() -> None:
    solo = asking(ONE)
    solo.tell(m.Arrived(ONE), e.Cancel())
    assert solo.reason == "cancelled"
    assert solo.shelf.get(ONE.hash)


def test_after_the_end_nothing_matters() -> None:
    solo = asking(ONE)
    solo.tell(e.Cancel())
    assert solo.tell(m.Arrived(ONE), m.Offer(), e.Clock(10**18, 10**18)) == []


# Errors.


def test_every_row_of_the_error_table_has_a_name() -> None:
    rows = (
        "peer-verifier-mismatch exchange-plan-mismatch unsupported-record-format "
        "unsupported-advertisement-schema malformed-fact-block malformed-exchange-module "
        "exchange-plan-compilation-failure malformed-prepared-policy "
        "malformed-partition-summary advertisement-list-root-mismatch phase-timeout "
        "oversized-fact-block transfer-limit-exceeded unrequested-record"
    )
    assert set(rows.split()) <= set(REASONS)
    assert set(REASONS) >= LIMITS


@pytest.mark.parametrize("reason", sorted(e.COMPILE_REASONS))
def test_a_plan_that_cannot_be_made_aborts_by_its_name(reason: str) -> None:
    solo = Solo()
    solo.machine.handle(solo.peer_setup())
    solo.tell(e.NotCompiled(reason))
    assert solo.reason == reason


@pytest.mark.parametrize("reason", ["oversized-fact-block", "malformed-fact-block"])
def test_what_the_binding_cannot_read_aborts_by_its_name(reason: str) -> None:
    solo = Solo()
    solo.tell(e.Faulty(reason, "of the binding"))
    assert solo.reason == reason
    assert solo.ended.detail == "of the binding"


def test_an_evaluation_that_fails_is_terminal_and_has_one_name() -> None:
    solo = Solo()
    solo.machine.handle(solo.greet())
    solo.tell(e.NotEvaluated("too many rows"))
    assert solo.reason == "evaluation-failed"


def test_a_store_that_fails_ends_the_exchange() -> None:
    solo = asking(ONE)
    solo.shelf.broken_adds = 1
    solo.tell(m.Arrived(ONE), m.BatchEnd())
    assert solo.reason == "store-failed"


@pytest.mark.parametrize("message", [m.Request(), m.Ask(), m.BatchEnd(), m.NotAvailable(ONE.hash)])
def test_what_belongs_to_another_phase_aborts(message: e.FromPeer) -> None:
    solo = Solo()
    solo.open()
    solo.tell(message)
    assert solo.reason == "out-of-phase"


def test_a_silent_peer_times_out() -> None:
    solo = Solo()
    solo.clock(30)
    assert solo.result is None
    solo.clock(1)
    assert solo.reason == "phase-timeout"


def test_the_timeout_counts_from_the_last_byte() -> None:
    solo = Solo()
    solo.clock(25)
    solo.tell(e.Progress(10**6))
    solo.clock(25)
    assert solo.result is None


def test_d24a_after_30_seconds_a_peer_must_keep_a_rate() -> None:
    solo = Solo()
    for _ in range(3):
        solo.clock(10)
        solo.tell(e.Progress(100))
    assert solo.result is None
    solo.clock(10)
    assert solo.reason == "phase-timeout"


def test_rest_has_no_timeout() -> None:
    solo = resting(tick_interval=10**6 * SECOND)
    solo.clock(10**5)
    assert solo.machine.state is State.REST


def test_time_that_this_side_takes_is_not_the_peers() -> None:
    solo = Solo()
    solo.machine.handle(solo.peer_setup())
    solo.clock(100)
    assert solo.result is None


def test_the_result_has_the_fields_of_050() -> None:
    solo = Solo([TWO], claim=ALICE)
    solo.open(solo.peer_setup(origin=BOB))
    solo.loop([ONE], [ONE], [TWO.hash])
    solo.loop([ONE])
    solo.loop([ONE])
    assert solo.result is not None
    found = solo.result.json()
    assert found.pop("link_id") == solo.machine.link.epoch.link_id
    assert found.pop("exchange_plan_id").startswith("E.")
    assert found == {
        "peer_verifier": BOB,
        "received_hashes": [ONE.hash],
        "rejected_hashes": [],
        "not_available_hashes": [],
        "bytes_received": len(ONE.data),
        "bytes_sent": len(TWO.data),
        "cursor_updated": True,
        "converged": True,
        "loops": 3,
        "aborted": None,
    }
