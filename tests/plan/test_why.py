"""Why a side may send and request: proofs against the slow evaluator on 020's rewriting."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from hypothesis import given, reject

from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.explain.proof_tree import Fact, Fails, Proof, Step, Wanted, WhyNot
from lacec.explain.provenance import explain_plan
from lacec.plan.expose import LocalPolicy
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, OWN_VIEWER, VIEWER, SideProgram
from lacec.syntax.ast import Atom
from lacec.syntax.show import show_rule
from lacec.vm.sources import TupleSource, load, source_of
from tests import slow
from tests.explain.proofs import World, can_hold, check_proof, check_why_not, unified
from tests.helpers import examples
from tests.plan.interference import peer_predicates
from tests.plan.pairs import exposing, plan_of
from tests.plan.rewriting import rewritten
from tests.plan.strategies import Setup, setups

MOST_STEPS = 50_000
MOST_FACTS = 12


class Rewritten:
    """Proofs of a side as proofs of the rewritten rules, which have views as predicates."""

    def __init__(self, program: SideProgram) -> None:
        rules = rewritten(program)
        self.rules = {}
        for lowered, rule in zip(program.rules, rules[-len(program.rules) :], strict=True):
            id = lowered.original.id if lowered.original else lowered.id
            self.rules[id, rule.head.name] = (rule, program.reading(lowered).view)

    def proof(self, proof: Proof) -> Proof:
        return Proof(proof.fact, {fact: self.step(step) for fact, step in proof.steps.items()})

    def step(self, step: Step) -> Step:
        rule, view = self.rules[step.rule.id, step.fact.name]
        because = tuple(
            _fact_through(view, met)
            if isinstance(met, Fact)
            else met._replace(text=_text_through(view, met.text))
            for met in step.because
        )
        shown = replace(step.rule, text=show_rule(rule))
        return replace(step, rule=shown, because=because)

    def why_not(self, found: WhyNot) -> WhyNot:
        goals = {
            wanted: tuple(self.fails(wanted.name, each) for each in fails)
            for wanted, fails in found.goals.items()
        }
        return replace(found, goals=goals)

    def fails(self, name: str, fails: Fails) -> Fails:
        rule, view = self.rules[fails.rule.id, name]
        return replace(
            fails,
            rule=replace(fails.rule, text=show_rule(rule)),
            text=_text_through(view, fails.text),
            with_facts=tuple(_fact_through(view, fact) for fact in fails.with_facts),
            facts=tuple(_fact_through(view, fact) for fact in fails.facts),
        )


def _fact_through(view: int, fact: Fact) -> Fact:
    is_seen = view and fact.predicate in RECORD_FACTS
    return Fact(f"view{view}_{fact.name}", fact.values) if is_seen else fact


def _text_through(view: int, text: str) -> str:
    """A literal as text, of the view's predicate where it is one of a record."""
    for start in ("not ", "Cardinality(", ""):
        for predicate in RECORD_FACTS if view else ():
            if text.startswith(f"{start}{predicate.name}("):
                return f"{start}view{view}_{text.removeprefix(start)}"
    return text


def side_of(setup: Setup) -> SideProgram:
    policy = LocalPolicy(
        tuple(map(exposing, setup.exposures)), narrow=tuple(map(exposing, setup.narrow))
    )
    return plan_of(*setup.operands).side(setup.side, policy)


def world_of(program: SideProgram, setup: Setup) -> World:
    """What the slow evaluator finds on the rewritten rules, views as predicates among it."""
    base = {predicate: set(rows) for predicate, rows in setup.facts.items()}
    base[VIEWER], base[OWN_VIEWER] = {(program.viewer,)}, {(program.own_viewer,)}
    rules = rewritten(program)
    try:
        result = slow.evaluate(rules, base, MOST_STEPS)
    except slow.TooMuchWorkError:
        reject()
    derived = frozenset(rule.node.head.predicate for rule in program.rules)
    return replace(World.of(rules, base, result), derived=derived)


def asked(program: SideProgram) -> list[Predicate]:
    return [MAY_SEND, MAY_REQUEST, *peer_predicates(program, everything=True)]


@given(setups())
@examples(100)
def test_every_proof_of_a_side_holds_through_its_views(setup: Setup) -> None:
    program = side_of(setup)
    world, as_rewritten = world_of(program, setup), Rewritten(program)
    why = explain_plan(program, load(TupleSource(setup.facts)))
    for predicate in asked(program):
        for row in sorted(world.facts[predicate])[:MOST_FACTS]:
            proof = why.why(Fact(predicate.name, row))
            assert proof is not None
            check_proof(as_rewritten.proof(proof), world)
            assert why.why_not(Fact(predicate.name, row)) is None


def absent_facts(predicate: Predicate, world: World) -> Iterator[Fact]:
    """Records that there are, and one that there is not; all arguments of one or the other."""
    records = sorted({row[0] for each in RECORD_FACTS for row in world.facts.get(each, ())})
    for row in product([*records[:2], "nowhere"], repeat=predicate.arity):
        fact = Fact(predicate.name, row)
        if not world.has(fact):
            yield fact


def check_hidden(
    fails: Fails, wanted: Wanted, rewriting: Rewritten, program: SideProgram, world: World
) -> None:
    """A rule fails at what is hidden just where some fact would do if its view showed all."""
    rule, view = rewriting.rules[fails.rule.id, wanted.name]
    literal, start = rule.body[fails.literal], unified(rule.head, wanted)
    assert start is not None
    if not view or not isinstance(literal, Atom) or not literal.name.startswith("view"):
        assert fails.kind != "hidden"
        return
    unveiled = Atom(literal.name.removeprefix(f"view{view}_"), literal.terms)
    before = [rule.body[place] for place in fails.passed]
    would_do = can_hold([*before, unveiled], start, world.work())
    assert (fails.kind == "hidden") == would_do
    if would_do:
        gate, viewer = program.resolution.views[view - 1]
        (fact,) = fails.facts
        assert world.has(fact)
        assert fails.needs in (None, Wanted(gate.name, (viewer, fact.values[0])))
        assert not world.has(Fact(gate.name, (viewer, fact.values[0])))


@given(setups())
@examples(40)
def test_every_failure_of_a_side_moves_on_when_what_it_says_is_mended(setup: Setup) -> None:
    """What is missing is added to what the rule sees; what is hidden from it is shown."""
    program = side_of(setup)
    world, rewriting = world_of(program, setup), Rewritten(program)
    why = explain_plan(program, load(TupleSource(setup.facts)))
    for predicate in asked(program):
        for fact in absent_facts(predicate, world):
            assert why.why(fact) is None
            found = why.why_not(fact)
            assert found is not None
            check_why_not(rewriting.why_not(found), world)
            for wanted, fails in found.goals.items():
                for each in fails:
                    check_hidden(each, wanted, rewriting, program, world)


# What one side tells.

SELECTOR = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X').
SelectAdvertised(P,S) :- Advertised(P,S), Field(Q,'Group',_,'Y').
"""
EXPOSED = "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'X')."
FACTS: dict[str, list[tuple[str, ...]]] = {
    "Have": [("P.1",), ("P.2",)],
    "Field": [("P.1", "Group", "0", "X"), ("P.2", "Group", "0", "Y")],
    "Advertised": [("P.9", "S")],
}


def failures(found: WhyNot | None) -> list[Fails]:
    assert found is not None
    return [each for fails in found.goals.values() for each in fails]


def test_a_peer_rule_fails_at_what_is_hidden_from_it() -> None:
    program = plan_of(SELECTOR, SELECTOR).side(0, LocalPolicy((exposing(EXPOSED),)))
    why = explain_plan(program, load(source_of(FACTS)))
    (hidden,) = [f for f in failures(why.why_not("MayRequest('P.9')")) if f.kind == "hidden"]
    assert (hidden.rule.whose, hidden.rule.operand) == ("peer", 1)
    assert hidden.facts == (Fact("Field", ("P.2", "Group", "0", "Y")),)
    assert hidden.needs is not None
    assert hidden.needs.name == "CanQueryRecord"


def test_what_is_hidden_lets_the_rule_on_once_it_is_exposed() -> None:
    exposed = exposing("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,_).")
    program = plan_of(SELECTOR, SELECTOR).side(0, LocalPolicy((exposed,)))
    why = explain_plan(program, load(source_of(FACTS)))
    proof = why.why("MayRequest('P.9')")
    assert proof is not None
    peers = [step for step in proof.steps.values() if step.rule.whose == "peer"]
    assert [Fact("Field", ("P.2", "Group", "0", "Y")) in step.because for step in peers] == [True]
    assert why.why(f"CanQueryRecord('{program.viewer}','P.2')") is not None


def test_a_proof_of_a_peer_rule_uses_only_what_it_sees() -> None:
    program = plan_of(SELECTOR, SELECTOR).side(0, LocalPolicy((exposing(EXPOSED),)))
    proof = explain_plan(program, load(source_of(FACTS))).why("MaySend('P.1')")
    assert proof is not None
    peers = [step for step in proof.steps.values() if step.rule.whose == "peer"]
    assert peers
    for step in peers:
        assert step.rule.sees == f"the records that {program.viewer} may query"
        assert all(met.values[0] == "P.1" for met in step.because if isinstance(met, Fact))
