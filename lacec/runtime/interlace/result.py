"""Interlace-Result (050): what an exchange came to on one side."""

from dataclasses import dataclass, field
from typing import Any

from lacec.core.errors import LimitError


@dataclass(frozen=True, slots=True)
class Result:
    link_id: str | None = None
    exchange_plan_id: str | None = None
    peer_verifier: str | None = None
    received_hashes: tuple[str, ...] = ()
    rejected_hashes: tuple[str, ...] = ()
    not_available_hashes: tuple[str, ...] = ()
    bytes_received: int = 0
    bytes_sent: int = 0
    cursor_updated: bool = False
    converged: bool = False
    loops: int = 0
    aborted: str | None = None
    # No part of the JSON: what happened and at which limit of evaluation, for people; and
    # whether a listener has heard the setup of the peer.
    detail: str = field(default="", compare=False)
    exceeded: LimitError | None = field(default=None, compare=False)
    heard: bool = field(default=False, compare=False)

    def json(self) -> dict[str, Any]:
        return {
            "link_id": self.link_id,
            "exchange_plan_id": self.exchange_plan_id,
            "peer_verifier": self.peer_verifier,
            "received_hashes": sorted(self.received_hashes),
            "rejected_hashes": sorted(self.rejected_hashes),
            "not_available_hashes": sorted(self.not_available_hashes),
            "bytes_received": self.bytes_received,
            "bytes_sent": self.bytes_sent,
            "cursor_updated": self.cursor_updated,
            "converged": self.converged,
            "loops": self.loops,
            "aborted": self.aborted,
        }
