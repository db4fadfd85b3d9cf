"""The exceptions of lacec's Python API. Each carries what it has to say as values."""

from lacec.core.diagnostics import Diagnostic
from lacec.core.origins import Origin


class LacecError(Exception):
    """Anything that lacec refuses."""


class CompileError(LacecError):
    """A source has errors; `diagnostics` holds all of them, and the warnings."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__(diagnostics)

    def __str__(self) -> str:
        return "\n".join(
            f"{d.place.file}:{d.place.line}:{d.place.column}: {d.severity}[{d.name}]: {d.message}"
            for d in self.diagnostics
        )


class PlanError(LacecError):
    """Two operands that make no plan, or a text that is none: what is wrong, by name."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


class LimitError(LacecError):
    """An evaluation would exceed a limit; there is no partial result (D12).

    `origin` tells this side whose rules went over it. The other side is told
    `PUBLIC_NAME`, whatever failed: numbers and messages may speak of private facts.
    """

    PUBLIC_NAME = "evaluation-failed"

    def __init__(
        self, name: str, limit: int, count: int, what: str, origin: Origin = Origin.LOCAL
    ) -> None:
        self.name, self.limit, self.count, self.origin = name, limit, count, origin
        super().__init__(f"{what}: {count} exceeds the limit {name} of {limit}")


class CancelledError(LacecError):
    """The caller cancelled an evaluation."""


class FactError(LacecError):
    """A fact that no evaluation may see: not NFC text, too long, or not well formed."""


class CodeError(LacecError):
    """Bytecode that nothing may run: where in the bytes, or in which block and instruction."""

    def __init__(
        self,
        message: str,
        *,
        offset: int | None = None,
        block: int | None = None,
        instruction: int | None = None,
    ) -> None:
        self.offset, self.block, self.instruction = offset, block, instruction
        places = (("byte", offset), ("block", block), ("instruction", instruction))
        place = ", ".join(f"{what} {number}" for what, number in places if number is not None)
        super().__init__(f"{place}: {message}" if place else message)


class RecordError(LacecError):
    """Bytes that are no valid record (010): which rule is broken, at which byte, what to do.

    The names are listed in `lacec.records.rules.NAMES`. `claimed` is the hash that the
    bytes claim to have, where there is one.
    """

    def __init__(
        self, name: str, offset: int, message: str, help: str, claimed: str | None = None
    ) -> None:
        self.name, self.offset, self.message, self.help = name, offset, message, help
        self.claimed = claimed
        super().__init__(name, offset, message, help, claimed)

    def __str__(self) -> str:
        return f"byte {self.offset}: {self.name}: {self.message}; {self.help}"

    @property
    def fatal(self) -> bool:
        """Whether a stream cannot go on after it: the end of the record is not known (D20)."""
        return self.name not in ("wrong-digest", "wrong-signature")

    def moved(self, by: int) -> "RecordError":
        """The same error in a stream in which the record begins so many bytes later."""
        return RecordError(self.name, self.offset + by, self.message, self.help, self.claimed)


class RecordingError(LacecError):
    """Bytes that are no recording of an exchange, though they may be a stream: where, and why."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset, self.message = offset, message
        super().__init__(offset, message)

    def __str__(self) -> str:
        return f"byte {self.offset}: {self.message}"


class StoreError(LacecError):
    """A store that cannot be used, or cannot be changed now; what was stored stays stored."""


class SparkError(LacecError):
    """A Spark that cannot be used, work that failed on it, or a folder that is no table."""


class AddressError(LacecError):
    """A text that is no transport address (060)."""


class StreamError(LacecError):
    """Bytes that are no ILTP stream (060): which rule is broken, at which byte, what to do.

    The names are listed in `lacec.runtime.iltp.framing.rules.NAMES`. `reason` is the name that the
    exchange ends with, one of `lacec.runtime.interlace.reasons.REASONS`.
    """

    def __init__(
        self,
        name: str,
        offset: int,
        message: str,
        help: str = "",
        reason: str = "malformed-stream",
    ) -> None:
        self.name, self.offset, self.message, self.help = name, offset, message, help
        self.reason = reason
        super().__init__(name, offset, message, help, reason)

    def __str__(self) -> str:
        text = f"byte {self.offset}: {self.name}: {self.message}"
        return f"{text}; {self.help}" if self.help else text
