"""Why a side may send and request: proofs against the slow evaluator on 020's rewriting."""

from dataclasses import replace

from hypothesis import given, reject

from lacec.explainer import explain_plan
from lacec.plan.expose import LocalPolicy
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, OWN_VIEWER, VIEWER, SideProgram
from lacec.predicates import RECORD_FACTS
from lacec.proof import Check, Fact, Fails, Proof, Step, WhyNot
from lacec.syntax.show import show_rule
from lacec.vm.sources import TupleSource, load, source_of
from tests import slow
from tests.helpers import examples
from tests.plan.interference import peer_predicates
from tests.plan.pairs import exposing, plan_of
from tests.plan.rewriting import rewritten
from tests.plan.strategies import Setup, setups
from tests.proofs import World, check_proof

MOST_STEPS = 50_000
MOST_FACTS = 12


class Rewritten:
    """Proofs of a side as proofs of the rewritten rules, which have views as predicates."""

    def __init__(self, program: SideProgram) -> None:
        rules = rewritten(program)
        self.rules = {}
        for lowered, rule in zip(program.rules, rules[-len(program.rules) :], strict=True):
            id = lowered.original.id if lowered.original else lowered.id
            self.rules[id, rule.head.name] = (show_rule(rule), program.reading(lowered).view)

    def proof(self, proof: Proof) -> Proof:
        return Proof(proof.fact, {fact: self.step(step) for fact, step in proof.steps.items()})

    def step(self, step: Step) -> Step:
        text, view = self.rules[step.rule.id, step.fact.name]
        because = tuple(_through(view, met) for met in step.because)
        return replace(step, rule=replace(step.rule, text=text), because=because)


def _through(view: int, met: Fact | Check) -> Fact | Check:
    names = [predicate.name for predicate in RECORD_FACTS] if view else []
    if isinstance(met, Fact):
        return Fact(f"view{view}_{met.name}", met.values) if met.name in names else met
    for start in ("not ", "Cardinality("):
        for name in names:
            if met.text.startswith(f"{start}{name}("):
                return met._replace(text=f"{start}view{view}_{met.text.removeprefix(start)}")
    return met


def side_of(setup: Setup) -> SideProgram:
    policy = LocalPolicy(
        tuple(map(exposing, setup.exposures)), narrow=tuple(map(exposing, setup.narrow))
    )
    return plan_of(*setup.operands).side(setup.side, policy)


@given(setups())
@examples(100)
def test_every_proof_of_a_side_holds_through_its_views(setup: Setup) -> None:
    program = side_of(setup)
    base = {predicate: set(rows) for predicate, rows in setup.facts.items()}
    base[VIEWER], base[OWN_VIEWER] = {(program.viewer,)}, {(program.own_viewer,)}
    rules = rewritten(program)
    try:
        result = slow.evaluate(rules, base, MOST_STEPS)
    except slow.TooMuchWorkError:
        reject()
    derived = frozenset(rule.node.head.predicate for rule in program.rules)
    world = replace(World.of(rules, base, result), derived=derived)
    why, as_rewritten = explain_plan(program, load(TupleSource(setup.facts))), Rewritten(program)
    for predicate in (MAY_SEND, MAY_REQUEST, *peer_predicates(program, everything=True)):
        for row in sorted(world.facts[predicate])[:MOST_FACTS]:
            proof = why.why(Fact(predicate.name, row))
            assert proof is not None
            check_proof(as_rewritten.proof(proof), world)
        absent = Fact(predicate.name, ("nowhere",) * predicate.arity)
        assert (why.why_not(absent) is None) == world.has(absent)


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
