"""020's conceptual lowering as text: a view as rules, for an evaluator that knows no views.

    Have(P) => Have(P) and CanQueryRecord(Viewer,P)

becomes, for view 1 of a program,

    view1_Have(P) :- Have(P), CanQueryRecord('V.bob',P).

and every record atom of a rule that reads through that view, positive, negated or
counted, becomes one of view1_Have.
"""

from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.plan.lower import OWN_VIEWER, VIEWER, SideProgram
from lacec.syntax.ast import Atom, Cardinality, Constant, Literal, Negated, Rule, Variable
from tests import slow


def rewritten(program: SideProgram) -> list[Rule]:
    """All rules of a side as one flat program."""
    rules: list[Rule] = []
    for number, view in enumerate(program.resolution.views, 1):
        for predicate in RECORD_FACTS:
            names = tuple(Variable(f"T{column}") for column in range(predicate.arity))
            gate = Atom(view.gate.name, (Constant(view.viewer), names[0]))
            head = Atom(f"view{number}_{predicate.name}", names)
            rules.append(Rule(head, (Atom(predicate.name, names), gate)))
    for rule in program.rules:
        view_number = program.reading(rule).view
        body = tuple(_through(view_number, part) for part in rule.node.body)
        rules.append(Rule(rule.node.head, body if view_number else rule.node.body))
    return rules


def _through(view: int, part: Literal) -> Literal:
    match part:
        case Atom(name, terms) if part.predicate in RECORD_FACTS:
            return Atom(f"view{view}_{name}", terms)
        case Negated(atom):
            found = _through(view, atom)
            assert isinstance(found, Atom)
            return Negated(found)
        case Cardinality(atom, operator, bound):
            found = _through(view, atom)
            assert isinstance(found, Atom)
            return Cardinality(found, operator, bound)
    return part


def slowly(
    program: SideProgram, facts: dict[Predicate, list[slow.Row]], most_steps: int
) -> slow.Facts:
    """What the slow evaluator finds for a side."""
    base = dict(facts)
    base[VIEWER], base[OWN_VIEWER] = [(program.viewer,)], [(program.own_viewer,)]
    return slow.evaluate(rewritten(program), base, most_steps).facts
