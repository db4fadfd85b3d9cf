"""Which rules of the operands select a record: for a dry run to say who decided.

In: the program of a side and the facts of an evaluation. Out: for each record that an
operand selects, all of its rules that do, as explanations find them (lacec/explain/provenance.py).
"""

from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import SELECTOR_EXPORTS, Predicate
from lacec.explain.provenance import explain_plan
from lacec.plan.lower import LoweredRule, SideProgram, scope_of
from lacec.vm.database import Database

Deciding = dict[str, dict[str, tuple[LoweredRule, ...]]]


def deciding_rules(
    program: SideProgram, database: Database, limits: Limits = DEFAULT_LIMITS
) -> Deciding:
    """By export, by record: the rules, in the order in which they run."""
    main = program.rules[len(program.gates.rules) :]
    why = explain_plan(program, database, limits)
    deciding: Deciding = {export.name: {} for export in SELECTOR_EXPORTS}
    for index in (program.peer, program.side):
        for export in SELECTOR_EXPORTS:
            selecting = Predicate(scope_of(index) + export.name, export.arity)
            of_export = deciding[export.name]
            for number, rows in why.makers(selecting):
                for hash in dict.fromkeys(row[0] for row in rows):
                    of_export[hash] = (*of_export.get(hash, ()), main[number])
    return deciding
