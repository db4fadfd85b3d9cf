"""The files as the editor has them: unsaved text over the disk, and what is known about each.

In: texts by path. Out: the analysis of a file with all that is linked to it. Lines are kept
by the parser, so an analysis after a keystroke reads one line and the indexes; files and
settings on the disk are read again when their time or size changes.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic, Place, place
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import Predicate
from lacec.core.resources import LIBRARY, source_path
from lacec.pipeline import Compilation, Input, canonicalise, finish
from lacec.project.settings import NAME, Settings, SettingsError, settings_for
from lacec.project.sources import FileState, file_state, module_steps
from lacec.syntax.ast import Atom, body_atoms
from lacec.syntax.source import ParsedSource, SourceRule, read

# So many files of a workspace are looked at, and so many folders: the rest are not searched.
MOST_FILES = 1000
MOST_FOLDERS = 2000


@dataclass(frozen=True)
class Analysis:
    """A file, what it is linked with, and what was found; `trouble` is what could not be read."""

    path: str
    settings: Settings
    work: Compilation
    trouble: str | None = None

    @property
    def program(self) -> Program:
        assert self.work.program is not None
        return self.work.program

    @property
    def source(self) -> ParsedSource:
        return self.program.sources[0]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Those of the file itself; what is linked has its own."""
        return tuple(each for each in self.work.diagnostics if each.place.file == self.path)

    @cached_property
    def strata(self) -> dict[Predicate, int]:
        levels = self.program.stratification.strata
        return {predicate: n for n, level in enumerate(levels) for predicate in level}

    @cached_property
    def identity(self) -> str | None:
        """The `R.` identifier; None while there are errors."""
        module = canonicalise(self.work).module
        return None if module is None else module.id

    @cached_property
    def rules_by_line(self) -> dict[int, SourceRule]:
        return {rule.line: rule for rule in self.source.rules}

    @cached_property
    def rules_of(self) -> dict[Predicate, list[SourceRule]]:
        found: dict[Predicate, list[SourceRule]] = {}
        for rule in self.program.rules:
            found.setdefault(rule.rule.predicate, []).append(rule)
        return found


class Desk:
    """The open files and the folders of one editor."""

    def __init__(self, folders: Iterable[str] = ()) -> None:
        self.folders = list(folders)
        self._open: dict[str, str] = {}
        self._lines: dict[str, tuple[str | bytes, tuple[str, ...]]] = {}
        self._disk: dict[str, tuple[FileState, bytes]] = {}
        self._settings: dict[str, tuple[tuple[FileState, ...], Settings | SettingsError]] = {}
        self._known: dict[str, tuple[object, Analysis]] = {}

    # Texts.

    def put(self, path: str, text: str) -> None:
        self._open[path] = text

    def drop(self, path: str) -> None:
        self._open.pop(path, None)
        self._known.pop(path, None)
        self._lines.pop(path, None)

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(self._open)

    def read(self, path: str) -> Input:
        """A source by its path or `std:NAME`; OSError when it cannot be read."""
        text = self._open.get(path)
        if text is not None:
            return path, text
        where = real_path(path)
        state = file_state(where)
        kept = self._disk.get(path)
        if kept is None or state is None or kept[0] != state:
            with Path(where).open("rb") as file:
                kept = self._disk[path] = state, file.read(DEFAULT_LIMITS.source_bytes + 1)
        return path, kept[1]

    def lines(self, path: str) -> tuple[str, ...]:
        """The lines of a source; none when it cannot be read."""
        try:
            _, content = self.read(path)
        except OSError:
            return ()
        kept = self._lines.get(path)
        if kept is None or kept[0] is not content:
            kept = self._lines[path] = content, read(path, content, DEFAULT_LIMITS).lines
        return kept[1]

    # What is known.

    def analysis(self, path: str) -> Analysis:
        return finish(self.steps(path))

    def steps(self, path: str) -> Generator[None, None, Analysis]:
        """The analysis of a file, with pauses; nothing is done when nothing has changed."""
        settings, trouble = self._settings_of(path)
        inputs: list[Input] = []

        def take(name: str) -> None:
            nonlocal trouble
            try:
                inputs.append(self.read(name))
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                trouble = trouble or f"cannot read {name}, which lace.toml names: {reason}"
                inputs.append((name, ""))

        for name in (path, *settings.linked, *settings.expose):
            if name == path or os.path.isabs(name) or name.startswith(LIBRARY):
                take(name)
        key = (settings, trouble, [content for _, content in inputs])
        kept = self._known.get(path)
        if kept is None or kept[0] != key:
            source = inputs[0]
            given = dict(inputs)
            steps = module_steps(source, settings, lambda n: (n, given[n]), DEFAULT_LIMITS)
            work = yield from steps
            kept = key, Analysis(path, settings, work, trouble)
            self._known[path] = kept
        return kept[1]

    def _settings_of(self, path: str) -> tuple[Settings, str | None]:
        where = source_path(path)
        folder = where.parent
        state = tuple(file_state(str(above / NAME)) for above in (folder, *folder.parents))
        kept = self._settings.get(path)
        if kept is None or kept[0] != state:
            said: Settings | SettingsError
            try:
                said = settings_for(where)
            except SettingsError as error:
                said = error
            kept = self._settings[path] = state, said
        if isinstance(kept[1], SettingsError):
            return Settings(), str(kept[1])
        return kept[1], None

    def files(self) -> list[str]:
        """The open files, and those of the folders: hidden folders are left alone."""
        found = dict.fromkeys(self._open)
        queue = list(self.folders)
        for folder in queue:
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False) and len(queue) < MOST_FOLDERS:
                    queue.append(entry.path)
                elif entry.name.endswith(".lace") and len(found) < MOST_FILES and entry.is_file():
                    found[entry.path] = None
        return list(found)

    def linked_to(self, path: str) -> list[str]:
        """The open files whose modules have this file."""
        return [
            each
            for each, (_, analysis) in self._known.items()
            if each != path
            and each in self._open
            and path in (*analysis.settings.linked, *analysis.settings.expose)
        ]

    def occurrences(self, path: str, predicate: Predicate) -> dict[Place, bool]:
        """Where a predicate stands in all modules that share it; True where it is defined.

        A module that has a file with the predicate adds the files it is linked with.
        """
        analyses = [self.analysis(each) for each in dict.fromkeys([path, *self.files()])]
        found: dict[str, dict[Place, bool]] = {}
        queue = [path]
        for file in queue:
            for analysis in analyses:
                if all(s.source.name != file for s in analysis.program.sources):
                    continue
                for source in analysis.program.sources:
                    name = source.source.name
                    if name not in found:
                        found[name] = dict(_stands(source, predicate))
                        if found[name]:
                            queue.append(name)
        return {place: defines for each in found.values() for place, defines in each.items()}


def _stands(source: ParsedSource, predicate: Predicate) -> Iterator[tuple[Place, bool]]:
    for rule in source.rules:
        if rule.rule.predicate == predicate:
            yield rule.place(rule.rule.head.name_span), True
        for other, _, (start, _) in rule.rule.reads:
            if other == predicate:
                span = (start, start + len(predicate.name))
                yield place(source.source.name, rule.line, span), False


def atoms_of(rule: SourceRule) -> Iterator[Atom]:
    """The head and the atoms of the body."""
    yield rule.rule.head
    yield from body_atoms(rule.rule)


def real_path(name: str) -> str:
    """Where a source is on the disk."""
    return str(source_path(name))
