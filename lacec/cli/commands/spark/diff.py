"""lacec spark diff: what a change of policy does to the records of a corpus."""

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lacec.cli.commands.diff import (
    GENERATED,
    MOST_SHOWN,
    Compared,
    NewArgument,
    OldArgument,
    asked_predicates,
    derived_by,
    difference_text,
)
from lacec.cli.commands.spark.evaluation import (
    CorpusOption,
    OutOption,
    SparkOptions,
    check_new,
    evaluating,
    evaluator,
    folders_and_files,
    new_folder,
    stages,
)
from lacec.cli.facts import read_fact_files
from lacec.cli.groups import grouped
from lacec.cli.options import JsonOption, LimitOption, OneSide, read_limits
from lacec.cli.plan import Reader, derived_names
from lacec.cli.render.output import write, write_json
from lacec.cli.render.report import refuse
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.engine.side import PROFILE_FACTS
from lacec.explain.policy_diff import MOST_EXPLAINED
from lacec.vm.database import Database

if TYPE_CHECKING:
    from lacec.canonical.module import Module
    from lacec.plan.lower import SideProgram
    from lacec.spark.difference import Deciders, Policy
    from lacec.spark.evaluate import Evaluator


@dataclass(frozen=True)
class _Read:
    """Both policies, old and new, and what is compared of them."""

    policies: "tuple[Module, Module] | tuple[SideProgram, SideProgram]"
    deciders: "Deciders"
    derived: set[Predicate]
    known: Container[Predicate] | None
    readers: tuple[Reader, ...]


@grouped
def diff_command(
    old: OldArgument,
    new: NewArgument,
    compared: Compared,
    of_plan: OneSide,
    spark: SparkOptions,
    facts: CorpusOption = None,
    limit: LimitOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Say how many records a change of policy selects or drops, and by which rules.

    The counts are those of `lacec diff`. The first records are shown, with the rules that
    decide them; with --out, write a table of all. With --peer, the records that are sent and
    requested, by side 0 unless --side says otherwise.

    Example: lacec spark diff old.lace new.lace --facts tables
    """
    limits = read_limits(limit)
    check_new(out)
    compared.check(old, new, of_plan)
    read = _read(compared, (old, new), of_plan, limits, json)
    folders, files = folders_and_files(facts)
    plain = _plain_facts(read, files, limits, json)
    most = MOST_EXPLAINED if json else MOST_SHOWN
    with evaluating(spark, json) as (session, folder), stages() as tell:
        from lacec.spark.difference import difference

        over = evaluator(session, folder, folders, plain, limits, tell)
        before, after = (_run(over, policy, read.deciders) for policy in read.policies)
        found, table = difference(over, before, after, read.deciders, most)
        if out is not None:
            with new_folder(out) as target:
                table.write.parquet(str(target / "changes.parquet"))
    if json:
        write_json(found.json())
    else:
        write(difference_text(found, "--out"))


def _read(
    compared: Compared, names: tuple[str, str], of_plan: OneSide, limits: Limits, json: bool
) -> _Read:
    if compared.peer is None:
        old, new, reader = compared.modules(names, limits, json)
        deciders = {each: (each,) for each in asked_predicates(compared.query, old, new)}
        return _Read((old, new), deciders, derived_by(old) | derived_by(new), None, (reader,))
    one, other = compared.sides(names, of_plan, limits, json)
    derived = {each for plan, program, _ in (one, other) for each in derived_names(plan, program)}
    return _Read((one[1], other[1]), GENERATED, derived, PROFILE_FACTS, (one[2], other[2]))


def _plain_facts(read: _Read, files: list[str], limits: Limits, json: bool) -> Database:
    """The facts of files; what is wrong with them ends the command."""
    plain, wrong, contents = read_fact_files(files, read.derived, limits, known=read.known)
    if wrong:
        sources = {name: text for reader in read.readers for name, text in reader.sources.items()}
        refuse(wrong, sources | contents, json)
    return plain


def _run(over: "Evaluator", policy: "Module | SideProgram", deciders: "Deciders") -> "Policy":
    from lacec.plan.lower import SideProgram
    from lacec.spark.difference import run_module, run_plan

    if isinstance(policy, SideProgram):
        return run_plan(over, policy, deciders)
    return run_module(over, policy, deciders)
