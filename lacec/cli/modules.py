"""The modules that a command checks: each file with its settings and the files linked to it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from lacec.cli.files import read_input, read_inputs
from lacec.core.diagnostics import Diagnostic
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.resources import LIBRARY, source_path
from lacec.pipeline import Input, finish
from lacec.project.settings import Settings, SettingsError, settings_for
from lacec.project.sources import module_steps


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
    settings = settings_of(name)
    if options.facet is not None:
        settings = replace(settings, facet=options.facet)
    if options.expose is not None:
        settings = replace(settings, expose=tuple(options.expose))
    given = dict(linked or ())
    if linked is not None:
        settings = replace(settings, linked=tuple(each for each, _ in linked))

    def read(other: str) -> Input:
        if other in given:
            return other, given[other]
        return read_input(_short(other), options.limits)

    source = read_input(name, options.limits)
    work = finish(module_steps(source, settings, read, options.limits))
    return Checked(name, work.inputs, work.diagnostics)


def read_linked(name: str, linked: Sequence[str] | None, limits: Limits) -> list[Input]:
    """A file and what it is linked with: as the command line says, else as `lace.toml` does."""
    further = settings_of(name).linked if linked is None else linked
    return read_inputs((name, *map(_short, further)), limits)


def read_all_linked(names: Sequence[str], limits: Limits) -> list[Input]:
    """Files, and what `lace.toml` links with each of them; each file once."""
    files = [name for name in names if name != "-" and not name.startswith(LIBRARY)]
    further = [_short(each) for name in files for each in settings_of(name).linked]
    once: dict[str, str] = {}
    for name in (*names, *further):
        place = name if name == "-" or name.startswith(LIBRARY) else os.path.abspath(name)
        once.setdefault(place, name)
    return read_inputs(once.values(), limits)


def facet_of(name: str, given: Facet | None) -> Facet:
    """What a file is for: as the command line says, else as `lace.toml` does, else plain."""
    return given or settings_of(name).facet or Facet.PLAIN


def settings_of(name: str) -> Settings:
    try:
        return settings_for(Path.cwd() / source_path(name))
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from None


def _short(name: str) -> str:
    """A file by the path that leads to it from here, where that is not up and down again."""
    if not os.path.isabs(name):
        return name
    relative = os.path.relpath(name)
    return name if relative.startswith(os.pardir) else relative
