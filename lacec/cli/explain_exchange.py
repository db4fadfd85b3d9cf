"""Why a record moves between two stores or does not, as `lacec explain HASH` prints it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lacec.cli.commands.store.common import opened, read_hash
from lacec.cli.exchange import (
    SideOptions,
    detail_of,
    ending,
    finish,
    participants,
    results_of,
)
from lacec.cli.render.output import Segment, write, write_json
from lacec.cli.render.report import stopped_by_limit
from lacec.cli.why import explanation_text
from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.origins import OriginMode
from lacec.explain.proof_tree import Proof
from lacec.runtime.exchange.explaining import OUTCOMES, Direction, explain_exchange
from lacec.runtime.exchange.in_process import Participant, limit_exceeded, system_clock
from lacec.runtime.exchange.recording.recorder import NAMES
from lacec.runtime.interlace.result import Result


@dataclass(frozen=True)
class ExchangeAsked:
    """The exchange that is explained, as the command line says it."""

    sides: tuple[SideOptions, SideOptions]
    keys: tuple[Path | None, Path | None]
    advertise: Sequence[str] | None
    origins: OriginMode
    lowering: str | None
    limits: Limits
    json: bool

    @contextmanager
    def participants(self) -> Iterator[tuple[Participant, Participant]]:
        """Both sides, over stores that stay as they are; a limit ends the command."""
        with ExitStack() as stack:
            stores = [
                stack.enter_context(opened(side.store, self.json, read_only=True))
                for side in self.sides
            ]
            both = participants(
                self.sides,
                (stores[0], stores[1]),
                self.keys,
                (None, None, None),
                self.advertise,
                self.origins,
                self.lowering,
                self.limits,
                self.json,
            )
            try:
                yield both
            except LimitError as error:
                stopped_by_limit(error, self.json)


def print_exchange_why(text: str, asked: ExchangeAsked) -> None:
    hash, json = read_hash(text), asked.json
    with asked.participants() as both:
        pair, found = explain_exchange(*both, hash, system_clock, asked.limits)
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
    for side, what, found in direction.explanations:
        how = "because" if isinstance(found, Proof) else "no, because"
        yield f"{indent}  {NAMES[side]} {what} it: {how}\n", "dim"
        yield from explanation_text(found, indent + "    ")
