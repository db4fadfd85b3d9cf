"""lacec: a compiler toolchain for lacegrams and exchange plans.

The functions here give the same results as the commands compile, check and fmt.
They import what they need when they are called, so that `import lacec` costs nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lacec.canonical.module import Module, ModuleRule
    from lacec.diagnostics import Diagnostic
    from lacec.errors import CompileError, LacecError
    from lacec.limits import Limits

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "Diagnostic",
    "LacecError",
    "Limits",
    "Module",
    "ModuleRule",
    "compile",
    "diagnose",
    "format",
]

_LAZY = {
    "CompileError": "lacec.errors",
    "Diagnostic": "lacec.diagnostics",
    "LacecError": "lacec.errors",
    "Limits": "lacec.limits",
    "Module": "lacec.canonical.module",
    "ModuleRule": "lacec.canonical.module",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'lacec' has no attribute {name!r}")


def compile(
    text: str | bytes,
    *,
    facet: str = "plain",
    name: str = "<text>",
    linked: "Sequence[tuple[str, str | bytes]]" = (),
    limits: "Limits | None" = None,
) -> "Module":
    """Compile annotated source into a module; raise CompileError with every diagnostic.

    `linked` holds further sources, as (name, text), that are joined by union.
    """
    from lacec.facets import Facet
    from lacec.limits import DEFAULT_LIMITS
    from lacec.pipeline import compile_module

    return compile_module([(name, text), *linked], Facet(facet), limits or DEFAULT_LIMITS)


def diagnose(
    text: str | bytes,
    *,
    facet: str = "plain",
    name: str = "<text>",
    linked: "Sequence[tuple[str, str | bytes]]" = (),
    limits: "Limits | None" = None,
) -> "tuple[Diagnostic, ...]":
    """Every diagnostic of a source, errors and warnings, sorted by place."""
    from lacec.facets import Facet
    from lacec.limits import DEFAULT_LIMITS
    from lacec.pipeline import check_sources

    return check_sources([(name, text), *linked], Facet(facet), limits or DEFAULT_LIMITS)


def format(text: str | bytes, *, name: str = "<text>") -> str:
    """Annotated source with tidy white space; raise CompileError if it cannot be read."""
    from lacec.pipeline import format_source

    return format_source((name, text))
