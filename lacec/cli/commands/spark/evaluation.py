"""What the commands that evaluate on Spark share: their facts, their session, their results."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacec.cli.commands.spark.common import (
    MasterOption,
    MemoryOption,
    RemoteOption,
    opener,
    refusing,
)
from lacec.cli.render.output import write, write_lines
from lacec.cli.render.report import stopped_by_limit
from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.facts.bulk_reader import write_facts
from lacec.spark.session import MEMORY
from lacec.vm.database import Database

if TYPE_CHECKING:
    from lacec.spark.evaluate import Evaluator
    from lacec.spark.scratch import Frame, Session

Tell = Callable[[str], None]
"""Hears what is being done."""

# Of each output so many facts are shown to people; --json and --out have them all.
MOST_SHOWN = 10

CorpusOption = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="DIR",
        help="A folder that `lacec spark ingest` wrote; or a file of facts, as for eval. "
        "Repeatable.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write the results as Parquet, to a new folder."),
]


@dataclass(frozen=True)
class SparkOptions:
    """Where Spark is, and where it may write."""

    master: MasterOption = None
    remote: RemoteOption = None
    memory: MemoryOption = MEMORY
    work: Annotated[
        Path | None,
        typer.Option(
            "--work",
            metavar="DIR",
            help="A folder for tables between steps, which all machines of a cluster see.",
        ),
    ] = None

    @property
    def is_far(self) -> bool:
        """Whether executors may be on other machines."""
        return self.remote is not None or not (self.master or "local").startswith("local")


def folders_and_files(facts: list[str] | None) -> tuple[list[str], list[str]]:
    """The ingested folders among facts, and the others."""
    folders = [name for name in facts or () if Path(name).is_dir()]
    return folders, [name for name in facts or () if name not in folders]


@contextmanager
def evaluating(options: SparkOptions, json: bool) -> "Iterator[tuple[Session, Path]]":
    """A session, and a folder for what it writes in between, which is gone afterwards.

    What goes wrong within is said in a line, and ends the command.
    """
    if options.is_far and options.work is None:
        said = "say which folder all machines of the cluster see, for tables between steps"
        raise typer.BadParameter(said, param_hint="--work")
    with refusing(json):
        from lacec.spark.failures import clear_errors

        start = opener(options.master, options.remote, options.memory)
        try:
            with (
                tempfile.TemporaryDirectory(prefix="lacec-work-", dir=options.work) as folder,
                clear_errors(),
                start() as session,
            ):
                yield session, Path(folder)
        except LimitError as error:
            stopped_by_limit(error, json)


def evaluator(
    session: "Session",
    folder: Path,
    folders: list[str],
    plain: Database,
    limits: Limits,
    tell: Tell,
) -> "Evaluator":
    """What evaluates over ingested folders and plain facts."""
    from lacec.spark.evaluate import Evaluator, Facts
    from lacec.spark.scratch import Work
    from lacec.spark.tables import read_folders

    records = read_folders(session, folders) if folders else None
    work = Work(session, str(folder), tell)
    return Evaluator(session, Facts(records, plain=plain), work, limits)


@contextmanager
def stages() -> Iterator[Tell]:
    """Say what is being done, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting Spark") as status:
        yield status.update


def check_new(out: Path | None) -> None:
    """Refuse, before any work, to write where something is."""
    if out is None:
        return
    if out.exists():
        raise typer.BadParameter(f"{out} is there already: name a new folder", param_hint="--out")
    if not out.absolute().parent.is_dir():
        said = f"the folder {out.absolute().parent} is not there"
        raise typer.BadParameter(said, param_hint="--out")


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder under another name, which has its own once everything in it is complete."""
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.absolute().parent))
    try:
        yield staging
        staging.rename(out)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def write_results(
    frames: "Mapping[Predicate, Frame]",
    out: Path | None,
    folder: Path,
    tell: Tell,
    quiet: bool,
) -> dict[str, int]:
    """A Parquet table NAME.parquet for each output, and how many facts each has.

    Without `quiet` people see that too, and a few facts of each where there is no `out`.
    """
    counts: dict[str, int] = {}
    place = nullcontext(folder) if out is None else new_folder(out)
    with place as target:
        for predicate, frame in frames.items():
            tell(f"computing {predicate}")
            path = str(target / f"{predicate.name}.parquet")
            frame.write.parquet(path)
            written = frame.sparkSession.read.schema(frame.schema).parquet(path)
            counts[str(predicate)] = count = written.count()
            if quiet:
                continue
            write([(f"{count:>12,}", "bold"), (f"  {predicate}\n", "")])
            if out is None and predicate.arity:
                few = sorted(tuple(row) for row in written.limit(MOST_SHOWN).collect())
                write_lines(write_facts(predicate, few))
    if out is None and not quiet:
        write([("all facts: --json, or --out DIR for tables\n", "dim")], sys.stderr)
    return counts
