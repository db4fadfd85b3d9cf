"""Exchanges on the command line: who takes part, from options; what is printed of a result."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import typer

from lacec.cli.commands.store.common import read_hash
from lacec.cli.keys import load_secret
from lacec.cli.plan import Reader, read_exposure
from lacec.cli.progress import Staying, attending
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import Segment, write, write_json
from lacec.cli.render.report import limit_help, stopped_by_limit
from lacec.core.diagnostics import visible
from lacec.core.errors import LimitError
from lacec.core.facets import SHORTCUTS, Facet
from lacec.core.limits import Limits
from lacec.core.origins import OriginMode
from lacec.pipeline import Input
from lacec.plan.expose import LocalPolicy
from lacec.plan.lowerings import LOWERINGS, STANDARD
from lacec.plan.operands import Operand
from lacec.records.coordinates import Coordinate, CoordinateError, read_coordinate
from lacec.runtime.exchange.cursors import FileCursors
from lacec.runtime.exchange.in_process import (
    Decider,
    Move,
    Participant,
    dry_run,
    limit_exceeded,
    make_pair,
    system_clock,
)
from lacec.runtime.exchange.operations import select_coordinate, select_hashes
from lacec.runtime.exchange.recording.recorder import NAMES, Recorder
from lacec.runtime.exchange.side import Policy
from lacec.runtime.exchange.watch import Watch, stay
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.driver import Pair
from lacec.runtime.interlace.reasons import LIMITS, REASONS
from lacec.runtime.interlace.result import Result
from lacec.store.store import Store

Operation = tuple[str | None, str | None, list[str] | None]


@dataclass(frozen=True)
class SideOptions:
    """What the command line says of one side."""

    name: str
    store: Path
    policy: str | None
    expose: Sequence[str]


def two_sides(
    stores: tuple[Path, Path],
    policies: tuple[str | None, str | None],
    expose: tuple[Sequence[str], Sequence[str]],
) -> tuple[SideOptions, SideOptions]:
    if stores[0].resolve() == stores[1].resolve():
        raise typer.BadParameter("an exchange takes two different stores")
    left, right = map(SideOptions, NAMES, stores, policies, expose)
    return left, right


def participants(
    sides: tuple[SideOptions, SideOptions],
    stores: tuple[Store, Store],
    keys: tuple[Path | None, Path | None],
    operation: Operation,
    advertise: Sequence[str] | None,
    origins: OriginMode,
    lowering: str | None,
    limits: Limits,
    json: bool,
) -> tuple[Participant, Participant]:
    """Both sides; everything that is wrong with their files is reported together."""
    verifiers = read_verifiers(keys)
    policies = read_policies(sides, operation, origins, lowering, limits, json)
    fields = read_fields(advertise)
    left, right = (
        Participant(store, policy, verifier, FileCursors(store.folder), fields)
        for store, policy, verifier in zip(stores, policies, verifiers, strict=True)
    )
    return left, right


def read_verifiers(keys: tuple[Path | None, Path | None]) -> tuple[str | None, str | None]:
    """Whom the secrets of both sides belong to."""
    left, right = (None if key is None else load_secret(key).verifier for key in keys)
    return left, right


def read_policies(
    sides: tuple[SideOptions, SideOptions],
    operation: Operation,
    origins: OriginMode,
    lowering: str | None,
    limits: Limits,
    json: bool,
) -> tuple[Policy, Policy]:
    """What both sides bring; people are told when one can send nothing."""
    check_lowering(lowering)
    generated = read_operation(operation)
    files = [name for side in sides for name in (side.policy, *side.expose) if name == "-"]
    if len(files) > 1:
        raise typer.BadParameter("standard input (-) can be read only once")
    reader = Reader(limits, json)
    found = []
    for index, side in enumerate(sides):
        source = generated if index == 0 and generated is not None else None
        if source is None and side.policy is None:
            name = side.name
            raise typer.BadParameter(f"the {name} side has no selector: give --{name}-policy")
        found.append(read_policy(reader, side, index, source, origins, lowering))
    reader.finish()
    left, right = (policy for policy in found if policy is not None)
    if not json:
        write(_exposure_notes((left, right)), sys.stderr)
    return left, right


def check_lowering(name: str | None) -> None:
    if name is not None and name not in LOWERINGS:
        raise typer.BadParameter(f"there is no lowering {name!r}, only {', '.join(LOWERINGS)}")


def read_operation(operation: Operation) -> Input | None:
    """The selector of an operation, if there is one."""
    get, below, put = operation
    given = [name for name, value in (("get", get), ("list", below), ("put", put)) if value]
    if len(given) > 1:
        raise typer.BadParameter(f"--{given[0]} and --{given[1]} are two operations: give one")
    if put:
        return "<put>", select_hashes(dict.fromkeys(read_hash(text) for text in put))
    text = get or below
    if not text:
        return None
    try:
        where = read_coordinate(text)
    except CoordinateError as error:
        raise typer.BadParameter(str(error)) from None
    prefix = isinstance(where, Coordinate) and where.prefix
    if get and prefix:
        raise typer.BadParameter(f"{text!r} is a prefix: --list selects what is below it")
    if below and not prefix:
        raise typer.BadParameter(f"{text!r} is no prefix: --get selects what is there")
    return f"<{given[0]}>", select_coordinate(where)


def read_policy(
    reader: Reader,
    side: SideOptions,
    index: int,
    generated: Input | None,
    origins: OriginMode,
    lowering: str | None,
) -> Policy | None:
    """What a side brings, by its files; None if the reader found something wrong."""
    if generated is not None:
        module = reader.module(generated, Facet.SELECTOR, reader.limits)
    else:
        module = reader.file(side.policy or "", Facet.SELECTOR, reader.limits)
    own = None if module is None else Operand(index, module)
    exposures = [read_exposure(reader, name, own) for name in dict.fromkeys(side.expose)]
    if own is None:
        return None
    local = LocalPolicy(tuple(module for module in exposures if module is not None))
    return Policy(own, local, origins, lowering or STANDARD)


def read_fields(advertise: Sequence[str] | None) -> Schema:
    names = frozenset(advertise or ())
    return Schema(every=True) if "all" in names else Schema(names)


def _exposure_notes(both: Sequence[Policy]) -> Iterator[Segment]:
    """In plain words, when a side can send nothing."""
    for name, other, policy in zip(NAMES, reversed(NAMES), both, strict=True):
        if not policy.local.exposures:
            yield (
                f"the {name} side exposes nothing: the selector of the {other} sees no record "
                f"there, so nothing is sent from {name} to {other} but what it names itself; "
                f"expose with --{name}-expose FILE, {' or '.join(SHORTCUTS)}\n",
                "dim",
            )


def run_pair(
    both: tuple[Participant, Participant],
    stores: tuple[Store, Store],
    staying: Staying | None,
    record: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    """Run an exchange, bounded or open, and print what came of it."""
    ticks = None if staying is None else staying.tick_interval
    watches = [Watch(store) for store in stores]  # before the exchange first reads them
    with ExitStack() as stack:
        write = None if record is None else stack.enter_context(_created(record)).write
        pair = make_pair(*both, system_clock, limits, ticks, write)
        attention = stack.enter_context(attending(pair, staying))
        pair.run()
        if staying is not None:
            stay(pair, watches, attention.wait)
        if isinstance(pair.trace, Recorder):
            pair.trace.finish(pair.seats)
    report(pair, json, attention.interrupted)


def _created(path: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"cannot write {path}: {reason}"
        raise typer.BadParameter(message, param_hint="--record") from None


def run_dry(both: tuple[Participant, Participant], limits: Limits, json: bool) -> None:
    """Print what an exchange would move."""
    attention = []

    def run(pair: Pair) -> None:
        with attending(pair) as found:
            attention.append(found)
            pair.run()

    try:
        pair, moves = dry_run(*both, system_clock, limits, run)
    except LimitError as error:  # who decides takes more work to find out than what is decided
        stopped_by_limit(error, json)
    report_moves(pair, moves, json, attention[0].interrupted)


# What is printed.


def results_of(pair: Pair) -> tuple[Result, Result]:
    left, right = (seat.result for seat in pair.seats)
    assert left is not None
    assert right is not None
    return left, right


def report(pair: Pair, json: bool, interrupted: bool) -> None:
    """The result of each side; the exit code says whether they converged."""
    results = results_of(pair)
    if json:
        write_json({name: r.json() for name, r in zip(NAMES, results, strict=True)})
    else:
        write(table(NAMES, results))
        write(ending(NAMES, results))
    finish(limit_exceeded(pair), results, interrupted, json)


def report_moves(pair: Pair, moves: Sequence[Move], json: bool, interrupted: bool) -> None:
    """Every record that would move, its direction, and the rules that decide."""
    results = results_of(pair)
    if json:
        document: dict[str, Any] = {"moves": [_move_json(move) for move in moves]}
        write_json(document | {n: r.json() for n, r in zip(NAMES, results, strict=True)})
    else:
        for move in moves:
            write(_move_text(move))
        size = sum(move.size for move in moves)
        write([(f"{counted(len(moves), 'record')}, {size} bytes would move\n", "bold")])
        write(ending(NAMES, results))
    finish(limit_exceeded(pair), results, interrupted, json)


def _move_json(move: Move) -> dict[str, Any]:
    return {
        "hash": move.hash,
        "bytes": move.size,
        "from": NAMES[1 - move.to],
        "to": NAMES[move.to],
        "sent_by": [_rule_json(rule) for rule in move.sent_by],
        "requested_by": [_rule_json(rule) for rule in move.requested_by],
    }


def _rule_json(decider: Decider) -> dict[str, Any]:
    rule = decider.rule
    return {
        "operand": decider.index,
        "rule": rule.id,
        "text": rule.text,
        "file": rule.file,
        "line": rule.line,
    }


def _move_text(move: Move) -> Iterator[Segment]:
    yield f"{NAMES[1 - move.to]} → {NAMES[move.to]}  ", "dim"
    yield move.hash, "bold"
    yield f"  {move.size} bytes\n", ""
    for what, deciders in (("sent", move.sent_by), ("requested", move.requested_by)):
        for each in deciders:
            place = f"{visible(each.rule.file)}:{each.rule.line}"
            yield f"  {what:9} by {NAMES[each.index]:5}  {place}  ", "dim"
            yield f"{visible(each.rule.text)}\n", ""


def table(names: Sequence[str], results: Sequence[Result]) -> Iterator[Segment]:
    """What each side has received, and more."""
    heads = ("received", "rejected", "not available", "bytes in", "bytes out")
    yield "       " + "".join(f"  {head:>13}" for head in heads) + "\n", "dim"
    for name, result in zip(names, results, strict=True):
        numbers = (
            len(result.received_hashes),
            len(result.rejected_hashes),
            len(result.not_available_hashes),
            result.bytes_received,
            result.bytes_sent,
        )
        yield f"{name:7}", "bold"
        yield "".join(f"  {number:13}" for number in numbers) + "\n", ""


def ending(names: Sequence[str], results: Sequence[Result]) -> Iterator[Segment]:
    """Whether they converged, and if not, why."""
    if all(result.converged for result in results):
        yield f"converged after {counted(results[0].loops, 'loop')}\n", "green"
        return
    for name, result in zip(names, results, strict=True):
        if result.aborted is not None:
            yield f"not converged: {name}: {result.aborted}", "bold red"
            yield f": {visible(detail_of(result))}\n", ""
        elif not result.converged:
            yield f"not converged: {name}", "bold red"
            yield f": {visible(result.detail)}\n", ""


def detail_of(result: Result) -> str:
    """Why an exchange ended early, in words."""
    return "" if result.aborted is None else result.detail or REASONS[result.aborted]


def finish(
    exceeded: LimitError | None,
    results: Sequence[Result],
    interrupted: bool,
    json: bool,
    late: bool = False,
) -> None:
    """End with the exit code that says what became of an exchange."""
    if exceeded is not None and not json:
        write([(f"  = help: {limit_help(exceeded)}\n", "")], sys.stderr)
    if interrupted:
        raise typer.Exit(130)
    if all(result.converged for result in results):
        return
    reasons = {result.aborted for result in results} - {None}
    limited = exceeded is not None or late or (bool(reasons) and reasons <= LIMITS)
    raise typer.Exit(3 if limited else 1)
