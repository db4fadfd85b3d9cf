"""The canonical transcript of a plan, which both sides hash (040, D15), and its reader.

In: what the two sides agreed on. Out: text and the E. identifier. The reader takes
only what the writer writes: a transcript has one form, to the byte.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from lacec.canonical.identifiers import plan_id
from lacec.core.errors import PlanError
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import OPAQUE_LABEL, RUNTIME_FACTS
from lacec.plan.lowerings import LOWERINGS
from lacec.plan.operands import RequiredFields
from lacec.plan.origins import is_verifier_origin
from lacec.records import b64a
from lacec.syntax.fact import read_fact
from lacec.syntax.show import show_fact
from lacec.syntax.source import byte_length

PROFILE = "lace-040-exchange-plan-v1"


@dataclass(frozen=True, slots=True)
class Transcript:
    """The agreed parts of a plan; pairs are by operand index."""

    lowering: str
    facets: tuple[str, str]
    modules: tuple[str, str]
    origins: tuple[str, str]
    required: RequiredFields

    @property
    def text(self) -> str:
        """Lines by predicate name and then by bytes, the profile first; no LF at the end."""
        facts = sorted(self._facts(), key=lambda fact: (fact[0], show_fact(*fact).encode("utf-8")))
        return "\n".join(show_fact(*fact) for fact in (("ExchangePlanProfile", PROFILE), *facts))

    @property
    def id(self) -> str:
        return plan_id(self.text)

    def _facts(self) -> Iterator[tuple[str, ...]]:
        yield "ExchangePlanLowering", self.lowering
        for name, arity in RUNTIME_FACTS:
            yield "ExchangePlanRuntime", name, str(arity)
        for index in (0, 1):
            yield "ExchangePlanOperand", str(index), self.facets[index], self.modules[index]
            yield "ExchangePlanOperandOrigin", str(index), self.origins[index]
        if self.required.all:
            yield ("ExchangePlanRequireAllAdvertisedFields",)
        for name in self.required.names:
            yield "ExchangePlanRequireAdvertisedField", name


def read_transcript(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Transcript:
    """The transcript of canonical bytes; PlanError for any others."""
    if len(data) > limits.source_bytes:
        raise _malformed(f"it has {len(data)} bytes, over the limit of {limits.source_bytes}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} is not UTF-8") from None
    if "\r" in text or not unicodedata.is_normalized("NFC", text):
        raise _malformed("it is not NFC text with LF line endings")
    facts: dict[str, list[tuple[str, ...]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        fact = read_fact(line)
        if fact is None:
            raise _malformed(f"line {number} is not a fact")
        if max(map(byte_length, fact[1:]), default=0) > limits.value_bytes:
            raise _malformed(f"line {number} has a value over the limit value_bytes")
        facts.setdefault(fact[0], []).append(fact[1:])
    transcript = _assemble(facts)
    if transcript.text != text:
        raise _malformed("its lines are not those of a canonical transcript, each once and sorted")
    return transcript


def _assemble(facts: dict[str, list[tuple[str, ...]]]) -> Transcript:
    """What the facts say; whether they say it in the one way, the caller sees."""

    def one(name: str, values: int) -> tuple[str, ...]:
        rows = facts.get(name, [])
        if len(rows) != 1 or len(rows[0]) != values:
            raise _malformed(f"it does not have one {name} with {values} values")
        return rows[0]

    def each(name: str, values: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        rows = {row[0]: row for row in facts.get(name, []) if len(row) == values}
        if set(rows) != {"0", "1"}:
            raise _malformed(f"it does not have one {name} for each operand")
        return rows["0"], rows["1"]

    one("ExchangePlanProfile", 1)
    (lowering,) = one("ExchangePlanLowering", 1)
    if lowering not in LOWERINGS:
        raise _malformed("its lowering is not known here")
    operands = each("ExchangePlanOperand", 3)
    for _, facet, module in operands:
        _check(facet == Facet.SELECTOR.value, "an operand is no selector")
        _check(_is_lacegram_id(module), "a module is not named by an R. identifier")
    origins = each("ExchangePlanOperandOrigin", 2)
    for _, origin in origins:
        named = OPAQUE_LABEL.fullmatch(origin) or is_verifier_origin(origin)
        _check(bool(named), "an origin is neither a label nor a verifier")
    _check(origins[0][1] != origins[1][1], "the two origins are equal")
    names = [row[0] for row in facts.get("ExchangePlanRequireAdvertisedField", []) if row]
    every = "ExchangePlanRequireAllAdvertisedFields" in facts
    _check(not (names and every), "it requires all fields and names some")
    return Transcript(
        lowering,
        (operands[0][1], operands[1][1]),
        (operands[0][2], operands[1][2]),
        (origins[0][1], origins[1][1]),
        RequiredFields(tuple(sorted(set(names))), every),
    )


def _is_lacegram_id(text: str) -> bool:
    try:
        return text.startswith("R.") and len(b64a.decode(text[2:])) == 32
    except b64a.B64AError:
        return False


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _malformed(otherwise)


def _malformed(why: str) -> PlanError:
    return PlanError("malformed-transcript", f"this is no canonical plan transcript: {why}")
