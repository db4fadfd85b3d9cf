"""Operations: selectors that are generated instead of written (050 Operations).

*get* and *list* select what is at a coordinate, or below a prefix of one; *put* selects
records by their hashes. Each is an ordinary operand: the peer's policy still decides.

    SelectHave(P) :- Field(P,'Group',_,'u'), Field(P,'Name',_,N), TextShape(N,'links/','','').
"""

from collections.abc import Iterable

from lacec.records.coordinates import Coordinate, HashAddress
from lacec.syntax.show import show_constant


def select_coordinate(where: Coordinate | HashAddress) -> str:
    """The selector of what a coordinate means: one place, or all below a prefix."""
    if isinstance(where, HashAddress):
        return select_hashes([where.hash])
    here = ", ".join(_atoms(where, "Field(P,"))
    there = ", ".join(_atoms(where, "AdvertisedField(P,S,"))
    return f"SelectHave(P) :- {here}.\nSelectAdvertised(P,S) :- {there}.\n"


def _atoms(where: Coordinate, field: str) -> Iterable[str]:
    yield f"{field}'Group',_,{show_constant(where.group)})"
    if where.app is not None:
        yield f"{field}'App',_,{show_constant(where.app)})"
    if where.name is not None and where.prefix:
        yield f"{field}'Name',_,N)"
        yield f"TextShape(N,{show_constant(where.name)},'','')"
    elif where.name is not None:
        yield f"{field}'Name',_,{show_constant(where.name)})"


def select_hashes(hashes: Iterable[str]) -> str:
    """The selector of some records."""
    shown = [show_constant(hash) for hash in hashes]
    here = [f"SelectHave({hash}) :- Have({hash})." for hash in shown]
    there = [f"SelectAdvertised({hash},S) :- Advertised({hash},S)." for hash in shown]
    return "".join(f"{rule}\n" for rule in (*here, *there))
