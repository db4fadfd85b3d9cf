"""Selector operands (040): what each side brings to a plan.

In: an author's sources, which are made canonical, or bytes from a peer, which must be
canonical already. Out: an operand, or every diagnostic of what is wrong with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lacec.canonical.module import Module
from lacec.core.errors import PlanError
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import Origin
from lacec.core.predicates import Predicate
from lacec.pipeline import Input, compile_module
from lacec.syntax.ast import Constant, body_atoms

ADVERTISED_FIELD = Predicate("AdvertisedField", 5)
_NAME = 2  # where AdvertisedField has the name of the field


@dataclass(frozen=True, slots=True)
class Operand:
    """One module and its place in the plan: 0 is the side that connects, 1 the other."""

    index: int
    module: Module = field(repr=False)

    def __post_init__(self) -> None:
        if self.index not in (0, 1):
            raise PlanError("operand-index", f"an operand has index 0 or 1, not {self.index}")
        if self.module.facet is not Facet.SELECTOR:
            raise PlanError(
                "operand-facet", f"operand {self.index} is no selector: {self.module.facet.value}"
            )

    @property
    def facet(self) -> str:
        return self.module.facet.value


def author_operand(
    index: int, sources: Sequence[Input], limits: Limits = DEFAULT_LIMITS
) -> Operand:
    """The operand of a person's files; CompileError with every diagnostic."""
    return Operand(index, compile_module(sources, Facet.SELECTOR, limits))


def peer_operand(
    index: int, data: bytes, limits: Limits = DEFAULT_LIMITS, name: str = "<peer>"
) -> Operand:
    """The operand whose bytes a peer sent: canonical text, within a peer's limits (D12)."""
    module = compile_module([(name, data)], Facet.SELECTOR, limits.of(Origin.PEER))
    canonical = module.canonical.encode("utf-8")
    if canonical != data:
        line = _first_difference(data, canonical)
        raise PlanError("not-canonical", f"the operand is not canonical text: line {line}")
    return Operand(index, module)


def _first_difference(data: bytes, canonical: bytes) -> int:
    given, wanted = data.split(b"\n"), canonical.split(b"\n")
    pairs = zip(given, wanted, strict=False)
    return next((n for n, (a, b) in enumerate(pairs, 1) if a != b), len(wanted) + 1)


@dataclass(frozen=True, slots=True)
class RequiredFields:
    """The advertised fields that operands read: some names, or all fields there are (D15)."""

    names: tuple[str, ...] = ()
    all: bool = False

    def __post_init__(self) -> None:
        if self.names and self.all:
            raise ValueError("all fields are required, so none is named")


def required_fields(operands: Iterable[Operand]) -> RequiredFields:
    """Any reference counts: positive, negated, counted, and in rules that nothing uses."""
    names: set[str] = set()
    for operand in operands:
        for rule in operand.module.rules:
            for atom in body_atoms(rule.node):
                if atom.predicate != ADVERTISED_FIELD:
                    continue
                name = atom.terms[_NAME]
                if not isinstance(name, Constant):
                    return RequiredFields(all=True)
                names.add(name.value)
    return RequiredFields(tuple(sorted(names)))
