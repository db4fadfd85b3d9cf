"""Facts of a command: files read into a database, and what is wrong with them."""

from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path

from lacec.cli.files import STDIN, read_file
from lacec.cli.render.report import stopped_by_limit
from lacec.core.diagnostics import Diagnostic, Place, place
from lacec.core.errors import FactError, LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.facts.bulk_reader import read_facts
from lacec.facts.line import Fact, read_line
from lacec.facts.tables import read_csv, read_parquet
from lacec.vm.database import Database

FactFiles = dict[str, str | bytes]

# More than the facts of any limit take: a fact has at most eight values of a kilobyte.
MOST_BYTES = 2**37


@contextmanager
def read_all_facts(
    names: list[str] | None,
    store: Path | None,
    derived: Container[Predicate],
    limits: Limits,
    json: bool,
    known: Container[Predicate] | None = None,
) -> Iterator[tuple[Database, tuple[Diagnostic, ...], FactFiles]]:
    """The facts of a store, which stays open, and those of files on top.

    A limit that is exceeded, here or by what is done with them, ends the command.
    """
    try:
        if store is None:
            yield read_fact_files(names, derived, limits, known=known)
        else:
            with _store_facts(store, limits, json) as (database, wrong):
                _, more, files = read_fact_files(names, derived, limits, database, known)
                yield database, (*wrong, *more), {str(store): b"", **files}
    except LimitError as error:
        stopped_by_limit(error, json)


@contextmanager
def _store_facts(
    store: Path, limits: Limits, json: bool
) -> Iterator[tuple[Database, tuple[Diagnostic, ...]]]:
    from lacec.cli.commands.store.common import opened

    with opened(store, json, read_only=True) as source:
        try:
            database = source.snapshot().database(limits)
        except FactError as error:
            wrong = Diagnostic("bad-fact", str(error), place(str(store), 1, (0, 0)))
            yield Database(), (wrong,)
        else:
            yield database, ()


def read_fact_files(
    names: list[str] | None,
    derived: Container[Predicate],
    limits: Limits,
    database: Database | None = None,
    known: Container[Predicate] | None = None,
) -> tuple[Database, tuple[Diagnostic, ...], FactFiles]:
    """The facts of all files; one of a derived predicate is refused, or of one not `known`."""
    database = Database() if database is None else database
    found: list[Diagnostic] = []
    files: FactFiles = {}
    for name in names or ():
        before = set(database.predicates())
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
        for predicate in database.predicates():
            if predicate in before:
                continue
            if predicate in derived:
                found.append(_derived(predicate, _first(shown, files[shown], predicate, limits)))
            elif known is not None and predicate not in known:
                found.append(_unknown(predicate, _first(shown, files[shown], predicate, limits)))
    return database, tuple(found), files


def _first(name: str, content: str | bytes, predicate: Predicate, limits: Limits) -> Place:
    """The first line that has a fact of a predicate."""
    lines = content.split(b"\n") if isinstance(content, bytes) else []
    start = predicate.name.encode()
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(start):
            fact = read_line(line, False, limits)
            if isinstance(fact, Fact) and fact.predicate == predicate:
                return place(name, number, (0, len(predicate.name)))
    return place(name, 1, (0, len(predicate.name)))


def _derived(predicate: Predicate, where: Place) -> Diagnostic:
    return Diagnostic(
        "derived-fact",
        f"`{predicate}` is derived by rules, so it cannot be given as a fact",
        where,
        "give the facts under another name, and derive from that",
    )


def _unknown(predicate: Predicate, where: Place) -> Diagnostic:
    return Diagnostic(
        "unknown-fact",
        f"`{predicate}` is no fact of an exchange, so no operand could read it",
        where,
        "a side has record, runtime and advertisement facts; the viewer is that of the plan",
    )
