"""Two operands into an exchange plan (040): origins, transcript, identity, provenance.

In: the operands in either order, and what setup knows of the two sides. Out: the plan,
which is the same on both sides to the byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lacec.core.errors import PlanError
from lacec.core.origins import OriginMode
from lacec.plan.expose import NO_POLICY, LocalPolicy
from lacec.plan.lower import LoweredRule, SideProgram, generated_rules, lower, operand_rules
from lacec.plan.lowerings import LOWERINGS, STANDARD
from lacec.plan.operands import Operand, RequiredFields, required_fields
from lacec.plan.origins import AssignedOrigin, Party, assign_origins
from lacec.plan.provenance import provenance
from lacec.plan.transcript import Transcript

NOBODY = Party()


@dataclass(frozen=True, slots=True)
class ExchangePlan:
    """An agreed plan. What belongs to a side comes by operand index."""

    id: str
    transcript: str = field(repr=False)
    operands: tuple[Operand, Operand]
    origins: tuple[AssignedOrigin, AssignedOrigin]
    lowering: str
    required: RequiredFields

    @property
    def rules(self) -> tuple[LoweredRule, ...]:
        """The rules that both sides run: operands in their scopes, intersection, lowering."""
        scoped = [
            rule
            for operand, origin in zip(self.operands, self.origins, strict=True)
            for rule in operand_rules(operand, origin)
        ]
        return (*scoped, *generated_rules(self.lowering))

    @property
    def provenance(self) -> tuple[str, ...]:
        return provenance(self.rules)

    def operand(self, side: int) -> Operand:
        """The operand that a side brought."""
        if side not in (0, 1):
            raise PlanError("operand-index", f"a side is 0 or 1, not {side}")
        return self.operands[side]

    def side(self, index: int, policy: LocalPolicy = NO_POLICY) -> SideProgram:
        """What the side that brought operand `index` runs, under its local policy."""
        self.operand(index)
        return lower(self.operands, self.origins, self.lowering, index, policy)


def make_plan(
    operands: Sequence[Operand],
    parties: tuple[Party, Party] = (NOBODY, NOBODY),
    origins: OriginMode = OriginMode.OPAQUE,
    lowering: str = STANDARD,
) -> ExchangePlan:
    """The plan of two operands; `parties` are by operand index."""
    if len(operands) != 2 or {operand.index for operand in operands} != {0, 1}:
        raise PlanError("operand-index", "a plan takes operand 0 and operand 1")
    if lowering not in LOWERINGS:
        known = ", ".join(LOWERINGS)
        raise PlanError("unknown-lowering", f"there is no lowering {lowering!r}, only {known}")
    one, other = sorted(operands, key=lambda operand: operand.index)
    pair = (one, other)
    assigned = assign_origins(pair, parties, origins)
    required = required_fields(pair)
    transcript = Transcript(
        lowering,
        (one.facet, other.facet),
        (one.module.id, other.module.id),
        (assigned[0].text, assigned[1].text),
        required,
    )
    text = transcript.text
    return ExchangePlan(transcript.id, text, pair, assigned, lowering, required)
