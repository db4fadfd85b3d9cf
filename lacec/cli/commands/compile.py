"""lacec compile: one module, its canonical text and its identity; or two, and their plan."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lacec.canonical.module import Module
from lacec.cli.files import STDIN
from lacec.cli.modules import facet_of, read_linked
from lacec.cli.options import (
    FacetOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    Nonce0Option,
    Nonce1Option,
    OriginsOption,
    OutputOption,
    PlanFilesArgument,
    PlanOption,
    Verifier0Option,
    Verifier1Option,
    WithOption,
    needs_plan,
    not_with_plan,
    one_argument,
    read_limits,
)
from lacec.cli.render.diagnostics import render
from lacec.cli.render.output import Segment, write, write_json
from lacec.cli.render.report import refuse, stopped_by_limit
from lacec.core.diagnostics import visible
from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.origins import OriginMode
from lacec.pipeline import compile_sources, make_code


def compile_command(
    files: PlanFilesArgument,
    facet: FacetOption = None,
    linked: WithOption = None,
    plan: PlanOption = False,
    verifier0: Verifier0Option = None,
    verifier1: Verifier1Option = None,
    nonce0: Nonce0Option = None,
    nonce1: Nonce1Option = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    limit: LimitOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> None:
    """Check a module, and print its identity, its rules and its strata.

    With -o, write NAME.lacegram (the canonical text), NAME.annotations.json and NAME.lbc
    (the bytecode). With --plan, print the exchange plan of two selectors; -o writes
    plan.transcript and plan.provenance.

    Example: lacec compile policy.lace --json
    """
    limits = read_limits(limit)
    if plan:
        from lacec.cli import plan as plans

        not_with_plan(facet=facet, **{"with": linked})
        setup = plans.Setup((verifier0, verifier1), (nonce0, nonce1), origins, lowering)
        plans.print_plan(plans.read_plan(files, setup, limits, json), output, json)
        return
    file = one_argument(files, "a file")
    needs_plan(verifier0=verifier0, verifier1=verifier1, nonce0=nonce0, nonce1=nonce1)
    needs_plan(origins=origins is not OriginMode.OPAQUE, lowering=lowering)
    inputs = read_linked(file, linked, limits)
    outcome = compile_sources(inputs, facet_of(file, facet), limits)
    if outcome.module is None:
        refuse(outcome.diagnostics, dict(inputs), json)
    if not json:
        write(render(outcome.diagnostics, dict(inputs)), sys.stderr)
    if output is not None:
        name = "stdin" if inputs[0][0] == STDIN else Path(file).stem
        try:
            _write_files(outcome.module, output, name, limits)
        except LimitError as error:
            stopped_by_limit(error, json)
    if json:
        write_json(module_json(outcome.module, linked=len(inputs) > 1))
    else:
        write(_report(outcome.module, inputs[0][0]))


def module_json(module: Module, linked: bool) -> dict[str, Any]:
    """The document of CLI users; rules of linked files say which file they are from."""
    return {
        "id": module.id,
        "canonical": module.canonical,
        "rules": [
            {
                "id": rule.id,
                "line": rule.line,
                "text": rule.text,
                "annotations": dict(rule.annotations),
                **({"file": rule.file} if linked else {}),
            }
            for rule in module.rules
        ],
        "strata": [[str(predicate) for predicate in stratum] for stratum in module.strata],
        "diagnostics": [diagnostic.json() for diagnostic in module.diagnostics],
    }


def _report(module: Module, name: str) -> Iterator[Segment]:
    yield module.id, "bold"
    yield f"  {visible(name)}\n", ""
    if module.rules:
        yield "\n", ""
    for rule in module.rules:
        yield f"{rule.id}  ", "dim"
        yield f"{visible(rule.text)}\n", ""
    if module.strata:
        yield "\n", ""
    for number, stratum in enumerate(module.strata):
        yield f"stratum {number}  ", "dim"
        yield " ".join(str(predicate) for predicate in stratum) + "\n", ""


def _write_files(module: Module, folder: Path, name: str, limits: Limits) -> None:
    from lacec.bytecode.codec import encode

    annotations = json.dumps(module.annotations, ensure_ascii=False, indent=2, sort_keys=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.lacegram").write_bytes(module.canonical.encode("utf-8"))
        (folder / f"{name}.annotations.json").write_bytes(annotations.encode("utf-8") + b"\n")
        (folder / f"{name}.lbc").write_bytes(encode(make_code(module, limits=limits)))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot write to {folder}: {reason}") from None
