"""The limits of D12 that a lacegram meets before it is evaluated. All configurable.

Two are of our own making: a line and a source have a largest size, so that
hostile text is refused before memory is spent on it.
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


DEFAULT_LIMITS = Limits()
LIMIT_NAMES = tuple(field.name for field in fields(Limits))
