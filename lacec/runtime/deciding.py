"""Which rules of the operands select a record: for a dry run to say who decided.

In: the program of a side and the facts of an evaluation. Out: for each record that an
operand selects, its selecting rules. Each of them runs once more under a head of its own,
through the same view, so that what it derives alone is seen.

    o0_SelectHave(P) :- Have(P), o0_Wanted(P).     as it runs
    d3_SelectHave(P) :- Have(P), o0_Wanted(P).     once more, the fourth rule
"""

from dataclasses import replace

from lacec.canonical.identifiers import rule_id
from lacec.limits import DEFAULT_LIMITS, Limits
from lacec.plan.lower import LoweredRule, SideProgram, module_of, scope_of
from lacec.predicates import SELECTOR_EXPORTS, Predicate
from lacec.sides import evaluate_side
from lacec.syntax.ast import Atom, Rule
from lacec.syntax.show import show_rule
from lacec.views import Resolution
from lacec.vm.database import Database

Deciding = dict[str, dict[str, tuple[LoweredRule, ...]]]

# The selecting predicates of both operands, as they run, and the export that each is.
_SELECTING = {
    Predicate(scope_of(index) + export.name, export.arity): export.name
    for index in (0, 1)
    for export in SELECTOR_EXPORTS
}


def deciding_rules(
    program: SideProgram, database: Database, limits: Limits = DEFAULT_LIMITS
) -> Deciding:
    """By export, by record: the rules, in the order in which they run."""
    main = program.rules[len(program.gates.rules) :]
    copies: dict[Predicate, LoweredRule] = {}
    listed, readings = list(main), dict(program.resolution.readings)
    for number, rule in enumerate(main):
        export = _SELECTING.get(rule.node.head.predicate)
        if export is None:
            continue
        head = Atom(f"d{number}_{export}", rule.node.head.terms)
        node = Rule(head, rule.node.body)
        text = show_rule(node)
        listed.append(replace(rule, id=rule_id(text), text=text, node=node))
        readings[head.predicate] = program.reading(rule)
        copies[head.predicate] = rule
    resolution = Resolution(program.resolution.views, readings)
    told = replace(program, main=module_of(listed), resolution=resolution)
    found = evaluate_side(told, database, limits, outputs=tuple(copies))
    deciding: Deciding = {export.name: {} for export in SELECTOR_EXPORTS}
    for predicate, rule in copies.items():
        of_export = deciding[_SELECTING[rule.node.head.predicate]]
        for hash in sorted({row[0] for row in found.main.facts(predicate)}):
            of_export[hash] = (*of_export.get(hash, ()), rule)
    return deciding
