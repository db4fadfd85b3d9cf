"""Operands: what a peer sends is canonical already, and small; an author's file is made so."""

import pytest

from lacec.core.errors import CompileError, PlanError
from lacec.core.limits import Limits
from lacec.plan.operands import Operand, RequiredFields, peer_operand, required_fields
from tests.helpers import compiled
from tests.plan.pairs import ADVERTISED, EVERYTHING, HAVE, operand

CANONICAL = f"{ADVERTISED}\n{HAVE}".encode()


def test_the_file_of_an_author_is_made_canonical() -> None:
    text = "# mine\n SelectHave( P ):-Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S)."
    assert operand(0, text).module.canonical.encode() == CANONICAL
    assert operand(0, text).module.id == operand(1).module.id


def test_canonical_bytes_of_a_peer_are_its_operand() -> None:
    found = peer_operand(1, CANONICAL)
    assert (found.index, found.facet) == (1, "selector")
    assert found.module.id == operand(1).module.id


@pytest.mark.parametrize(
    ("data", "line"),
    [
        pytest.param(CANONICAL + b"\n", 3, id="a line feed at the end"),
        pytest.param(f"{HAVE}\n{ADVERTISED}".encode(), 1, id="not sorted"),
        pytest.param(CANONICAL + b"\n" + HAVE.encode(), 3, id="a rule twice"),
        pytest.param(b"# hello\n" + CANONICAL, 1, id="a comment"),
        pytest.param(CANONICAL.replace(b":- H", b":-  H"), 2, id="white space"),
        pytest.param(b'#:json {"a":1}\n' + CANONICAL, 1, id="an annotation"),
        pytest.param(CANONICAL.replace(b"\n", b"\n\n"), 2, id="a blank line"),
    ],
)
def test_other_bytes_of_a_peer_are_refused(data: bytes, line: int) -> None:
    """060: it does not canonicalise what arrives."""
    with pytest.raises(PlanError, match=f"not canonical text: line {line}$") as error:
        peer_operand(1, data)
    assert error.value.name == "not-canonical"


def test_a_peer_has_fewer_rules() -> None:
    """D12: 256 canonical rules."""
    more = "\n".join(f"Helper{n}(P) :- Have(P)." for n in range(255))
    data = "\n".join(sorted(f"{EVERYTHING}\n{more}".split("\n"))).encode()
    assert len(operand(0, data.decode()).module.rules) == 257
    with pytest.raises(CompileError) as error:
        peer_operand(0, data)
    assert [d.name for d in error.value.diagnostics] == ["too-many-rules"]
    assert peer_operand(0, data, Limits(selector_rules=257)).index == 0
    without_one = data.replace(b"Helper0(P) :- Have(P).\n", b"")
    assert len(peer_operand(0, without_one).module.rules) == 256


def test_an_operand_is_a_selector_with_an_index() -> None:
    with pytest.raises(PlanError) as error:
        Operand(2, operand(0).module)
    assert error.value.name == "operand-index"
    with pytest.raises(PlanError) as error:
        Operand(0, compiled("A(P) :- Have(P)."))
    assert error.value.name == "operand-facet"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("A(P) :- AdvertisedField(P,_,'Group',_,_).", RequiredFields(("Group",))),
        ("A(P) :- Have(P), not AdvertisedField(P,_,'App',_,_).", RequiredFields(("App",))),
        (
            "A(P) :- Have(P), Cardinality(AdvertisedField(P,_,'TAI',_,_),'>','0').",
            RequiredFields(("TAI",)),
        ),
        ("A(P) :- AdvertisedField(P,_,N,_,_), N != 'x'.", RequiredFields(all=True)),
        ("A(P) :- AdvertisedField(P,_,_,_,_).", RequiredFields(all=True)),
        ("A(P) :- AdvertisedField(P,'Group').", RequiredFields()),
        ("A(P) :- Field(P,'Group',_,_).", RequiredFields()),
    ],
)
def test_any_reference_to_an_advertised_field_counts(rule: str, expected: RequiredFields) -> None:
    """D15: in negated and counted atoms, and in rules that nothing uses."""
    assert required_fields([operand(0, f"{EVERYTHING}\n{rule}"), operand(1)]) == expected


def test_the_fields_of_both_operands_are_required_in_order() -> None:
    rule = "A(P) :- AdvertisedField(P,_,'{}',_,_)."
    pair = [operand(n, f"{EVERYTHING}\n{rule.format(name)}") for n, name in enumerate("ba")]
    assert required_fields(pair).names == ("a", "b")
    all_of = operand(1, f"{EVERYTHING}\nA(P) :- AdvertisedField(P,_,_,_,_).")
    assert required_fields([pair[0], all_of]) == RequiredFields(all=True)
