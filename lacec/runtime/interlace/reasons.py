"""Why an exchange ends before its fixed point: every reason by name (050 Errors).

A reason is for people and for results; the protocol does not depend on it. Those of
LIMITS close an exchange with a partial result rather than fault anybody.
"""

REASONS: dict[str, str] = {
    # 050 Errors, row by row
    "peer-verifier-mismatch": "the peer is not, or does not prove to be, who it claims to be",
    "exchange-plan-mismatch": "the two sides computed different exchange plans",
    "unsupported-record-format": "the two sides accept no record format in common",
    "unsupported-advertisement-schema": "the plan needs advertised fields that are not offered",
    "malformed-fact-block": "a fact block breaks a rule of 050",
    "malformed-exchange-module": "the operand of the peer is no valid canonical selector",
    "exchange-plan-compilation-failure": "the two operands make no exchange plan",
    "malformed-prepared-policy": "the local executable of the plan is not fit to run",
    "malformed-partition-summary": "a partition summary contradicts itself or what was asked",
    "advertisement-list-root-mismatch": "a listing does not have the count and root announced",
    "phase-timeout": "the peer sent nothing, or too little, for too long",
    "oversized-fact-block": "a fact block is larger than the limit agreed",
    "transfer-limit-exceeded": "too many bytes were transferred and nothing of them stored",
    "unrequested-record": "a record arrived that was not asked for in this phase",
    # other ways to break the protocol
    "out-of-phase": "something arrived that has no place in this phase",
    "operand-index-conflict": "both sides brought the same operand index",
    "module-unavailable": "the bytes of an announced module cannot be had",
    "negotiation-failed": "a value in hello is malformed or outside what is supported",
    "malformed-stream": "bytes arrived that break a rule of the stream they came in",
    "malformed-record": "bytes arrived whose end as a record cannot be found",
    "listing-limit-exceeded": "more records are advertised than may be listed",
    "summary-limit-exceeded": "more partitions are summarised than may be",
    # limits, and what happens on this side
    "loop-limit-exceeded": "too many loops stored nothing",
    "evaluation-failed": "the policy could not be evaluated",
    "store-failed": "the store could not keep what was received",
    "disconnected": "the connection ended in the middle of a phase",
    "cancelled": "this side was told to stop",
    "turned-away": "this side takes no link of that peer, or not now",
    "internal-error": "this side failed in a way that nobody foresaw",
}

LIMITS = frozenset(("transfer-limit-exceeded", "loop-limit-exceeded"))


class Abort(Exception):  # noqa: N818 - a signal between the parts of the machine
    """The exchange cannot go on: a name of REASONS, and what happened this time."""

    def __init__(self, reason: str, detail: str = "") -> None:
        assert reason in REASONS, reason
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail or REASONS[reason]}")
