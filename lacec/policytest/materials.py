"""The records and keys of a test file: made from its words, the same each time.

In: what a file says. Out: records and verifiers, and texts in which `$NAME` stands for the hash
of a record or the verifier of a key; `$$` is a dollar.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from lacec.check.spelling import nearest
from lacec.core.errors import LacecError, RecordError
from lacec.policytest.cases import Case, PartySpec, TestFile
from lacec.records.record import Record, build_blob, build_plex, build_seal, read_some_records
from lacec.records.signature import Secret

MOST_BYTES = 2**28
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NAMED = re.compile(rf"\$(\$|{NAME.pattern})")


class CaseError(LacecError):
    """A test that cannot be run: on which line, why, and what to do."""

    def __init__(self, line: int, message: str, help: str | None = None) -> None:
        self.line, self.message, self.help = line, message, help
        super().__init__(line, message, help)


class FileError(CaseError):
    """What keeps each test of a file from running."""


class Materials:
    def __init__(self, file: TestFile) -> None:
        self._specs = file.records
        self._keys = file.all_keys()
        self._made: dict[str, Record] = {}
        self._making: list[str] = []
        self._filed: dict[str, list[Record]] = {}

    @property
    def names(self) -> dict[str, str]:
        """`$NAME` by the hash or the verifier that it stands for."""
        found = {record.hash: f"${name}" for name, record in self._made.items()}
        return found | {secret_of(name).verifier: f"${name}" for name in sorted(self._keys)}

    def records(self, names: Iterable[str], line: int) -> list[Record]:
        return [self.record(name, line) for name in dict.fromkeys(names)]

    def stored(self, case: Case | PartySpec, line: int) -> list[Record]:
        """The records that are stored before a test: those it names, and those of files."""
        named = self.records(case.stored, line)
        filed = [each for path in dict.fromkeys(case.record_files) for each in self._of(path, line)]
        return list({record.hash: record for record in (*named, *filed)}.values())

    def _of(self, path: str, line: int) -> list[Record]:
        """The records of a file, or of the files in a folder, as an import reads them."""
        if path not in self._filed:
            self._filed[path] = list(_read(path, line))
        return self._filed[path]

    def record(self, name: str, line: int) -> Record:
        if name not in self._specs:
            raise CaseError(line, f"there is no record `{name}`", self._help(name, self._specs))
        if name in self._making:
            way = " to ".join(f"`{each}`" for each in (*self._making, name))
            raise CaseError(self._specs[name].line, f"records name each other in a circle: {way}")
        if name not in self._made:
            self._making.append(name)
            try:
                self._made[name] = self._make(name)
            finally:
                self._making.pop()
        return self._made[name]

    def _make(self, name: str) -> Record:
        spec = self._specs[name]
        line = spec.line
        try:
            record = build_blob(spec.data.encode("utf-8"))
            if spec.group is None or spec.app is None or spec.path is None:
                return record
            extras = [(header, self.fill(value, line)) for header, value in spec.headers]
            path = self.fill(spec.path, line)
            record = build_plex(spec.group, spec.app, path, spec.tai, extras, record)
            if spec.signed_by is not None:
                aux = sha256(f"lacec test {name}".encode()).digest()
                record = build_seal(record, secret_of(spec.signed_by), aux)
        except RecordError as error:
            said = f"the record `{name}` is not valid: {error.message}"
            raise CaseError(line, said, error.help) from None
        return record

    def fill(self, text: str, line: int) -> str:
        """A text with what its names stand for."""

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name == "$":
                return "$"
            if name in self._specs:
                return self.record(name, line).hash
            if name in self._keys:
                return secret_of(name).verifier
            known = (*self._specs, *self._keys)
            raise CaseError(line, f"`${name}` is no record and no key", self._help(name, known))

        return _NAMED.sub(value, text)

    def _help(self, name: str, known: Iterable[str]) -> str:
        close = nearest(name, known)
        if close:
            return f"did you mean `{close}`?"
        return f'write [records.{name}], or keys = ["{name}"]; a dollar itself is $$'


def secret_of(name: str) -> Secret:
    """The key of a name: everybody can make it, so it is good for tests alone."""
    return Secret(sha256(f"lacec test key {name}".encode()).digest())


def _read(path: str, line: int) -> Iterator[Record]:
    from lacec.store.importing import open_files

    left = MOST_BYTES
    for name, stream in open_files([Path(path)]):
        try:
            if isinstance(stream, OSError):
                raise stream
            content = stream.read(left + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CaseError(line, f"cannot read {name}: {reason}") from None
        left -= len(content)
        if left < 0:
            raise CaseError(line, f"{path} has more than {MOST_BYTES} bytes", "give less")
        for offset, found in read_some_records([content]):
            if isinstance(found, RecordError):
                said = f"{name} has a record that is not valid, at byte {offset}: {found.message}"
                raise CaseError(line, said, found.help)
            yield found
