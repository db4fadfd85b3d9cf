"""The modules that a command checks: each file with its settings and the files linked to it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from lacec.cli.files import read_input, read_inputs
from lacec.diagnostics import Diagnostic
from lacec.facets import SHORTCUTS, Facet
from lacec.limits import Limits
from lacec.pipeline import Input, lint_sources, read_exposure
from lacec.settings import LIBRARY, Settings, SettingsError, settings_for


@dataclass(frozen=True)
class Options:
    """What the command line says for all files; None where a `lace.toml` may say it."""

    facet: Facet | None
    linked: Sequence[str] | None
    expose: Sequence[str] | None
    limits: Limits


@dataclass(frozen=True)
class Checked:
    """One file, what was read for it, and what was found."""

    name: str
    inputs: tuple[Input, ...]
    diagnostics: tuple[Diagnostic, ...]


def check_file(name: str, options: Options, linked: Sequence[Input] | None) -> Checked:
    """Everything there is to say about a file; `linked` is what the command line links."""
    limits = options.limits
    settings = settings_of(name)
    inputs = [read_input(name, limits)]
    inputs += read_inputs(map(_short, settings.linked), limits) if linked is None else linked
    expose = settings.expose if options.expose is None else options.expose
    facet = options.facet or settings.facet or Facet.PLAIN
    context = settings.context
    if expose and facet is Facet.SELECTOR:
        exposures = (read_exposure(_exposure(each, limits), limits) for each in expose)
        context = replace(context, exposures=tuple(exposures))
    return Checked(name, tuple(inputs), lint_sources(inputs, facet, limits, context))


def settings_of(name: str) -> Settings:
    if name.startswith(LIBRARY):
        return Settings()
    try:
        return settings_for(Path.cwd() / name)
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from None


def _exposure(name: str, limits: Limits) -> Input:
    if name not in SHORTCUTS:
        return read_input(_short(name), limits)
    from lacec.plan.expose import ALL, SELECTED

    return name, ALL if name == "all" else SELECTED


def _short(name: str) -> str:
    """A file by the path that leads to it from here, where that is not up and down again."""
    if not os.path.isabs(name):
        return name
    relative = os.path.relpath(name)
    return name if relative.startswith(os.pardir) else relative
