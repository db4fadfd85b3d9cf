"""The modules that tests run: each file compiled once, with what is linked to it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from lacec.canonical.module import Module
from lacec.core.diagnostics import Diagnostic, place
from lacec.core.errors import CompileError
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.resources import LIBRARY, source_path, stdlib_names
from lacec.pipeline import Input, compile_module
from lacec.plan.expose import LocalPolicy, expose_all, expose_selected
from lacec.plan.operands import Operand
from lacec.policytest.cases import Case, TestFile
from lacec.policytest.materials import CaseError, FileError
from lacec.project.settings import Settings, SettingsError, settings_for


@dataclass
class Policies:
    """Compiles for one test file; `under_test` are the modules whose rules are to be covered."""

    file: TestFile
    limits: Limits
    sources: dict[str, str | bytes] = field(default_factory=dict)
    warnings: dict[Diagnostic, None] = field(default_factory=dict)
    under_test: dict[str, Module] = field(default_factory=dict)
    _known: dict[tuple[str, Facet], Module] = field(default_factory=dict)

    def own_facet(self) -> Facet:
        return self.file.facet or self._settings(self.file.policy, 1).facet or Facet.PLAIN

    def module(self, name: str, facet: Facet, line: int, tested: bool = True) -> Module:
        """A file, with what the test file or its `lace.toml` links to it; CompileError."""
        key = (name, facet)
        if key not in self._known:
            linked: Sequence[str] | None = None
            if name == self.file.policy:
                linked = self.file.linked
            if linked is None:
                linked = [_from_here(each) for each in self._settings(name, line).linked]
            inputs = [self._read(each, line, name) for each in (name, *linked)]
            self._known[key] = compile_module(inputs, facet, self.limits)
            self.warnings.update(dict.fromkeys(self._known[key].diagnostics))
        if tested:
            self.under_test[name] = self._known[key]
        return self._known[key]

    def local(self, case: Case, own: Operand) -> LocalPolicy:
        """What a side decides alone."""
        return LocalPolicy(
            tuple(self.exposure(name, own, case.line) for name in case.expose),
            case.trust_peer,
            tuple(self.exposure(name, own, case.line) for name in case.narrow),
        )

    def exposure(self, name: str, own: Operand, line: int) -> Module:
        if name == "all":
            return expose_all(self.limits)
        if name == "selected":
            return expose_selected(own, self.limits)
        return self.module(name, Facet.EXPOSE, line)

    def _settings(self, name: str, line: int) -> Settings:
        try:
            return settings_for(source_path(name))
        except SettingsError as error:
            raise self._wrong(name)(line, str(error), "mend it, or say `with` here") from None

    def _wrong(self, name: str) -> type[CaseError]:
        """What is wrong with the policy itself is so for each test."""
        return FileError if name == self.file.policy else CaseError

    def _read(self, name: str, line: int, of: str) -> Input:
        wrong = self._wrong(of)
        if name.startswith(LIBRARY) and name.removeprefix(LIBRARY) not in stdlib_names():
            raise wrong(line, f"there is no {name}", "`lacec std list` says what there is")
        try:
            with source_path(name).open("rb") as file:
                content = file.read(self.limits.source_bytes + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            help = 'a test file NAME.test.toml tests NAME.lace, or says policy = "…"'
            raise wrong(line, f"cannot read {name}: {reason}", help) from None
        self.sources[name] = content
        return name, content


def _from_here(name: str) -> str:
    """A path of a `lace.toml`, which is absolute, by the way to it from here."""
    return os.path.relpath(name) if os.path.isabs(name) else name


def problems_of(error: CompileError | CaseError, name: str) -> tuple[Diagnostic, ...]:
    """What keeps tests from running, as diagnostics."""
    if isinstance(error, CompileError):
        return error.diagnostics
    where = place(name, error.line, (0, 0))
    return (Diagnostic("bad-test", error.message, where, error.help),)
