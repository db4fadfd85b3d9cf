"""The records of a snapshot at a coordinate or below it (D2), as a table."""

from dataclasses import replace
from typing import NamedTuple

from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import Predicate
from lacec.engine.evaluation import evaluate
from lacec.pipeline import compile_module
from lacec.records.coordinates import Coordinate, HashAddress
from lacec.store.snapshot import Snapshot
from lacec.syntax.show import show_constant

# The rules are our own, and how many records there are was decided when they were admitted.
_LIMITS = replace(DEFAULT_LIMITS, base_facts=2**62, derived_facts=2**62, intermediate_rows=2**62)
_PLEX = Predicate("Plex", 6)
_BLOB = Predicate("Blob", 2)


class Listed(NamedTuple):
    """A record; a Blob has no coordinates."""

    hash: str
    type: str
    group: str = ""
    app: str = ""
    name: str = ""
    tai: str = ""


def list_records(snapshot: Snapshot, where: Coordinate | HashAddress | None = None) -> list[Listed]:
    """The records that a coordinate means, by coordinate, then TAI; all of them without one."""
    fields = ("Type", "Group", "App", "Name", "TAI")
    atoms = [f"Field(P,'{name}',_,{name})" for name in fields]
    if isinstance(where, Coordinate):
        atoms.append(f"Field(P,'Group',_,{show_constant(where.group)})")
        if where.app is not None:
            atoms.append(f"Field(P,'App',_,{show_constant(where.app)})")
        if where.name is not None and where.prefix:
            atoms.append(f"TextShape(Name,{show_constant(where.name)},'','')")
        elif where.name is not None:
            atoms.append(f"Field(P,'Name',_,{show_constant(where.name)})")
    rules = [f"Plex(P,{','.join(fields)}) :- Have(P), {', '.join(atoms)}."]
    rules.append("Blob(P,T) :- Have(P), Field(P,'Type',_,T), Field(P,'Type',_,'B').")
    module = compile_module([("<list>", "\n".join(rules))])
    outputs = [_PLEX] if isinstance(where, Coordinate) else [_PLEX, _BLOB]
    result = evaluate(module, snapshot.database(_LIMITS), outputs, _LIMITS)
    found = [Listed(*row) for predicate in outputs for row in result.facts(predicate)]
    if isinstance(where, HashAddress):
        return [each for each in found if each.hash == where.hash]
    return sorted(found, key=lambda each: (each[2:], each.hash))
