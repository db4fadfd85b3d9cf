"""What a test file says, as values: the policy, what is given, what must come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lacec.core.facets import Facet

How = Literal["is", "has", "lacks"]
# Of a side, what is expected beside predicates by their names.
OF_A_SIDE = ("selected", "sent", "requested", "queryable")
# Of an exchange.
OF_AN_EXCHANGE = ("to_left", "to_right")


@dataclass(frozen=True)
class Expected:
    """What there is exactly (`is`), among others (`has`), or must not be (`lacks`)."""

    how: How
    what: str
    rows: tuple[tuple[str, ...], ...]
    line: int


@dataclass(frozen=True)
class GivenFacts:
    """Fact lines of a test file, and the line on which the first of them stands."""

    text: str
    line: int


@dataclass(frozen=True)
class RecordSpec:
    """A record to be made. What begins with `$` names another record, or a key."""

    name: str
    line: int
    data: str = ""
    group: str | None = None
    app: str | None = None
    path: str | None = None
    tai: str = "1767225637:000000000"  # 2026-01-01T00:00:00Z
    signed_by: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """One evaluation: of the policy alone, or of one side of a plan where there is a peer."""

    name: str
    line: int
    facts: tuple[GivenFacts, ...] = ()
    fact_files: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    record_files: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    source: str | None = None
    runtime: tuple[tuple[str, tuple[str, ...]], ...] = ()
    peer: str | None = None
    side: int = 0
    expose: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    trust_peer: bool = False
    viewer: str | None = None
    expected: tuple[Expected, ...] = ()


@dataclass(frozen=True)
class PartySpec:
    """One side of an exchange."""

    policy: str | None = None
    expose: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    record_files: tuple[str, ...] = ()
    key: str | None = None


@dataclass(frozen=True)
class ExchangeCase:
    """An exchange of two stores, and what it must move."""

    name: str
    line: int
    left: PartySpec
    right: PartySpec
    at: str | None = None
    expected: tuple[Expected, ...] = ()


@dataclass(frozen=True)
class TestFile:
    """Everything a file says. Files in it are as seen from here, or `std:NAME`."""

    __test__ = False  # this is no test of ours

    name: str
    policy: str
    linked: tuple[str, ...] | None = None
    facet: Facet | None = None
    keys: tuple[str, ...] = ()
    records: Mapping[str, RecordSpec] = field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    exchanges: tuple[ExchangeCase, ...] = ()

    def all_keys(self) -> set[str]:
        """Keys by their names: those that are listed, that sign a record, that a side has."""
        signers = (spec.signed_by for spec in self.records.values())
        parties = (side.key for each in self.exchanges for side in (each.left, each.right))
        return {name for name in (*self.keys, *signers, *parties) if name is not None}
