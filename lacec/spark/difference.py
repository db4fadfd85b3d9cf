"""What a change of policy does to a corpus: which facts come and go, counted by rule.

In: the old and the new policy, each with its machine over the same facts. Out: what
`lacec.explain.policy_diff` says, but for why the other policy does not have a fact; and all changes
as a table. The rules that decide a fact are found by the CHECK blocks of their code, which
are given the facts that changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lacec.bytecode.code import Kind
from lacec.canonical.module import Module
from lacec.core.predicates import Predicate
from lacec.explain.policy_diff import MOST_EXPLAINED, WAYS, Change, Decided, Difference
from lacec.explain.proof_tree import Fact, RuleShown, shown_rule
from lacec.plan.lower import SideProgram
from lacec.spark.evaluate import Evaluator
from lacec.spark.kernels import Kernels
from lacec.spark.machine import SparkMachine
from lacec.spark.registers import Few, Register, names_of, relation

Deciders = Mapping[Predicate, Sequence[Predicate]]
"""What is compared, and beside each predicate those whose rules decide it."""


@dataclass(frozen=True)
class Policy:
    """A policy that has run. `shown` are the rules of its module, for people."""

    machine: SparkMachine
    module: Module
    shown: Sequence[RuleShown]

    def relation(self, predicate: Predicate) -> Register:
        """The tuples of a predicate; none if no rule derives it."""
        for number, each in enumerate(self.machine.code.predicates):
            if each == predicate and number in self.machine.done:
                return self.machine.done[number]
        return Few((), predicate.arity)

    def rules(self, predicate: Predicate) -> list[int]:
        heads = enumerate(rule.node.head.predicate for rule in self.module.rules)
        return [number for number, head in heads if head == predicate]

    def made_by(self, rule: int, asked: Register) -> Register:
        """Which of some tuples a rule makes."""
        blocks = self.machine.code.blocks
        (block,) = (each for each in blocks if each.kind == Kind.CHECK and each.rule == rule)
        return self.machine.check(block, asked)


def run_module(evaluator: Evaluator, module: Module, deciders: Deciders) -> Policy:
    machine = evaluator.machine(module, _outputs(deciders), live=True)
    machine.run()
    shown = [RuleShown(rule.id, rule.text, rule.file, rule.line) for rule in module.rules]
    return Policy(machine, module, shown)


def run_plan(evaluator: Evaluator, program: SideProgram, deciders: Deciders) -> Policy:
    machine, _ = evaluator.side_machine(program, _outputs(deciders), live=True)
    machine.run()
    main = program.rules[len(program.gates.rules) :]
    return Policy(machine, program.main, [shown_rule(program, rule, {}) for rule in main])


def _outputs(deciders: Deciders) -> list[Predicate]:
    return [*deciders, *(each for some in deciders.values() for each in some)]


def difference(
    evaluator: Evaluator,
    old: Policy,
    new: Policy,
    deciders: Deciders,
    most: int = MOST_EXPLAINED,
) -> tuple[Difference, DataFrame]:
    """What differs, with the first so many changes; and the table of all."""
    kernels, work = evaluator.kernels, evaluator.work
    rules: list[tuple[str, RuleShown]] = []
    parts = []
    for way, policy in enumerate(WAYS):
        having, lacking = (new, old) if policy == "new" else (old, new)
        for place, (predicate, some) in enumerate(deciders.items()):
            work.progress(f"what {WAYS[policy]} of {predicate}")
            arity = predicate.arity
            moved = _moved(having, lacking, predicate, kernels)
            frame = work.written(kernels.rows(moved).named(names_of(arity)))
            numbers = {rule: len(rules) + at for at, rule in enumerate(_rules(having, some))}
            rules += [(policy, having.shown[rule]) for rule in numbers]
            asked = relation(frame, arity)
            decided = _decided(having, some, asked, arity, numbers, kernels)
            told = frame.select(_values(arity)).join(decided, "fact", "left")
            parts.append(told.select(F.lit(way).alias("way"), F.lit(place).alias("place"), "*"))
    work.progress("counting changes by rule")
    table = work.written(reduce(DataFrame.unionAll, parts))
    found = _difference(table, rules, list(deciders), most)
    return found, _named(table, [rule.id for _, rule in rules], list(deciders))


def _rules(policy: Policy, deciders: Iterable[Predicate]) -> list[int]:
    return [rule for predicate in deciders for rule in policy.rules(predicate)]


def _moved(having: Policy, lacking: Policy, predicate: Predicate, kernels: Kernels) -> Register:
    keys = [(column, column) for column in range(predicate.arity)]
    one, other = having.relation(predicate), lacking.relation(predicate)
    return kernels.semi(one, other, keys, anti=True)


def _decided(
    policy: Policy,
    deciders: Sequence[Predicate],
    moved: Register,
    width: int,
    numbers: Mapping[int, int],
    kernels: Kernels,
) -> DataFrame:
    """For each fact that moved, the numbers of the rules that make it.

    The tuples of what decides a fact begin with its values.
    """
    keys = [(column, column) for column in range(width)]
    frames = [kernels.frame([], names_of(width)).select(_values(width), F.lit(0).alias("rule"))]
    for predicate in deciders:
        asked = kernels.semi(policy.relation(predicate), moved, keys)
        for rule in policy.rules(predicate):
            made = kernels.project(policy.made_by(rule, asked), range(width), False)
            frame = kernels.rows(made).named(names_of(width))
            frames.append(frame.select(_values(width), F.lit(numbers[rule]).alias("rule")))
    every = reduce(DataFrame.unionAll, frames)
    return every.groupBy("fact").agg(F.sort_array(F.collect_set("rule")).alias("rules"))


def _values(arity: int) -> Column:
    return F.array(*names_of(arity)).cast("array<string>").alias("fact")


def _difference(
    table: DataFrame,
    rules: Sequence[tuple[str, RuleShown]],
    predicates: Sequence[Predicate],
    most: int,
) -> Difference:
    ways: dict[int, int] = dict(table.groupBy("way").count().collect())
    exploded = table.select(F.explode("rules").alias("rule"))
    counts: dict[int, int] = dict(exploded.groupBy("rule").count().collect())
    changes = list(WAYS.values())
    first = table.orderBy("way", "place", "fact").limit(most).collect()
    return Difference(
        ways.get(0, 0),
        ways.get(1, 0),
        tuple(
            Decided("new" if policy == "new" else "old", rule, counts.get(number, 0))
            for number, (policy, rule) in enumerate(rules)
        ),
        tuple(
            Change(
                Fact(predicates[row.place].name, tuple(row.fact)),
                changes[row.way],
                tuple(rules[number][1] for number in row.rules or ()),
                None,
            )
            for row in first
        ),
    )


def _named(table: DataFrame, rules: Sequence[str], predicates: Sequence[Predicate]) -> DataFrame:
    """The table of changes in words: rules by their identifiers."""

    def words(texts: Iterable[str]) -> Column:
        return F.array(*map(F.lit, texts)).cast("array<string>")

    ids = words(rules)
    return table.select(
        words(WAYS.values())[F.col("way")].alias("change"),
        words(map(str, predicates))[F.col("place")].alias("predicate"),
        "fact",
        F.transform(F.coalesce("rules", F.array().cast("array<int>")), lambda n: ids[n]).alias(
            "rules"
        ),
    )
