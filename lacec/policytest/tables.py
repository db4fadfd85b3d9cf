"""Reading tables of a test file: each key by its kind, and a diagnostic for what is wrong.

In: the bytes of a file. Out: values, as the caller asks for them; problems are collected, with
their lines, and what has one is left out.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lacec.check.spelling import nearest
from lacec.core.diagnostics import Diagnostic, place, quote
from lacec.core.toml import TomlError, read_toml, text_of
from lacec.policytest.places import Path, Places

MOST_BYTES = 2**22
Table = Mapping[str, Any]


class Tables:
    """One file, and what was found wrong with it."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.problems: list[Diagnostic] = []
        self.document: dict[str, Any] = {}
        self.places = Places("")
        if len(content) > MOST_BYTES:
            self._at(1, f"the file has more than {MOST_BYTES} bytes", "split it")
            return
        try:
            self.document = read_toml(content)
            self.places = Places(text_of(content))
        except TomlError as error:
            self._at(error.line, error.message, None)

    def wrong(self, path: Sequence[str | int], message: str, help: str | None = None) -> None:
        self._at(self.places.line(path), message, help)

    def _at(self, line: int, message: str, help: str | None) -> None:
        self.problems.append(Diagnostic("bad-test", message, place(self.name, line, (0, 0)), help))

    def known(self, path: Path, table: Table, keys: Collection[str], what: str) -> None:
        """Refuse keys that mean nothing."""
        for key in table:
            if key not in keys:
                close = nearest(key, keys)
                help = f"did you mean `{close}`?" if close else f"there are {', '.join(keys)}"
                self.wrong((*path, key), f"{what} has no key {quote(key)}", help)

    def tables(self, path: Path, value: Any) -> list[tuple[Path, Table]]:
        """The tables of a list."""
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self.wrong(path, f"`{path[-1]}` is no list of tables", f"write [[{path[-1]}]]")
            return []
        return [((*path, number), each) for number, each in enumerate(value)]

    def table(self, path: Path, value: Any) -> Table:
        if isinstance(value, dict):
            return value
        self.wrong(path, f"`{path[-1]}` is no table", f"write [{path[-1]}], or {{ … }}")
        return {}

    def text(self, path: Path, table: Table, key: str) -> str | None:
        value = table.get(key)
        if value is None or isinstance(value, str):
            return value
        self.wrong((*path, key), f"`{key}` is no text", "write it in quotes")
        return None

    def truth(self, path: Path, table: Table, key: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.wrong(
                (*path, key), f"`{key}` is neither true nor false", "write it without quotes"
            )
        return value is True

    def texts(self, path: Path, table: Table, key: str) -> tuple[str, ...]:
        """A list of texts, or one."""
        value = table.get(key, [])
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        self.wrong((*path, key), f"`{key}` is no list of texts", f'write {key} = ["…", "…"]')
        return ()
