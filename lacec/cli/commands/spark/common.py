"""What the commands on Spark share: where Spark is, failures in one line, progress."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import typer

from lacec.cli.render.output import write, write_json
from lacec.core.errors import SparkError, StoreError
from lacec.spark.session import MEMORY, Opener, check_installed, session

MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="A cluster, as in spark://host:7077, or local[4]. Unless told, this machine.",
    ),
]
RemoteOption = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="A Spark Connect server, as in sc://host."),
]
MemoryOption = Annotated[
    str,
    typer.Option("--memory", metavar="SIZE", help="Memory of the driver, as in 8g."),
]


def opener(master: str | None, remote: str | None, memory: str = MEMORY) -> Opener:
    """What opens the session that options ask for."""
    if master is not None and remote is not None:
        raise typer.BadParameter("cannot stand beside --master", param_hint="--remote")
    return partial(session, master=master, remote=remote, memory=memory)


@contextmanager
def refusing(json: bool) -> Iterator[None]:
    """What goes wrong within is said in a line, and ends the command with exit code 1."""
    if not logging.root.handlers:  # what py4j logs of an interrupt is nothing for a user
        logging.root.addHandler(logging.NullHandler())
    try:
        check_installed()
        yield
    except (SparkError, StoreError) as error:
        if json:
            write_json({"error": str(error)})
        else:
            write([("error", "bold red"), (f": {error}\n", "")], sys.stderr)
        raise typer.Exit(1) from None


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Say which stage it is, how many bytes are done and how fast, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _stage, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TransferSpeedColumn,
    )

    columns: tuple[Any, ...] = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks: dict[str, Any] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    shown.update(task, visible=False)
                tasks[stage] = shown.add_task(stage, total=total or None)
            shown.update(tasks[stage], completed=done)

        yield tell
