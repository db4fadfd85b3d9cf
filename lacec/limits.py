"""The limits of D12, all configurable: those a lacegram meets first, then those of evaluation.

A line and a source have a largest size too, so that hostile text is refused
before memory is spent on it.
"""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    rules: int = 4096
    selector_rules: int = 256
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
    seconds: int = 30


DEFAULT_LIMITS = Limits()
LIMIT_NAMES = tuple(field.name for field in fields(Limits))
