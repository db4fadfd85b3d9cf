"""The limits of D12, all configurable: those a lacegram meets first, then those of evaluation.

A line and a source have a largest size too, so that hostile text is refused
before memory is spent on it.
"""

from dataclasses import dataclass, fields, replace

from lacec.core.origins import Origin


@dataclass(frozen=True, slots=True)
class Limits:
    rules: int = 4096
    selector_rules: int = 256
    literals: int = 256
    peer_literals: int = 64
    arity: int = 8
    value_bytes: int = 1024
    line_bytes: int = 2**20
    source_bytes: int = 2**24
    diagnostics: int = 10_000
    base_facts: int = 2**24
    runtime_facts: int = 2**24
    derived_facts: int = 2**22
    iterations: int = 1000
    intermediate_rows: int = 2**26
    peer_intermediate_rows: int = 2**24
    instructions: int = 2**18
    peer_instructions: int = 2**15
    seconds: int = 30

    def of(self, origin: Origin) -> "Limits":
        """What a module from there is held to: a peer's has fewer and shorter rules (D12)."""
        if origin == Origin.LOCAL:
            return self
        return replace(
            self,
            rules=min(self.rules, self.selector_rules),
            literals=min(self.literals, self.peer_literals),
        )

    def rows(self, origin: Origin) -> tuple[str, int]:
        """The limit on the rows of a join for rules from there, by its name (D12)."""
        if origin == Origin.LOCAL or self.intermediate_rows < self.peer_intermediate_rows:
            return "intermediate_rows", self.intermediate_rows
        return "peer_intermediate_rows", self.peer_intermediate_rows

    def code(self, origin: Origin) -> tuple[str, int]:
        """The limit on the instructions that rules from there become, by its name."""
        if origin == Origin.LOCAL or self.instructions < self.peer_instructions:
            return "instructions", self.instructions
        return "peer_instructions", self.peer_instructions


DEFAULT_LIMITS = Limits()
LIMIT_NAMES = tuple(field.name for field in fields(Limits))
