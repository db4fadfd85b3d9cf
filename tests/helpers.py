"""Short ways to say what a source is and what it draws, so that tests read as tables."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from lacec.canonical.module import Module
from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.lint.fixes import apply_fixes
from lacec.lint.subject import Context
from lacec.pipeline import Input, check_sources, compile_module, lint_sources, read_exposure
from lacec.syntax.ast import Rule
from lacec.syntax.parse import parse, parse_line
from lacec.syntax.source import ParsedSource, read

Found = list[tuple[str, int, int]]
"""Diagnostics by name, line and column."""

Case = tuple[str, str, str, Found]
"""The name of a case, its source, the facet, and what is found."""

FILE = "test.lace"

# What a module of each facet needs so that nothing is missing; added below the rules of a case.
REST = {
    "plain": "",
    "selector": "\nSelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S).",
    "expose": "\nAllowQueryRecord(V,P) :- _Viewer(V), Have(P).",
}
FACETS = tuple(REST)


def examples(count: int) -> settings:
    """How hard a property is tried; slow machines fail no test."""
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def diagnose(
    text: str | bytes, facet: str = "plain", limits: Limits = DEFAULT_LIMITS
) -> tuple[Diagnostic, ...]:
    return check_sources([(FILE, text)], Facet(facet), limits)


def found(text: str | bytes, facet: str = "plain", limits: Limits = DEFAULT_LIMITS) -> Found:
    return [(d.name, d.place.line, d.place.column) for d in diagnose(text, facet, limits)]


def names(text: str | bytes, facet: str = "plain", limits: Limits = DEFAULT_LIMITS) -> list[str]:
    return [d.name for d in diagnose(text, facet, limits)]


def errors(text: str | bytes, facet: str = "plain", limits: Limits = DEFAULT_LIMITS) -> list[str]:
    return [d.name for d in diagnose(text, facet, limits) if d.severity == "error"]


def only(text: str | bytes, facet: str = "plain", limits: Limits = DEFAULT_LIMITS) -> Diagnostic:
    """The one diagnostic of a source."""
    (diagnostic,) = diagnose(text, facet, limits)
    return diagnostic


def compiled(text: str | bytes, facet: str = "plain") -> Module:
    return compile_module([(FILE, text)], Facet(facet))


def parsed(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> ParsedSource:
    return parse(read(FILE, text, limits), limits)


def rule(text: str) -> Rule:
    """The rule of a line that has nothing wrong with it."""
    node, problems, _ = parse_line(text)
    assert problems == ()
    assert isinstance(node, Rule)
    return node


def lines(*texts: str) -> str:
    return "\n".join(texts)


def cases(*rows: Case) -> pytest.MarkDecorator:
    """Parametrise a test by source, facet and what is found."""
    return pytest.mark.parametrize(
        ("source", "facet", "expected"),
        [pytest.param(source, facet, expected, id=name) for name, source, facet, expected in rows],
    )


def linted(
    text: str | bytes, facet: str = "plain", linked: str | None = None, **known: Any
) -> tuple[Diagnostic, ...]:
    """What `lacec check` finds; `known` is what a context may hold."""
    inputs: list[Input] = [(FILE, text)]
    inputs += [] if linked is None else [("linked.lace", linked)]
    return lint_sources(inputs, Facet(facet), context=Context(**known))


def lints(text: str, facet: str = "plain", linked: str | None = None, **known: Any) -> Found:
    return [(d.name, d.place.line, d.place.column) for d in linted(text, facet, linked, **known)]


def fixed(text: str, facet: str = "plain", **known: Any) -> str:
    """The text with every fix made that its lints offer."""
    return apply_fixes(text, [d.fix for d in linted(text, facet, **known) if d.fix])[0]


def exposing(*texts: str) -> tuple[Program, ...]:
    return tuple(read_exposure(("expose.lace", text)) for text in texts)
