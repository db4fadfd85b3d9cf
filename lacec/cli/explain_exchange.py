"""Why a record moves between two stores or does not, as `lacec explain HASH` prints it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from lacec.cli.exchange import (
    SideOptions,
    detail_of,
    ending,
    finish,
    participants,
    results_of,
)
from lacec.cli.output import Segment, write, write_json
from lacec.cli.report import stopped_by_limit
from lacec.cli.store.common import opened, read_hash
from lacec.cli.why import explanation_text
from lacec.errors import LimitError
from lacec.limits import Limits
from lacec.proof import Proof
from lacec.runtime.exchange import limit_exceeded, system_clock
from lacec.runtime.explaining import OUTCOMES, Direction, explain_exchange
from lacec.runtime.interlace.result import Result
from lacec.runtime.recording.recorder import NAMES
from lacec.views import OriginMode


def print_exchange_why(
    text: str,
    sides: tuple[SideOptions, SideOptions],
    keys: tuple[Path | None, Path | None],
    advertise: Sequence[str] | None,
    origins: OriginMode,
    lowering: str | None,
    limits: Limits,
    json: bool,
) -> None:
    hash = read_hash(text)
    with ExitStack() as stack:
        if sides[0].store.resolve() == sides[1].store.resolve():
            raise typer.BadParameter("an exchange takes two different stores")
        stores = [stack.enter_context(opened(side.store, json, read_only=True)) for side in sides]
        both = participants(
            sides,
            (stores[0], stores[1]),
            keys,
            (None, None, None),
            advertise,
            origins,
            lowering,
            limits,
            json,
        )
        try:
            pair, found = explain_exchange(*both, hash, system_clock, limits)
        except LimitError as error:
            stopped_by_limit(error, json)
    results = results_of(pair)
    if json:
        document = {"hash": hash, "directions": [each.json(NAMES) for each in found]}
        write_json(document | {n: _end(r) for n, r in zip(NAMES, results, strict=True)})
    else:
        for each in found:
            write(direction_text(each))
        if not all(result.converged for result in results):
            write(ending(NAMES, results))
    finish(limit_exceeded(pair), results, False, json)


def _end(result: Result) -> dict[str, Any]:
    """How the exchange ended on one side."""
    said = {"converged": result.converged, "aborted": result.aborted}
    return said | {"detail": detail_of(result)}


def direction_text(direction: Direction, indent: str = "") -> Iterator[Segment]:
    sender, receiver = NAMES[1 - direction.to], NAMES[direction.to]
    yield f"{indent}{sender} → {receiver}  ", "dim"
    yield f"{OUTCOMES[direction.outcome]}\n", "bold"
    for name, what, found in (
        (sender, "sends", direction.send),
        (receiver, "requests", direction.request),
    ):
        if found is not None:
            how = "because" if isinstance(found, Proof) else "no, because"
            yield f"{indent}  {name} {what} it: {how}\n", "dim"
            yield from explanation_text(found, indent + "    ")
