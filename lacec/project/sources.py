"""A file as its `lace.toml` wants it: with what is linked, and with what its peer may query.

In: a source, its settings, and how to read another. Out: the steps that check and lint it.
"""

import os
from collections.abc import Callable, Generator
from dataclasses import replace

from lacec.core.facets import SHORTCUTS, Facet
from lacec.core.limits import Limits
from lacec.pipeline import Compilation, Input, lint_steps, read_exposure
from lacec.project.settings import Settings

Reader = Callable[[str], Input]
# When a file changed last, and its size; None when it is not there.
FileState = tuple[int, int] | None


def file_state(path: str) -> FileState:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def module_steps(
    source: Input, settings: Settings, read: Reader, limits: Limits
) -> Generator[None, None, Compilation]:
    inputs = [source, *map(read, settings.linked)]
    facet = settings.facet or Facet.PLAIN
    context = settings.context
    if settings.expose and facet is Facet.SELECTOR:
        exposures = (read_exposure(_exposure(name, read), limits) for name in settings.expose)
        context = replace(context, exposures=tuple(exposures))
    return lint_steps(inputs, facet, limits, context)


def _exposure(name: str, read: Reader) -> Input:
    if name not in SHORTCUTS:
        return read(name)
    from lacec.plan.expose import ALL, SELECTED

    return name, ALL if name == "all" else SELECTED
