"""Facts of a command: files read into a database, and what is wrong with them."""

from collections.abc import Container
from pathlib import Path

from lacec.cli.files import STDIN, read_file
from lacec.diagnostics import Diagnostic, place
from lacec.errors import FactError
from lacec.limits import Limits
from lacec.predicates import Predicate
from lacec.vm.database import Database
from lacec.vm.factlines import read_facts
from lacec.vm.tables import read_csv, read_parquet

FactFiles = dict[str, str | bytes]

# More than the facts of any limit take: a fact has at most eight values of a kilobyte.
MOST_BYTES = 2**37


def read_fact_files(
    names: list[str] | None, derived: Container[Predicate], limits: Limits
) -> tuple[Database, tuple[Diagnostic, ...], FactFiles]:
    """The facts of all files; a fact of a derived predicate is refused."""
    database = Database()
    found: list[Diagnostic] = []
    files: FactFiles = {}
    for name in names or ():
        known = set(database.predicates())
        try:
            if name.endswith(".parquet"):
                read_parquet(Path(name), Path(name).stem, database, limits)
                files[name] = b""
            else:
                shown, content = read_file(name, MOST_BYTES)
                files[shown] = content
                if name.endswith(".csv"):
                    read_csv(shown, content, Path(name).stem, database, limits)
                else:
                    found.extend(read_facts(shown, content, database, limits))
        except FactError as error:
            files.setdefault(name, b"")
            found.append(Diagnostic("bad-fact", str(error), place(name, 1, (0, 0))))
        shown = STDIN if name == "-" else name
        added = [p for p in database.predicates() if p in derived and p not in known]
        found.extend(_derived(shown, files[shown], predicate) for predicate in added)
    return database, tuple(found), files


def _derived(name: str, content: str | bytes, predicate: Predicate) -> Diagnostic:
    """A fact that rules define, at the first line that has it."""
    lines = content.split(b"\n") if isinstance(content, bytes) else []
    start = f"{predicate.name}(".encode()
    number = next((n for n, line in enumerate(lines, 1) if line.lstrip().startswith(start)), 1)
    return Diagnostic(
        "derived-fact",
        f"`{predicate}` is derived by rules, so it cannot be given as a fact",
        place(name, number, (0, len(predicate.name))),
        "give the facts under another name, and derive from that",
    )
