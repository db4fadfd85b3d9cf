"""lacec: a compiler toolchain for lacegrams and exchange plans.

The functions here give the same results as the commands compile, check,
fmt and eval; `corpus` makes records to try things on, a `Store` keeps them.
They import what they need when they are called, so that `import lacec` costs nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lacec.canonical.module import Module, ModuleRule
    from lacec.diagnostics import Diagnostic
    from lacec.errors import (
        CompileError,
        FactError,
        LacecError,
        LimitError,
        RecordError,
        StoreError,
    )
    from lacec.limits import Limits
    from lacec.records.corpus import corpus
    from lacec.records.record import Record
    from lacec.runtime.store.store import Store

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "Diagnostic",
    "FactError",
    "LacecError",
    "LimitError",
    "Limits",
    "Module",
    "ModuleRule",
    "Record",
    "RecordError",
    "Store",
    "StoreError",
    "compile",
    "corpus",
    "diagnose",
    "evaluate",
    "format",
]

_LAZY = {
    "CompileError": "lacec.errors",
    "Diagnostic": "lacec.diagnostics",
    "FactError": "lacec.errors",
    "LacecError": "lacec.errors",
    "LimitError": "lacec.errors",
    "Limits": "lacec.limits",
    "Module": "lacec.canonical.module",
    "ModuleRule": "lacec.canonical.module",
    "Record": "lacec.records.record",
    "RecordError": "lacec.errors",
    "Store": "lacec.runtime.store.store",
    "StoreError": "lacec.errors",
    "corpus": "lacec.records.corpus",
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


def evaluate(
    module: "Module",
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    *,
    outputs: "Iterable[str] | None" = None,
    limits: "Limits | None" = None,
) -> dict[str, list[tuple[str, ...]]]:
    """The facts that a module derives, sorted, by NAME/ARITY; raise LimitError at a limit.

    `facts` holds rows by predicate name; `outputs` names the predicates wanted, as
    NAME/ARITY, and is every derived predicate unless given.
    """
    from lacec import engine
    from lacec.limits import DEFAULT_LIMITS
    from lacec.predicates import read_predicate
    from lacec.vm.sources import load, source_of

    chosen = limits or DEFAULT_LIMITS
    wanted = None if outputs is None else [read_predicate(text) for text in outputs]
    result = engine.evaluate(module, load(source_of(facts), chosen), wanted, chosen)
    return {str(predicate): result.facts(predicate) for predicate in result.relations}


def format(text: str | bytes, *, name: str = "<text>") -> str:
    """Annotated source with tidy white space; raise CompileError if it cannot be read."""
    from lacec.pipeline import format_source

    return format_source((name, text))
