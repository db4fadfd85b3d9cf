"""Why a fact is derived or is not, as `lacec explain` prints it: trees of facts and rules."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import typer

from lacec.check.spelling import nearest
from lacec.cli.plan import Policy, Setup, read_side, read_side_facts
from lacec.cli.program import read_program
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import Segment, write, write_json
from lacec.core.diagnostics import visible
from lacec.core.errors import FactError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate, read_predicate
from lacec.explain.proof_tree import Check, Fact, Fails, Proof, RuleShown, WhyNot
from lacec.explain.provenance import Why, as_fact, explain_module, explain_plan
from lacec.plan.lower import scope_of

# Of many proofs so many are shown to people; --json has them all.
MOST_SHOWN = 20
# What is deeper stands no further to the right: a proof may have a thousand levels.
MOST_INDENTED = 32


@dataclass(frozen=True)
class Asked:
    """What is to be explained: a fact, or all facts of a predicate; or why a fact is not there."""

    fact: Fact | None = None
    all: Predicate | None = None
    absent: bool = False


def read_asked(text: str | None, all: str | None, absent: bool, limits: Limits) -> Asked:
    if all is not None:
        if text is not None or absent:
            raise typer.BadParameter("explains every fact: give no fact", param_hint="--all")
        try:
            return Asked(all=read_predicate(all))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--all") from None
    if text is None:
        raise typer.BadParameter("give the fact that is not there", param_hint="--not")
    try:
        return Asked(as_fact(text, limits), absent=absent)
    except FactError as error:
        raise typer.BadParameter(str(error)) from None


def print_why(
    name: str,
    linked: list[str] | None,
    asked: Asked,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    """Why a module derives a fact, or does not."""
    with read_program(name, linked, facts, store, limits, json) as (module, database):
        _answer(explain_module(module, database, limits), asked, json)


def print_plan_why(
    files: list[str],
    asked: Asked,
    side: int | None,
    setup: Setup,
    policy: Policy,
    facts: list[str] | None,
    store: Path | None,
    limits: Limits,
    json: bool,
) -> None:
    """Why one side of a plan derives a fact, or does not."""
    plan, program, reader = read_side(files, side, setup, policy, limits, json)
    with read_side_facts(facts, store, plan, program, reader) as database:
        _answer(explain_plan(program, database, limits), asked, json)


def _answer(why: Why, asked: Asked, json: bool) -> None:
    if asked.all is not None:
        if not why.is_derived(asked.all):
            hint = _hint(_meant(asked.all, filter(why.is_derived, why.known())))
            raise typer.BadParameter(f"no rule makes {asked.all}{hint}", param_hint="--all")
        _print_all(why, asked.all, json)
        return
    assert asked.fact is not None
    known = why.known()
    if asked.fact.predicate not in known:
        _print_unknown(asked.fact, _meant(asked.fact.predicate, known), json)
    found = why.why_not(asked.fact) if asked.absent else why.why(asked.fact)
    if found is None:
        _print_other(asked.fact, asked.absent, json)
    elif json:
        write_json({"derived": not asked.absent, **found.json()})
    else:
        write(explanation_text(found))


def _meant(predicate: Predicate, known: Iterable[Predicate]) -> list[Predicate]:
    """Predicates that somebody may have meant: of the same name, of operands, or spelt so."""
    by_name: dict[str, list[Predicate]] = {}
    for each in sorted(known):
        by_name.setdefault(each.name, []).append(each)
    scoped = [scope_of(index) + predicate.name for index in (0, 1)]
    names = [name for name in (predicate.name, *scoped) if name in by_name]
    close = None if names else nearest(predicate.name, by_name)
    return [each for name in names or ([close] if close else []) for each in by_name[name]]


def _hint(meant: Sequence[Predicate]) -> str:
    return f"; did you mean {' or '.join(map(str, meant))}?" if meant else ""


def _print_unknown(fact: Fact, meant: Sequence[Predicate], json: bool) -> NoReturn:
    """No rule and no fact has its predicate: exit code 1."""
    if json:
        unknown = {"unknown": str(fact.predicate), "meant": [str(each) for each in meant]}
        write_json({"derived": False, "fact": str(fact)} | unknown)
    else:
        write([(f"there is no {fact.predicate}{_hint(meant)}\n", "")])
    raise typer.Exit(1)


def _print_other(fact: Fact, there: bool, json: bool) -> None:
    """It is the other way around: exit code 1."""
    if json:
        write_json({"derived": there, "fact": str(fact)})
    else:
        says = "is there: explain it without --not" if there else "is not there: --not says why"
        write([(f"{visible(str(fact))} {says}\n", "")])
    raise typer.Exit(1)


def _print_all(why: Why, predicate: Predicate, json: bool) -> None:
    proofs = why.all(predicate, None if json else MOST_SHOWN)
    if json:
        document: dict[str, Any] = {"facts": [str(fact) for fact in proofs.facts]}
        write_json(document | {"steps": [step.json() for step in proofs.steps.values()]})
        return
    for proof in proofs:
        write(explanation_text(proof))
    left = why.count(predicate) - len(proofs)
    if left:
        more = counted(left, "more fact")
        write([(f"and {more}; --json has all proofs\n", "dim")])


# Text.


def explanation_text(found: Proof | WhyNot, indent: str = "") -> Iterator[Segment]:
    return _proof_text(found, indent) if isinstance(found, Proof) else _why_not(found, indent)


def _proof_text(proof: Proof, indent: str) -> Iterator[Segment]:
    """A tree; what a fact rests on is shown where it first stands."""
    shown: set[Fact] = set()
    stack: list[tuple[int, Fact | Check]] = [(0, proof.fact)]
    while stack:
        depth, met = stack.pop()
        space = indent + "  " * min(depth, MOST_INDENTED)
        if depth > MOST_INDENTED:
            space += f"({depth}) "
        if isinstance(met, Check):
            number = "" if met.number is None else f"  there are {met.number}"
            yield f"{space}{visible(met.text)}{number}\n", ""
            continue
        step = proof.steps.get(met)
        yield f"{space}{visible(str(met))}", "bold" if step else ""
        if step is None or met in shown:
            yield ("  as above\n" if step else "\n"), "dim"
            continue
        shown.add(met)
        rounds = "" if step.round is None else f"  round {step.round}"
        yield f"{rounds}\n", "dim"
        yield from rule_text(step.rule, f"{space}  ")
        stack += [(depth + 1, each) for each in reversed(step.because)]


def rule_text(rule: RuleShown, indent: str) -> Iterator[Segment]:
    whose = rule.whose if rule.operand is None else f"operand {rule.operand} ({rule.whose})"
    place = "" if rule.whose == "generated" else f"{visible(rule.file)}:{rule.line}  "
    yield f"{indent}by {whose}{'  ' if whose else ''}{place}{visible(rule.text)}\n", "dim"
    if rule.whose == "peer" and rule.sees != "no record facts":
        yield f"{indent}   which sees {visible(rule.sees)}\n", "dim"


def _why_not(found: WhyNot, indent: str) -> Iterator[Segment]:
    for wanted, fails in found.goals.items():
        yield f"{indent}{visible(str(wanted))}", "bold"
        if not fails:
            why = "given" if found.is_base else "there, and no rule could make it"
            yield f"  is not {why}\n", ""
            continue
        yield "  is not derived\n", ""
        for each in fails:
            yield from _fails_text(each, indent + "  ")
    if found.left_out:
        more = len(found.left_out) - 1
        others = f" and {counted(more, 'other')}" if more else ""
        yield f"{indent}not looked into: {visible(str(found.left_out[0]))}{others}\n", "dim"


def _fails_text(fails: Fails, indent: str) -> Iterator[Segment]:
    yield from rule_text(fails.rule, indent)
    for fact in fails.with_facts:
        yield f"{indent}  {visible(str(fact))}\n", ""
    yield f"{indent}  {visible(fails.text)}", "red"
    yield f"  {visible(fails.reason)}\n", ""
