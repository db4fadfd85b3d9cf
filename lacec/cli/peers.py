"""peers.toml: with whom a listener exchanges what, by verifier.

    [alice]
    verifier = "V.…"
    policy = "alice.lace"              # what --policy says, unless told
    expose = ["selected"]              # what --expose says, unless told
    advertise = ["Name"]               # what --advertise says, unless told
    links = 4                          # at once; as many as there may be, unless told
    limits = { max_loop_iterations = 8 }

Who is not in it gets what the command line says, or is turned away if that has no --policy.
Paths are relative to the file's folder. Everything that is wrong is found together.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lacec.check.spelling import nearest
from lacec.core.diagnostics import quote
from lacec.core.facets import SHORTCUTS
from lacec.core.toml import TomlError, read_toml
from lacec.records.signature import is_verifier
from lacec.runtime.interlace.limits import HIGHEST_VALUE, LIMIT_NAMES, LOWEST

MOST_BYTES = 2**20
MOST_LINKS = 2**20
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROLLED = "has a control character, which stands in no name of a file"


@dataclass(frozen=True)
class Peer:
    """One entry; what is None is as the command line says."""

    name: str
    verifier: str
    policy: str | None = None
    expose: Sequence[str] | None = None
    advertise: Sequence[str] | None = None
    links: int | None = None
    limits: dict[str, int] = field(default_factory=dict)


class PeersError(Exception):
    """What is wrong with a file of peers: a line for each problem."""

    def __init__(self, path: Path, problems: Sequence[str]) -> None:
        self.problems = [f"{path}: {problem}" for problem in problems]
        super().__init__("\n".join(self.problems))


def read_peers(path: Path) -> list[Peer]:
    """The entries of a file; PeersError if it cannot be read, or anything in it is wrong."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise PeersError(path, [f"it has more than {MOST_BYTES} bytes"])
        document = read_toml(data)
    except OSError as error:
        raise PeersError(path, [(error.strerror or str(error)).lower()]) from None
    except TomlError as error:
        raise PeersError(path, [str(error)]) from None
    entries = _Entries(path)
    for name, value in document.items():
        entries.read(name, value)
    if not document:
        entries.problems.append('there is no peer in it; write [name] and verifier = "V.…" below')
    if entries.problems:
        raise PeersError(path, entries.problems)
    return entries.peers


class _Entries:
    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self.peers: list[Peer] = []
        self.problems: list[str] = []

    def read(self, name: str, value: object) -> None:
        if not isinstance(value, dict):
            self.problems.append(f"{quote(name)} stands outside of a peer; write [name] first")
            return
        found: dict[str, Any] = {}
        before = len(self.problems)
        for key, given in value.items():
            if key not in _KEYS:
                close = nearest(key, _KEYS)
                hint = f"did you mean {close}?" if close else f"there are {', '.join(_KEYS)}"
                self._wrong(name, f"there is no {quote(key)}; {hint}")
                continue
            wrong = _KEYS[key](given)
            if wrong is not None:
                self._wrong(name, f"{key} {wrong}")
            found[key] = given
        if "verifier" not in value:
            self._wrong(name, "verifier is missing; `lacec key show FILE` prints one")
        same = [peer.name for peer in self.peers if peer.verifier == found.get("verifier")]
        if same:
            self._wrong(name, f"has the verifier of [{same[0]}]")
        if len(self.problems) == before:
            self.peers.append(Peer(name, **self._placed(found)))

    def _placed(self, found: dict[str, Any]) -> dict[str, Any]:
        """With paths as they are seen from here."""
        if "policy" in found:
            found["policy"] = self._path(found["policy"])
        if "expose" in found:
            found["expose"] = [self._path(each) for each in found["expose"]]
        return found

    def _path(self, name: str) -> str:
        if name in SHORTCUTS or name.startswith("std:"):
            return name
        return str(self._folder / name)

    def _wrong(self, name: str, what: str) -> None:
        self.problems.append(f"[{quote(name)[1:-1]}] {what}")


# What is wrong with the value of a key; None if nothing is.


def _verifier(value: object) -> str | None:
    if isinstance(value, str) and is_verifier(value):
        return None
    return "is no verifier; `lacec key show FILE` prints one"


def _file(value: object) -> str | None:
    if not isinstance(value, str) or value in ("", "-"):
        return "is the name of a file"
    return _CONTROLLED if _CONTROL.search(value) else None


def _files(value: object) -> str | None:
    wrong = _texts(value)
    if wrong is None and isinstance(value, list) and any(map(_CONTROL.search, value)):
        return _CONTROLLED
    return wrong


def _texts(value: object) -> str | None:
    if isinstance(value, list) and all(isinstance(each, str) and each for each in value):
        return None
    return 'is a list of texts, as in ["selected"]'


def _links(value: object) -> str | None:
    if type(value) is int and 1 <= value <= MOST_LINKS:
        return None
    return f"is a number from 1 to {MOST_LINKS}"


def _limits(value: object) -> str | None:
    if not isinstance(value, dict):
        return "is a table, as in { max_loop_iterations = 8 }"
    for name, number in value.items():
        if name not in LIMIT_NAMES:
            close = nearest(name, LIMIT_NAMES)
            hint = f"did you mean {close}?" if close else f"there are {', '.join(LIMIT_NAMES)}"
            return f"has no {quote(name)}; {hint}"
        lowest = getattr(LOWEST, name)
        if type(number) is not int or not lowest <= number <= HIGHEST_VALUE:
            return f"has {name}, a number of at least {lowest}"
    return None


_KEYS: dict[str, Callable[[object], str | None]] = {
    "verifier": _verifier,
    "policy": _file,
    "expose": _files,
    "advertise": _texts,
    "links": _links,
    "limits": _limits,
}
