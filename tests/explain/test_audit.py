"""The audit: what a peer observes, what local rules declassify, and that it misses nothing."""

import pytest
from hypothesis import HealthCheck, given, reject, settings

from lacec.explain.audit import Audit, Count, Totals, audit_side
from lacec.plan.expose import LocalPolicy, expose_all, expose_selected
from lacec.syntax.show import show_atom
from lacec.vm.sources import load, source_of
from tests.helpers import examples
from tests.plan.interference import observe, program_of
from tests.plan.pairs import ADVERTISED, EVERYTHING, GROUP_X, exposing, plan_of
from tests.plan.strategies import Pair, open_pairs

MEMBERS = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X'), Field(P,'Signed-By',_,V), Member(V).
SelectAdvertised(P,S) :- Advertised(P,S), not Have(P).
Member(V) :- Field(Q,'Group',_,'members'), Field(Q,'Name',_,V).
"""
NOSY = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X'), not Bad(P).
SelectAdvertised(P,S) :- Advertised(P,S), Cardinality(Field(_,'Group',_,G),'<','3'), Peer(G).
Bad(P) :- RecordLink(P,'+Link',_,'see',_).
Unused(P) :- BlobHash(P,_).
"""
FACTS: dict[str, list[tuple[str, ...]]] = {
    "Have": [("x1",), ("x2",), ("y1",), ("m1",)],
    "Field": [
        ("x1", "Group", "0", "X"),
        ("x1", "Signed-By", "0", "V.a"),
        ("x2", "Group", "0", "X"),
        ("y1", "Group", "0", "Y"),
        ("m1", "Group", "0", "members"),
        ("m1", "Name", "0", "V.a"),
    ],
    "RecordLink": [("x1", "+Link", "0", "see", "y1"), ("y1", "+Link", "0", "see", "x1")],
}
ONLY_X = LocalPolicy((exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'X')."),))


def audited(
    own: str = EVERYTHING, peer: str = EVERYTHING, policy: LocalPolicy = ONLY_X, facts: bool = True
) -> Audit:
    database = load(source_of(FACTS)) if facts else None
    return audit_side(plan_of(own, peer).side(0, policy), database)


def declassified(audit: Audit) -> list[str]:
    return [
        f"{each.read.how} {show_atom(each.read.atom)}: {' '.join(p.name for p in each.path)}"
        for each in audit.declassifications
    ]


# What the peer observes.


def test_each_record_atom_of_the_peer_is_listed_with_what_it_sees() -> None:
    found = {
        (each.read.how, show_atom(each.read.atom)): each for each in audited(peer=NOSY).observations
    }
    assert set(found) == {
        ("uses", "Have(P)"),
        ("uses", "Field(P,'Group',_,'X')"),
        ("counts", "Field(_,'Group',_,G)"),
        ("uses", "RecordLink(P,'+Link',_,'see',_)"),
        ("uses", "BlobHash(P,_)"),
    }
    assert found["uses", "Have(P)"].visible == Count(2, 2)
    assert found["counts", "Field(_,'Group',_,G)"].visible == Count(2, 2)
    link = found["uses", "RecordLink(P,'+Link',_,'see',_)"]
    assert link.visible == Count(1, 1)
    assert (link.read.field, link.read.constants) == ("+Link", ("+Link", "see"))
    assert link.used
    assert not found["uses", "BlobHash(P,_)"].used


def test_what_it_reads_of_the_exchange_is_public() -> None:
    assert [predicate.name for predicate in audited(peer=NOSY).public] == ["Advertised", "Peer"]


def test_without_facts_there_are_no_numbers() -> None:
    audit = audited(MEMBERS, NOSY, facts=False)
    assert audit.totals is None
    assert {each.visible for each in audit.observations} == {None}
    assert {each.private for each in audit.declassifications} == {None}


def test_totals() -> None:
    """What is selected and not exposed, the peer can have by naming it."""
    assert audited().totals == Totals(4, 2, 4, 2)
    assert audited(GROUP_X).totals == Totals(4, 2, 2, 0)
    assert audited(policy=LocalPolicy()).totals == Totals(4, 0, 4, 4)
    assert audited(policy=LocalPolicy(trust_peer=True)).totals == Totals(4, 4, 4, 0)


def test_what_is_selected_and_not_stored_is_no_record() -> None:
    """Hashes of an own operand's rules, more than there was room for among the facts' ids."""
    names = "\n".join(f"SelectHave('P.{n}') :- true." for n in range(400))
    own = f"SelectHave('y1') :- true.\n{names}\n{ADVERTISED}"
    assert audited(own).totals == Totals(4, 2, 1, 1)
    assert audited(own, policy=LocalPolicy(trust_peer=True)).totals == Totals(4, 4, 1, 0)


def test_a_variable_that_stands_twice_is_counted_as_one_value() -> None:
    peer = f"SelectHave(P) :- Field(P,X,_,X), RecordLink(P,_,_,_,P).\n{ADVERTISED}"
    facts: dict[str, list[tuple[str, ...]]] = {
        "Have": [("a",), ("b",)],
        "Field": [("a", "k", "0", "k"), ("b", "k", "0", "v")],
        "RecordLink": [("a", "k", "0", "see", "b")],
    }
    side = plan_of(EVERYTHING, peer).side(0, LocalPolicy((expose_all(),)))
    found = audit_side(side, load(source_of(facts))).observations
    assert [each.visible for each in found] == [Count(1, 1), Count(0, 0)]


# What local rules declassify.


def test_a_helper_over_other_records_with_its_path() -> None:
    have = "o0_Member o0_SelectHave MergedSelectHave MaySend"
    audit = audited(MEMBERS)
    assert declassified(audit) == [
        f"uses Field(Q,'Group',_,'members'): Field {have}",
        f"uses Field(Q,'Name',_,V): Field {have}",
        "negates Have(P): Have o0_SelectAdvertised MergedSelectAdvertised MayRequest",
    ]
    assert [each.private for each in audit.declassifications] == [
        Count(1, 1),
        Count(1, 1),
        Count(2, 2),
    ]
    assert audit.declassifications[2].about == "the advertised record"


def test_what_is_said_of_the_selected_record_itself_is_none() -> None:
    good = "Good(Q,V) :- Field(Q,'Signed-By',_,V), Have(Q)."
    own = f"SelectHave(P) :- Good(P,_).\n{ADVERTISED}\n{good}"
    assert declassified(audited(own)) == []
    assert declassified(audited(f"SelectHave('x1') :- Have('x1').\n{ADVERTISED}")) == []


def test_a_helper_that_loses_the_record_declassifies() -> None:
    own = f"SelectHave(P) :- Have(P), Good(Q,V).\n{ADVERTISED}\nGood(Q,V) :- Field(Q,_,_,V)."
    assert declassified(audited(own)) == [
        "uses Field(Q,_,_,V): Field o0_Good o0_SelectHave MergedSelectHave MaySend"
    ]


SECRET = f"SelectHave(P) :- Have(P), Field(P,'Secret',_,'yes').\n{ADVERTISED}"


@pytest.mark.parametrize(
    "peer",
    [
        "SelectHave('r9') :- true.",
        "SelectHave(P) :- Advertised(P,_).",
        "SelectHave(P) :- Have(P).\nSelectHave(P) :- Peer(P), not Have(P).",
        "SelectHave(P) :- RecordLink(_,_,_,_,P).",
        "SelectHave(P) :- N(P).\nN(P) :- Have(P).\nN(Q) :- N(P), RecordLink(P,_,_,_,Q).",
    ],
)
def test_what_is_in_a_record_that_the_peer_names(peer: str) -> None:
    """020: known-hash possession is intrinsic, the fields of the record are not."""
    audit = audited(SECRET, f"{peer}\n{ADVERTISED}", LocalPolicy())
    have = "o0_SelectHave MergedSelectHave MaySend"
    assert declassified(audit) == [
        f"uses Have(P): Have {have}",
        f"uses Field(P,'Secret',_,'yes'): Field {have}",
    ]
    assert {each.about for each in audit.declassifications} == {"a record that the peer names"}


@pytest.mark.parametrize(
    "peer",
    [
        "SelectHave('r9') :- Have('r9').",
        "SelectHave(P) :- Advertised(P,_), BlobHash(P,_).",
        "SelectHave(P) :- N(_,P).\nN(Q,P) :- Field(P,_,_,Q).\nN(Q,P) :- N(P,Q), N(Q,P).",
    ],
)
def test_a_peer_that_selects_what_it_can_query_names_nothing(peer: str) -> None:
    assert declassified(audited(SECRET, f"{peer}\n{ADVERTISED}")) == []


def test_one_atom_over_the_advertised_record_and_over_others() -> None:
    both = "SelectAdvertised(P,S) :- Advertised(P,S), H(P), Advertised(Q,S), H(Q), P != Q."
    audit = audited(f"SelectHave(P) :- Have(P).\n{both}\nH(X) :- Field(X,'G',_,'1').")
    assert [each.about for each in audit.declassifications] == [
        "the advertised record",
        "other records",
    ]


def test_recursion_negation_and_counts() -> None:
    own = (
        "SelectHave(P) :- Have(P), Reach(P), Cardinality(Field(_,'Group',_,'Y'),'<','9').\n"
        f"{ADVERTISED}\n"
        "Reach(P) :- Field(P,'Group',_,'X').\n"
        "Reach(Q) :- Reach(P), RecordLink(P,_,_,_,Q), not BlobHash(P,_).\n"
    )
    have = "o0_SelectHave MergedSelectHave MaySend"
    assert declassified(audited(own)) == [
        f"counts Field(_,'Group',_,'Y'): Field {have}",
        f"uses RecordLink(P,_,_,_,Q): RecordLink o0_Reach {have}",
        f"negates BlobHash(P,_): BlobHash o0_Reach {have}",
        f"uses Field(P,'Group',_,'X'): Field o0_Reach o0_Reach {have}",
    ]


def test_an_exposure_that_looks_at_other_records() -> None:
    rule = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(_,'Name',_,V)."
    audit = audited(GROUP_X, policy=LocalPolicy((expose_all(), exposing(rule))))
    assert declassified(audit) == [
        "uses Field(_,'Name',_,V): Field m2_AllowQueryRecord CanQueryRecord"
    ]


def test_a_narrowing_module_that_looks_at_other_records() -> None:
    """D16b: an audit shows it."""
    rule = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(_,'App',_,_).")
    audit = audited(EVERYTHING, policy=LocalPolicy((expose_all(),), narrow=(rule,)))
    assert declassified(audit) == [
        "uses Field(_,'App',_,_): "
        "Field m2_AllowQueryRecord CanQueryOwn o0_SelectHave MergedSelectHave MaySend"
    ]


NARROW = exposing(
    "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Secret',_,'yes').\n"
    "AllowQueryRecord(V,P) :- _Viewer(V), Have(P), Field(Q,'Flag',_,'on')."
)


def narrowed(own: str) -> list[tuple[str, str]]:
    """What the narrowing module declassifies: of which records, and how."""
    audit = audited(own, policy=LocalPolicy((expose_all(),), narrow=(NARROW,)))
    return [
        (line, each.about)
        for line, each in zip(declassified(audit), audit.declassifications, strict=True)
        if each.read.rule.what == "M2"
    ]


def test_narrowing_leads_where_the_own_operand_reads_records() -> None:
    """D16b, 040: to MayRequest here, and not to MaySend."""
    own = (
        "SelectHave(P) :- Advertised(P,_).\nSelectAdvertised(P,S) :- Advertised(P,S), not Have(P)."
    )
    path = "m2_AllowQueryRecord CanQueryOwn o0_SelectAdvertised MergedSelectAdvertised MayRequest"
    assert narrowed(own) == [
        (f"uses Field(P,'Secret',_,'yes'): Field {path}", "the advertised record"),
        (f"uses Have(P): Have {path}", "the advertised record"),
        (f"uses Field(Q,'Flag',_,'on'): Field {path}", "other records"),
    ]


def test_narrowing_of_other_records() -> None:
    """What decides whether a helper sees a record is about that record, not the selected one."""
    own = f"SelectHave(P) :- Have(P), Any().\n{ADVERTISED}\nAny() :- Field(Q,'App',_,_)."
    path = "o0_SelectHave MergedSelectHave MaySend"
    gate = "m2_AllowQueryRecord CanQueryOwn"
    assert narrowed(own) == [
        (f"uses Field(Q,'Flag',_,'on'): Field {gate} {path}", "other records"),
        (f"uses Field(P,'Secret',_,'yes'): Field {gate} o0_Any {path}", "other records"),
        (f"uses Have(P): Have {gate} o0_Any {path}", "other records"),
    ]


def test_narrowing_leads_nowhere_when_the_own_operand_reads_no_record() -> None:
    assert narrowed(f"SelectHave(P) :- Advertised(P,_).\n{ADVERTISED}") == []


def test_what_is_exposed_or_narrowed_away_is_not_private() -> None:
    everything = audited(MEMBERS, policy=LocalPolicy((expose_all(),)))
    assert {each.private for each in everything.declassifications} == {Count(0, 0)}
    narrowed = audited(MEMBERS, policy=LocalPolicy(ONLY_X.exposures, narrow=ONLY_X.exposures))
    own = [each for each in narrowed.declassifications if each.read.rule.what == "O0"]
    assert {each.private for each in own} == {Count(0, 0)}


def test_a_trusted_peer_leaves_nothing_to_declassify() -> None:
    assert declassified(audited(MEMBERS, policy=LocalPolicy(trust_peer=True))) == []


def test_selected_exposes_by_a_copy_of_the_operand() -> None:
    plan = plan_of(MEMBERS)
    side = plan.side(0, LocalPolicy((expose_selected(plan.operands[0]),)))
    paths = {each.path[-1].name for each in audit_side(side).declassifications}
    assert paths == {"MaySend", "MayRequest", "CanQueryRecord"}


# Most pairs have flows, and say nothing here.
@given(open_pairs())
@settings(examples(200), suppress_health_check=list(HealthCheck))
def test_what_the_audit_does_not_list_does_not_leak(pair: Pair) -> None:
    """Two stores that the view cannot tell apart: an own operand without flows shows nothing."""
    program = program_of(pair)
    if audit_side(program).declassifications:
        reject()
    assert observe(pair, program, pair.one) == observe(pair, program, pair.other)
