"""Plans on the command line: operands, setup and local policy from options; what is printed."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import typer

from lacec.canonical.module import Module
from lacec.check.spelling import nearest
from lacec.cli.facts import read_all_facts
from lacec.cli.modules import read_linked
from lacec.cli.options import OneSide
from lacec.cli.render.diagnostics import render
from lacec.cli.render.output import Segment, write, write_json, write_lines
from lacec.cli.render.report import refuse
from lacec.core.diagnostics import Diagnostic, visible
from lacec.core.errors import FactError, PlanError
from lacec.core.facets import SHORTCUTS, Facet
from lacec.core.limits import Limits
from lacec.core.origins import Origin, OriginMode
from lacec.core.predicates import Predicate
from lacec.engine.side import PROFILE_FACTS, SideEvaluation, evaluate_side
from lacec.facts.bulk_reader import write_facts
from lacec.pipeline import Input, compile_sources
from lacec.plan.exchange import ExchangePlan, make_plan
from lacec.plan.expose import LocalPolicy, expose_all, expose_selected
from lacec.plan.lower import CAN_QUERY, MAY_REQUEST, MAY_SEND, SideProgram
from lacec.plan.lowerings import STANDARD
from lacec.plan.operands import Operand
from lacec.plan.origins import Party
from lacec.vm.database import Database


@dataclass
class Reader:
    """Compiles the modules of a command; what is wrong with them is reported together."""

    limits: Limits
    json: bool
    sources: dict[str, str | bytes] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failed: bool = False

    def file(self, name: str, facet: Facet, limits: Limits) -> Module | None:
        """The module of a file, with what its `lace.toml` links to it."""
        source, *linked = read_linked(name, None, limits)
        return self.module(source, facet, limits, linked)

    def module(
        self, source: Input, facet: Facet, limits: Limits, linked: Sequence[Input] = ()
    ) -> Module | None:
        outcome = compile_sources([source, *linked], facet, limits)
        self.sources.update([source, *linked])
        self.diagnostics += [d for d in outcome.diagnostics if d not in self.diagnostics]
        self.failed |= outcome.module is None
        return outcome.module

    def finish(self) -> None:
        """Refuse what has errors; show warnings to people."""
        if self.failed:
            refuse(self.diagnostics, self.sources, self.json)
        if not self.json:
            write(render(self.diagnostics, self.sources), sys.stderr)


@dataclass(frozen=True)
class Setup:
    """The options of setup, by operand index."""

    verifiers: tuple[str | None, str | None]
    nonces: tuple[str | None, str | None]
    origins: OriginMode
    lowering: str | None


@dataclass(frozen=True)
class Policy:
    """The options of local policy."""

    expose: Sequence[str] = ()
    narrow: Sequence[str] = ()
    trust_peer: bool = False


def read_setup(
    one: OneSide, expose: Sequence[str] | None, origins: OriginMode, lowering: str | None
) -> tuple[Setup, Policy]:
    """The options of one side, as setup and local policy."""
    verifiers, nonces = (one.verifier0, one.verifier1), (one.nonce0, one.nonce1)
    setup = Setup(verifiers, nonces, origins, lowering)
    return setup, Policy(expose or (), one.narrow or (), one.trust_peer)


def two_files(files: Sequence[str]) -> None:
    if len(files) != 2:
        raise typer.BadParameter(f"a plan takes two files, one for each operand, not {len(files)}")


def read_plan(files: Sequence[str], setup: Setup, limits: Limits, json: bool) -> ExchangePlan:
    """The plan of two files, both canonicalised."""
    reader = Reader(limits, json)
    operands = _operands(reader, files, None)
    reader.finish()
    return _plan([operand for operand in operands if operand is not None], setup)


def read_side(
    files: Sequence[str], side: int | None, setup: Setup, policy: Policy, limits: Limits, json: bool
) -> tuple[ExchangePlan, SideProgram, Reader]:
    """What one side runs: its own file, the peer's, and its local policy."""
    two_files(files)
    if side is None:
        raise typer.BadParameter("say which operand is this side's own: --side 0 or --side 1")
    reader = Reader(limits, json)
    names = [name for name in (*policy.expose, *policy.narrow) if name not in SHORTCUTS]
    if [*files, *names].count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once")
    operands = _operands(reader, files, side)
    own = operands[side]
    exposures = [read_exposure(reader, name, own) for name in policy.expose]
    narrow = [read_exposure(reader, name, own) for name in policy.narrow]
    reader.finish()
    plan = _plan([operand for operand in operands if operand is not None], setup)
    local = LocalPolicy(
        tuple(module for module in exposures if module is not None),
        policy.trust_peer,
        tuple(module for module in narrow if module is not None),
    )
    return plan, plan.side(side, local), reader


def _operands(reader: Reader, files: Sequence[str], side: int | None) -> list[Operand | None]:
    """Both operands; that of the peer is held to the limits of one (D12)."""
    two_files(files)
    found: list[Operand | None] = []
    if list(files).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once")
    for index, name in enumerate(files):
        theirs = side is not None and index != side
        limits = reader.limits.of(Origin.PEER) if theirs else reader.limits
        module = reader.file(name, Facet.SELECTOR, limits)
        found.append(None if module is None else Operand(index, module))
    return found


def read_exposure(reader: Reader, name: str, own: Operand | None) -> Module | None:
    if name == "all":
        return expose_all(reader.limits)
    if name == "selected":
        return None if own is None else expose_selected(own, reader.limits)
    close = nearest(name, SHORTCUTS)
    if close is not None and not os.path.exists(name):
        message = f"there is no file {name}; did you mean {close}?"
        raise typer.BadParameter(message, param_hint="--expose")
    return reader.file(name, Facet.EXPOSE, reader.limits)


def _plan(operands: Sequence[Operand], setup: Setup) -> ExchangePlan:
    try:
        one, other = zip(setup.verifiers, setup.nonces, strict=True)
        parties = Party(*one), Party(*other)
        return make_plan(operands, parties, setup.origins, setup.lowering or STANDARD)
    except PlanError as error:
        raise typer.BadParameter(str(error)) from None


def derived_names(plan: ExchangePlan, program: SideProgram) -> set[Predicate]:
    """What rules derive, by the names of the operands and of the lowered rules."""
    modules = [program.main, program.gates, *(operand.module for operand in plan.operands)]
    modules += [*program.policy.exposures, *program.policy.narrow]
    return {predicate for module in modules for group in module.groups for predicate in group}


@contextmanager
def read_side_facts(
    names: list[str] | None,
    store: Path | None,
    plan: ExchangePlan,
    program: SideProgram,
    reader: Reader,
) -> Iterator[Database]:
    """The facts of a side, from a store and files; any that no exchange has are refused."""
    derived, limits, json = derived_names(plan, program), reader.limits, reader.json
    with read_all_facts(names, store, derived, limits, json, PROFILE_FACTS) as found:
        database, wrong, files = found
        if wrong:
            refuse((*reader.diagnostics, *wrong), reader.sources | files, json)
        yield database


def evaluate_plan(
    files: Sequence[str],
    side: int | None,
    setup: Setup,
    policy: Policy,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    """What one side may send and request."""
    plan, program, reader = read_side(files, side, setup, policy, limits, json)
    with read_side_facts(facts, store, plan, program, reader) as database:
        _print_side(evaluate_side(program, database, limits), json)


def _print_side(found: SideEvaluation, json: bool) -> None:
    program = found.program
    if json:
        write_json(
            {
                "may_send": found.may_send,
                "may_request": found.may_request,
                "can_query": found.can_query,
            }
        )
        return
    write([(exposure_note(program, bool(found.may_send)) + "\n", "dim")], sys.stderr)
    rows: dict[Predicate, list[tuple[str, ...]]] = {
        CAN_QUERY: [(program.viewer, record) for record in found.can_query],
        MAY_REQUEST: [(record,) for record in found.may_request],
        MAY_SEND: [(record,) for record in found.may_send],
    }
    try:
        for predicate, facts_of in rows.items():
            write_lines(write_facts(predicate, facts_of))
    except FactError as error:
        raise typer.BadParameter(f"{error}; --json can hold every value") from None


# What is printed of a plan.


def plan_json(plan: ExchangePlan) -> dict[str, Any]:
    return {
        "id": plan.id,
        "transcript": plan.transcript,
        "operands": [
            {
                "index": operand.index,
                "id": operand.module.id,
                "origin": origin.text,
                "verifier": origin.verifier,
            }
            for operand, origin in zip(plan.operands, plan.origins, strict=True)
        ],
        "required_fields": list(plan.required.names),
        "all_fields": plan.required.all,
        "provenance": list(plan.provenance),
    }


def print_plan(plan: ExchangePlan, folder: Path | None, json: bool) -> None:
    if folder is not None:
        _write_files(plan, folder)
    if json:
        write_json(plan_json(plan))
    else:
        write(_plan_text(plan))


def _plan_text(plan: ExchangePlan) -> Iterator[Segment]:
    yield f"{plan.id}\n\n", "bold"
    for operand, origin in zip(plan.operands, plan.origins, strict=True):
        verifier = f"  {visible(origin.verifier)}" if origin.verifier else ""
        yield f"operand {operand.index}  ", "dim"
        yield f"{operand.module.id}  {visible(origin.text)}{verifier}\n", ""
    fields = "all" if plan.required.all else ", ".join(plan.required.names) or "none"
    yield "advertised fields  ", "dim"
    yield f"{visible(fields)}\n\n", ""
    yield "".join(f"{visible(line)}\n" for line in plan.transcript.split("\n")), ""


def _write_files(plan: ExchangePlan, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan.transcript").write_bytes(plan.transcript.encode("utf-8"))
        provenance = "".join(f"{fact}\n" for fact in plan.provenance)
        (folder / "plan.provenance").write_bytes(provenance.encode("utf-8"))
    except OSError as error:
        _cannot_write(folder, error)


def _cannot_write(folder: Path, error: OSError) -> NoReturn:
    reason = (error.strerror or str(error)).lower()
    raise typer.BadParameter(f"cannot write to {folder}: {reason}") from None


def exposure_note(program: SideProgram, sending: bool) -> str:
    """In plain words, what the peer's selector sees here."""
    if program.policy.trust_peer:
        return "the peer is trusted: its selector sees every record"
    if program.policy.exposures:
        return f"the viewer is {visible(program.viewer)}"
    outcome = "it selects only what it names itself" if sending else "nothing is sent"
    return (
        f"nothing is exposed to the peer: its selector sees no record here, and {outcome}; "
        "expose with --expose FILE, selected or all"
    )
