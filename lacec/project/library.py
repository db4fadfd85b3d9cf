"""The standard library: what each module is for, from the comment that it opens with.

    # signed: records that one of the signers you name has signed.
    #
    # You define:
    #   Signer(V): records signed by the verifier V count.
    #
    # It gives:
    #   BySigner(P): the stored record P is signed by one of them.
    #
    # And whatever else there is to say.

In: the name of a module. Out: its summary, what whoever links it defines, what it gives.
"""

from dataclasses import dataclass
from typing import Any

from lacec.core.predicates import Predicate
from lacec.core.resources import LIBRARY, stdlib_names, stdlib_path


@dataclass(frozen=True)
class Described:
    """A predicate with the names of its terms, and what it means."""

    form: str
    meaning: str

    @property
    def predicate(self) -> Predicate:
        name, _, terms = self.form.removesuffix(")").partition("(")
        return Predicate(name, len(terms.split(",")) if terms else 0)

    def json(self) -> dict[str, str]:
        return {"predicate": str(self.predicate), "form": self.form, "meaning": self.meaning}


@dataclass(frozen=True)
class LibraryModule:
    name: str
    summary: str
    defined: tuple[Described, ...]
    given: tuple[Described, ...]
    notes: str
    text: str

    def json(self) -> dict[str, Any]:
        return {
            "name": f"{LIBRARY}{self.name}",
            "summary": self.summary,
            "you_define": [each.json() for each in self.defined],
            "gives": [each.json() for each in self.given],
        }


def library() -> list[LibraryModule]:
    """All modules, by name."""
    return [library_module(name) for name in stdlib_names()]


def library_module(name: str) -> LibraryModule:
    text = stdlib_path(name).read_text(encoding="utf-8")
    comment = text.partition("\n\n")[0].split("\n")
    first, *parts = "\n".join(line[2:] for line in comment).split("\n\n")
    parts_of = {part.partition("\n")[0].split(",")[0].rstrip(":"): part for part in parts}
    defined = _described(parts_of.pop("You define"))
    given = _described(parts_of.pop("It gives"))
    notes = "\n\n".join(parts_of.values())
    return LibraryModule(name, first.removeprefix(f"{name}: "), defined, given, notes, text)


def _described(part: str) -> tuple[Described, ...]:
    lines = [line.strip() for line in part.split("\n")[1:]]
    return tuple(Described(*line.split(": ", 1)) for line in lines)
