"""Origins: the digest of D13, the label by the first difference, verifiers as metadata."""

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import PlanError
from lacec.plan.origins import Party, assign_origins, opaque_digest, opaque_labels
from lacec.records import b64a
from tests.helpers import examples
from tests.plan.pairs import GROUP_X, operand, plan_of


def test_the_digest_is_that_of_d13() -> None:
    one = operand(0)
    digest = one.module.id[2:]
    lines = (
        "OriginRole('0')\nOriginNonce('it\\'s')\nOriginVerifier('V.alice.H3')\n"
        f"OriginOperand('selector','{one.module.id}','{digest}')"
    )
    expected = b64a.encode(blake3(b"lace-opaque-origin/v1" + lines.encode()).digest())
    assert opaque_digest(one, "V.alice.H3", "it's") == expected
    bare = f"OriginRole('0')\nOriginOperand('selector','{one.module.id}','{digest}')"
    expected = b64a.encode(blake3(b"lace-opaque-origin/v1" + bare.encode()).digest())
    assert opaque_digest(one, None, None) == expected


def test_the_label_is_the_first_character_that_differs() -> None:
    assert opaque_labels("abcX", "abdX") == ("Opq_c", "Opq_d")
    assert opaque_labels("~bc", "0bc") == ("Opq_~", "Opq_0")


def test_equal_digests_abort() -> None:
    with pytest.raises(PlanError, match="equal"):
        opaque_labels("abc", "abc")


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
@examples(200)
def test_labels_differ_and_belong_to_their_side(one: bytes, other: bytes) -> None:
    a, b = b64a.encode(one), b64a.encode(other)
    if a == b:
        return
    labels = opaque_labels(a, b)
    assert labels[0] != labels[1]
    assert opaque_labels(b, a) == labels[::-1]


def test_one_module_on_both_sides_has_two_origins() -> None:
    """040: identical text from different origins is not the same; the role tells them apart."""
    plan = plan_of()
    assert plan.operands[0].module.id == plan.operands[1].module.id
    assert plan.origins[0].text != plan.origins[1].text


def test_a_verifier_is_bound_to_the_label_and_is_the_viewer() -> None:
    """D14."""
    plan = plan_of(verifiers=("V.alice.H3", None))
    alice, nobody = plan.origins
    assert alice.text == alice.label
    assert alice.label.startswith("Opq_")
    assert (alice.viewer, nobody.viewer) == ("V.alice.H3", nobody.label)


def test_origins_may_be_verifiers_by_option() -> None:
    plan = plan_of(verifiers=("V.alice.H3", None), origins="verifier")
    assert plan.origins[0].text == "V.alice.H3"
    assert plan.origins[1].text == plan.origins[1].label


def test_equal_verifier_origins_abort() -> None:
    with pytest.raises(PlanError, match=r"both sides have the origin V\.me"):
        plan_of(verifiers=("V.me", "V.me"), origins="verifier")
    assert plan_of(verifiers=("V.me", "V.me")).id


def test_a_nonce_counts_only_when_both_sides_have_one() -> None:
    """D13: so that plans are stable from one exchange to the next."""
    pair = (operand(0), operand(1, GROUP_X))
    plain = assign_origins(pair, (Party(), Party()))
    assert assign_origins(pair, (Party(nonce="a"), Party())) == plain
    found = {assign_origins(pair, (Party(nonce=str(n)), Party(nonce="b"))) for n in range(20)}
    assert len(found) > 1


@pytest.mark.parametrize(
    "text", ["", "x" * 257, "a\nb", "a\rb", "e\u0301", "\ud800", "Opq_a"], ids=repr
)
def test_a_verifier_that_could_be_no_label_of_a_source_is_refused(text: str) -> None:
    with pytest.raises(PlanError) as error:
        Party(verifier=text)
    assert error.value.name == "bad-verifier"
