"""The transcript: one form to the byte, an identity of what 040 names, a strict reader."""

import random

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import PlanError
from lacec.core.limits import Limits
from lacec.plan.exchange import make_plan
from lacec.plan.operands import RequiredFields
from lacec.plan.transcript import Transcript, read_transcript
from lacec.records import b64a
from tests.helpers import examples
from tests.plan.pairs import EVERYTHING, GROUP_X, operand, plan_of

IDS = (operand(0).module.id, operand(1, GROUP_X).module.id)
PLAIN = Transcript(
    "standard-v1", ("selector", "selector"), IDS, ("Opq_a", "Opq_b"), RequiredFields(("App",))
)


def test_a_transcript_has_its_lines_in_order() -> None:
    """040: sorted by predicate name, then by bytes, the profile first; D15: no LF at the end."""
    assert PLAIN.text.split("\n") == [
        "ExchangePlanProfile('lace-040-exchange-plan-v1')",
        "ExchangePlanLowering('standard-v1')",
        f"ExchangePlanOperand('0','selector','{IDS[0]}')",
        f"ExchangePlanOperand('1','selector','{IDS[1]}')",
        "ExchangePlanOperandOrigin('0','Opq_a')",
        "ExchangePlanOperandOrigin('1','Opq_b')",
        "ExchangePlanRequireAdvertisedField('App')",
        "ExchangePlanRuntime('ClockSkewSeconds','1')",
        "ExchangePlanRuntime('Here','1')",
        "ExchangePlanRuntime('Peer','1')",
        "ExchangePlanRuntime('StartTAI','1')",
        "ExchangePlanRuntime('TickTAI','1')",
        "ExchangePlanRuntime('Transport','1')",
        "ExchangePlanRuntime('TransportEncrypted','0')",
    ]


def test_the_identifier_is_the_digest_of_the_tagged_transcript() -> None:
    digest = blake3(b"lace-exchange-plan/v1" + PLAIN.text.encode()).digest()
    assert PLAIN.id == "E." + b64a.encode(digest)


def test_all_fields_stand_alone() -> None:
    """D15: when all fields are required, the single ones are left out."""
    text = f"{EVERYTHING}\nA(P) :- AdvertisedField(P,_,'App',_,_), AdvertisedField(P,_,_,_,_)."
    assert "ExchangePlanRequireAllAdvertisedFields()" in plan_of(text).transcript.split("\n")
    assert "RequireAdvertisedField" not in plan_of(text).transcript


def test_both_sides_compute_the_same_plan_in_either_order() -> None:
    zero, one = operand(0), operand(1, GROUP_X)
    assert make_plan([zero, one]) == make_plan([one, zero])
    assert make_plan([zero, one]).transcript == make_plan([one, zero]).transcript


def test_what_040_names_changes_the_identifier() -> None:
    rule = "\nA(P) :- AdvertisedField(P,_,'{}',_,_)."
    plans = [
        plan_of(),
        plan_of(GROUP_X),
        plan_of(EVERYTHING, GROUP_X),
        plan_of(EVERYTHING + rule.format("a")),
        plan_of(EVERYTHING + rule.format("b")),
        plan_of(lowering="encrypted-v1"),
        plan_of(lowering="proven-peer-v1"),
        plan_of(verifiers=("V.a", "V.b"), origins="verifier"),
        plan_of(verifiers=("V.b", "V.a"), origins="verifier"),
    ]
    assert len({plan.id for plan in plans}) == len(plans)
    changed = [
        PLAIN,
        Transcript("encrypted-v1", *_rest(PLAIN)),
        Transcript(PLAIN.lowering, PLAIN.facets, IDS[::-1], PLAIN.origins, PLAIN.required),
        Transcript(PLAIN.lowering, PLAIN.facets, IDS, ("Opq_b", "Opq_a"), PLAIN.required),
        Transcript(PLAIN.lowering, PLAIN.facets, IDS, PLAIN.origins, RequiredFields()),
    ]
    assert len({transcript.id for transcript in changed}) == len(changed)


def _rest(
    of: Transcript,
) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str], RequiredFields]:
    return of.facets, of.modules, of.origins, of.required


def test_what_040_excludes_does_not() -> None:
    """Comments, annotations and order are not of the module; exposure is not of the plan."""
    text = f'# hello\n#:json {{"why":"x"}}\n{GROUP_X}'
    assert plan_of(text).id == plan_of("\n".join(reversed(GROUP_X.split("\n")))).id
    assert plan_of(nonces=("a", None)).id == plan_of().id


@given(
    st.permutations(["Opq_a", "Opq_b", "V.it's", "V.\\"]),
    st.lists(st.sampled_from(["App", "it's", "\\", "é", "a,b", "')"]), unique=True),
    st.booleans(),
)
@examples(100)
def test_the_reader_reads_what_the_writer_writes(
    origins: list[str], names: list[str], every: bool
) -> None:
    required = RequiredFields(all=True) if every else RequiredFields(tuple(sorted(names)))
    written = Transcript("proven-peer-v1", PLAIN.facets, IDS, (origins[0], origins[1]), required)
    assert read_transcript(written.text.encode()) == written


def _swapped(text: str) -> str:
    lines = text.split("\n")
    lines[1], lines[2] = lines[2], lines[1]
    return "\n".join(lines)


LOWERING = "ExchangePlanLowering('standard-v1')"
WRONG = {
    "nothing": "",
    "a line feed at the end": PLAIN.text + "\n",
    "lines in another order": _swapped(PLAIN.text),
    "a line twice": PLAIN.text.replace(LOWERING, f"{LOWERING}\n{LOWERING}"),
    "a line missing": PLAIN.text.replace(f"{LOWERING}\n", ""),
    "a runtime fact missing": PLAIN.text.rpartition("\n")[0],
    "a line more": PLAIN.text + "\nExchangePlanWhatever('1')",
    "a comment": PLAIN.text + "\n# hello",
    "white space": PLAIN.text.replace("','", "', '"),
    "a carriage return": PLAIN.text.replace("'App'", "'A\rpp'"),
    "another escape": PLAIN.text.replace("'App'", "'A\\pp'"),
    "text that is not NFC": PLAIN.text.replace("'App'", "'e\u0301'"),
    "a lowering nobody knows": PLAIN.text.replace("standard-v1", "standard-v2"),
    "a profile nobody knows": PLAIN.text.replace("plan-v1", "plan-v2"),
    "a facet nobody knows": PLAIN.text.replace("selector", "expose"),
    "equal origins": PLAIN.text.replace("Opq_b", "Opq_a"),
    "a module by another name": PLAIN.text.replace(IDS[0], "R.x"),
    "a module by a hash that is too short": PLAIN.text.replace(IDS[0], "R.0000"),
    "an operand 2": PLAIN.text.replace("Operand('1'", "Operand('2'"),
    "an operand without origin": PLAIN.text.replace("ExchangePlanOperandOrigin('1','Opq_b')\n", ""),
    "all fields and some": PLAIN.text.replace(
        "ExchangePlanRuntime('Cl",
        "ExchangePlanRequireAllAdvertisedFields()\nExchangePlanRuntime('Cl",
    ),
    "an origin that is no label": PLAIN.text.replace("Opq_b", "Opq_!!"),
    "an empty origin": PLAIN.text.replace("Opq_a", ""),
    "an origin that is too long": PLAIN.text.replace("Opq_b", "x" * 5000),
    "a field name that is too long": PLAIN.text.replace("'App'", f"'{'A' * 1025}'"),
    "a field with no name": PLAIN.text.replace("Field('App')", "Field()"),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_reader_refuses_everything_else(what: str) -> None:
    assert WRONG[what] != PLAIN.text
    with pytest.raises(PlanError) as error:
        read_transcript(WRONG[what].encode("utf-8"))
    assert error.value.name == "malformed-transcript"


def test_the_reader_refuses_bytes_that_are_no_text_or_too_many() -> None:
    with pytest.raises(PlanError, match="byte 0 is not UTF-8"):
        read_transcript(b"\xff")
    with pytest.raises(PlanError, match="over the limit"):
        read_transcript(PLAIN.text.encode(), Limits(source_bytes=10))


def test_the_reader_stands_random_changes() -> None:
    """One byte changed, one dropped, one doubled: refused, or another plan."""
    data = PLAIN.text.encode()
    choose = random.Random(7)
    for _ in range(2000):
        at = choose.randrange(len(data))
        middle = choose.choice([b"", bytes([choose.randrange(256)]), data[at : at + 1] * 2])
        changed = data[:at] + middle + data[at + 1 :]
        if changed == data:
            continue
        try:
            found = read_transcript(changed)
        except PlanError:
            continue
        assert found.text.encode() == changed
        assert found.id != PLAIN.id
