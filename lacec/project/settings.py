"""`lace.toml`: what the files below it are for, what they are linked with, which warnings count.

    with = ["shared.lace"]

    [levels]
    singleton-variable = "off"

    [[files]]
    match = "ours*.lace"
    facet = "selector"
    expose = ["open.lace"]

In: the nearest such file at or above a source. Out: what it says for that source: the
tables of `files` that match it, later ones over earlier ones, over the top of the file.
"""

import fnmatch
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from lacec.core.diagnostics import CATALOGUE
from lacec.core.errors import LacecError
from lacec.core.facets import SHORTCUTS, Facet
from lacec.core.predicates import Predicate, read_predicate
from lacec.core.resources import LIBRARY
from lacec.core.toml import TomlError, read_toml
from lacec.lint.subject import Context, Level

NAME = "lace.toml"
LEVELS: tuple[Level, ...] = ("off", "info", "warning", "error")
MOST_BYTES = 2**20


class SettingsError(LacecError):
    """A `lace.toml` that cannot be used: which, and what is wrong with it."""


@dataclass(frozen=True)
class Settings:
    """What is said for one source. Files are absolute, or `std:NAME`, or a shortcut."""

    facet: Facet | None = None
    linked: tuple[str, ...] = ()
    expose: tuple[str, ...] = ()
    levels: Mapping[str, Level] = field(default_factory=dict)
    inputs: frozenset[Predicate] = frozenset()
    outputs: frozenset[Predicate] = frozenset()
    fields: frozenset[str] = frozenset()

    @property
    def context(self) -> Context:
        return Context(self.levels, self.inputs, self.outputs, self.fields)


def settings_for(source: Path) -> Settings:
    """What the nearest `lace.toml` says for a source; nothing when there is none."""
    # Without `..`: what lies above a file must not depend on the way to it.
    source = Path(os.path.abspath(source))
    path = find_settings(source.parent)
    return Settings() if path is None else _Reader(path).settings(source)


def find_settings(folder: Path) -> Path | None:
    return next((f / NAME for f in (folder, *folder.parents) if (f / NAME).is_file()), None)


class _Reader:
    """Reads one file, and says of which key it does not know what to make."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                self._wrong(f"it has more than {MOST_BYTES} bytes")
            self._document = read_toml(content)
        except OSError as error:
            self._wrong((error.strerror or str(error)).lower())
        except TomlError as error:
            self._wrong(str(error))

    def settings(self, source: Path) -> Settings:
        tables = self._document.pop("files", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._wrong("`files` is not a list of tables: write [[files]]")
        said = self._table(self._document)
        for table in tables:
            rest = dict(table)
            patterns = self._texts("match", rest.pop("match", None))
            own = self._table(rest)  # what does not match is read too, so that mistakes show
            if any(self._matches(pattern, source) for pattern in patterns):
                levels = {**said.get("levels", {}), **own.pop("levels", {})}
                said = {**said, **own, "levels": levels}
        # A file is not linked with itself.
        said["linked"] = tuple(name for name in said.get("linked", ()) if name != str(source))
        return Settings(**said)

    def _matches(self, pattern: str, source: Path) -> bool:
        below = source.relative_to(self._path.parent).as_posix()
        return fnmatch.fnmatchcase(below, pattern)

    def _table(self, table: Mapping[str, Any]) -> dict[str, Any]:
        readers: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
            "facet": ("facet", self._facet),
            "with": ("linked", self._files),
            "expose": ("expose", self._files),
            "levels": ("levels", self._levels),
            "inputs": ("inputs", self._predicates),
            "outputs": ("outputs", self._predicates),
            "fields": ("fields", lambda key, value: frozenset(self._texts(key, value))),
        }
        said = {}
        for key, value in table.items():
            if key not in readers:
                self._wrong(f"it has no key `{key}`; the keys are {', '.join(readers)}, files")
            name, reader = readers[key]
            said[name] = reader(key, value)
        return said

    def _facet(self, key: str, value: Any) -> Facet:
        if value not in tuple(Facet):
            self._wrong(f"`{key}` is one of {', '.join(Facet)}")
        return Facet(value)

    def _levels(self, key: str, value: Any) -> dict[str, Level]:
        if not isinstance(value, dict):
            self._wrong(f"`{key}` is a table of names and levels")
        for name, level in value.items():
            if CATALOGUE.get(name, "error") == "error":
                self._wrong(f"`{name}` is not a warning that has a level")
            if level not in LEVELS:
                self._wrong(f"the level of `{name}` is one of {', '.join(LEVELS)}")
        return value

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        texts = (value,) if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(t, str) for t in texts):
            self._wrong(f"`{key}` is a text or a list of texts")
        return tuple(texts)

    def _files(self, key: str, value: Any) -> tuple[str, ...]:
        return tuple(
            name
            if name.startswith(LIBRARY) or (key == "expose" and name in SHORTCUTS)
            else str(self._path.parent / name)
            for name in self._texts(key, value)
        )

    def _predicates(self, key: str, value: Any) -> frozenset[Predicate]:
        try:
            return frozenset(read_predicate(text) for text in self._texts(key, value))
        except ValueError as error:
            self._wrong(f"`{key}`: {error}")

    def _wrong(self, why: str) -> NoReturn:
        raise SettingsError(f"{self._path}: {why}")
