"""The largest record that is read (D1). All of it is configurable."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class RecordLimits:
    blob_bytes: int = 32 * 2**20
    extra_headers: int = 256
    header_bytes: int = 64 * 2**10

    @property
    def head_bytes(self) -> int:
        """No head within the limits is longer: the other lines of a Seal take less than 512."""
        return self.header_bytes + 512


DEFAULT_RECORD_LIMITS = RecordLimits()
RECORD_LIMIT_NAMES = tuple(field.name for field in fields(RecordLimits))
# For bytes that were within their limits when they came in.
NO_RECORD_LIMITS = RecordLimits(blob_bytes=2**63, extra_headers=2**63, header_bytes=2**63)
