"""How a program is evaluated: strata, what needs what, the order of joins, the bytecode.

In: a module or one side of a plan, and a database when sizes are to be shown. Out: an
explanation.
"""

from dataclasses import dataclass

from lacec.bytecode.code import Code, Kind
from lacec.bytecode.disasm import disassemble_block
from lacec.bytecode.order import Sizes
from lacec.bytecode.plan_steps import Step, steps_of
from lacec.canonical.module import Module
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import BUILTIN_ARITY, Predicate
from lacec.engine.evaluation import sizes_of
from lacec.engine.side import OUTPUTS, make_views
from lacec.pipeline import make_code
from lacec.plan.lower import LoweredRule, SideProgram
from lacec.syntax.ast import Atom, Cardinality, How, Negated
from lacec.vm.database import Database


@dataclass(frozen=True, slots=True)
class Dependency:
    head: Predicate
    needs: Predicate
    kind: How


@dataclass(frozen=True, slots=True)
class Plan:
    """One block: its rule, when it runs, its steps and its instructions."""

    id: str
    text: str
    kind: str
    steps: tuple[Step, ...]
    bytecode: str


@dataclass(frozen=True, slots=True)
class Explanation:
    id: str
    strata: tuple[tuple[Predicate, ...], ...]
    edges: tuple[Dependency, ...]
    plans: tuple[Plan, ...]


def explain_program(
    module: Module, database: Database | None = None, limits: Limits = DEFAULT_LIMITS
) -> Explanation:
    sizes = None if database is None else sizes_of(module, database)
    code = make_code(module, sizes=sizes, limits=limits)
    return Explanation(module.id, module.strata, edges_of(module), _plans(code, sizes))


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """A lowered rule: whose it is, what made it, and which record facts it sees."""

    rule: LoweredRule
    whose: str
    sees: str


@dataclass(frozen=True, slots=True)
class SideExplanation:
    """What one side runs; sizes are those that each rule sees."""

    program: SideProgram
    rules: tuple[ExplainedRule, ...]
    gates: tuple[Plan, ...]
    main: tuple[Plan, ...]


def explain_side(
    program: SideProgram, database: Database | None = None, limits: Limits = DEFAULT_LIMITS
) -> SideExplanation:
    rules = tuple(
        ExplainedRule(rule, program.whose(rule), program.sees(rule)) for rule in program.rules
    )
    gate_sizes = sizes = None
    if database is not None:
        views = make_views(program, database, limits)
        gate_sizes = sizes_of(program.gates, database)
        sizes = sizes_of(program.main, database, views)
    gates = make_code(program.gates, sizes=gate_sizes, limits=limits)
    main = make_code(program.main, OUTPUTS, sizes, program.resolution, limits)
    return SideExplanation(program, rules, _plans(gates, gate_sizes), _plans(main, sizes))


def _plans(code: Code, sizes: Sizes | None) -> tuple[Plan, ...]:
    plans = []
    for number, block in enumerate(code.blocks):
        rule = code.rules[block.rule] if block.rule >= 0 else None
        kind = "full" if block.kind == Kind.FULL else "each round"
        plans.append(
            Plan(
                rule.id if rule else "",
                rule.text if rule else "(a sub-join that rules share)",
                kind,
                tuple(steps_of(code, block, sizes)),
                _instructions(disassemble_block(code, number)),
            )
        )
    return tuple(plans)


def _instructions(listing: str) -> str:
    """A listing without its heading, which says what the plan says already."""
    return "".join(line for line in listing.splitlines(True) if line.startswith("    "))


def edges_of(module: Module) -> tuple[Dependency, ...]:
    """Every edge once, base predicates included."""
    found: dict[Dependency, None] = {}
    for rule in module.rules:
        head = rule.node.head.predicate
        for literal in rule.node.body:
            match literal:
                case Atom(name) if name not in BUILTIN_ARITY:
                    found[Dependency(head, literal.predicate, "uses")] = None
                case Negated(atom):
                    found[Dependency(head, atom.predicate, "negates")] = None
                case Cardinality(atom):
                    found[Dependency(head, atom.predicate, "counts")] = None
    return tuple(found)
