"""The exceptions of lacec's Python API. Each carries what it has to say as values."""

from lacec.diagnostics import Diagnostic


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
