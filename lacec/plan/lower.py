"""Lowering: a plan into the rules that one side runs, each under its scope (040, D16).

    SelectHave(P) :- Member(P), Have(P).        of operand 1
    o1_SelectHave(P) :- o1_Member(P), Have(P).  as it runs

In: the two operands, and for a side its local policy. Out: the gates, which decide
what each viewer sees, and the main program with the view that each of its predicates
reads record facts through. The peer's rules stand first: a limit that they exceed is
met before any local rule after the gates has run.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from lacec.canonical.identifiers import lacegram_id, rule_id
from lacec.canonical.module import Module, ModuleRule
from lacec.check.dependencies import stratify
from lacec.core.facets import Facet
from lacec.core.origins import FULL_VIEW, OPEN, Origin, Reading, Resolution, View
from lacec.core.predicates import (
    BASE,
    BUILTIN_ARITY,
    EXPOSE_EXPORTS,
    LOCAL_FACTS,
    RECORD_FACTS,
    Predicate,
)
from lacec.plan.expose import LocalPolicy
from lacec.plan.intersect import conjunction, intersection
from lacec.plan.lowerings import lowering_rules
from lacec.plan.operands import Operand
from lacec.plan.origins import AssignedOrigin
from lacec.syntax.ast import Atom, Cardinality, Literal, Negated, Rule, body_atoms
from lacec.syntax.show import show_rule
from lacec.syntax.source import Source, SourceRule

CAN_QUERY = Predicate("CanQueryRecord", 2)
CAN_QUERY_OWN = Predicate("CanQueryOwn", 2)
(VIEWER,) = LOCAL_FACTS
OWN_VIEWER = Predicate("_OwnViewer", 1)
MAY_SEND, MAY_REQUEST = Predicate("MaySend", 1), Predicate("MayRequest", 1)
(ALLOW,) = EXPOSE_EXPORTS

GENERATED_FILE = "<generated>"


@dataclass(frozen=True, slots=True)
class LoweredRule:
    """A rule that runs, what made it and from what."""

    id: str
    text: str
    node: Rule = field(repr=False)
    step: str  # the step of 040 that made it
    what: str  # of what: an operand, an exported predicate, an exposure module
    origin: str | None = None  # of an operand's rule
    module: Module | None = field(default=None, repr=False)
    original: ModuleRule | None = field(default=None, repr=False)


def scope_of(index: int) -> str:
    return f"o{index}_"


def operand_rules(operand: Operand, origin: AssignedOrigin) -> Iterator[LoweredRule]:
    """The rules of an operand in its scope."""
    what = f"O{operand.index}"
    return _scoped(
        operand.module, scope_of(operand.index), "040-operand-scope", what, origin=origin.text
    )


def generated_rules(lowering: str) -> Iterator[LoweredRule]:
    """The intersection and the lowering, which are the same on both sides."""
    for export, rule in intersection([scope_of(0), scope_of(1)]):
        yield _made(rule, "040-intersection", str(export))
    for rule in lowering_rules(lowering):
        yield _made(rule, "040-lowering", str(rule.head.predicate))


@dataclass(frozen=True)
class SideProgram:
    """What one side runs. `rules` are those of the gates and then of the main program."""

    side: int
    viewer: str  # whose view the peer's operand reads through
    own_viewer: str
    policy: LocalPolicy
    gates: Module = field(repr=False)
    main: Module = field(repr=False)
    resolution: Resolution = field(repr=False)
    rules: tuple[LoweredRule, ...] = field(repr=False)

    @property
    def peer(self) -> int:
        return 1 - self.side

    def reading(self, rule: LoweredRule) -> Reading:
        """How a rule reads record facts."""
        return self.resolution.of(rule.node.head.predicate)

    def whose(self, rule: LoweredRule) -> str:
        """Of a rule: own, peer, exposure or generated."""
        if rule.step == "040-exposure":
            return "exposure"
        if rule.module is None:
            return "generated"
        return "own" if rule.what == f"O{self.side}" else "peer"

    def sees(self, rule: LoweredRule) -> str:
        """In words, which records a rule sees; one that reads no record fact sees none."""
        if all(atom.predicate not in RECORD_FACTS for atom in body_atoms(rule.node)):
            return "no record facts"
        view = self.reading(rule).view
        if view == FULL_VIEW:
            return "all records"
        return f"the records that {self.resolution.views[view - 1].viewer} may query"


def lower(
    operands: tuple[Operand, Operand],
    origins: tuple[AssignedOrigin, AssignedOrigin],
    lowering: str,
    side: int,
    policy: LocalPolicy,
) -> SideProgram:
    """The program of the side that brought operand `side`; the other operand is a peer's."""
    peer = 1 - side
    views = [View(CAN_QUERY, origins[peer].viewer)]
    readings = {Origin.PEER: Reading(Origin.PEER, 1), Origin.LOCAL: OPEN}
    if policy.trust_peer:
        readings[Origin.PEER] = Reading(Origin.TRUSTED, FULL_VIEW)
    if policy.narrow:
        views.append(View(CAN_QUERY_OWN, origins[side].viewer))
        readings[Origin.LOCAL] = Reading(Origin.LOCAL, len(views))
    theirs = list(operand_rules(operands[peer], origins[peer]))
    own = list(operand_rules(operands[side], origins[side]))
    main = [*theirs, *own, *generated_rules(lowering)]
    gates = list(_gates(policy))
    of = {rule.node.head.predicate: readings[Origin.PEER] for rule in theirs}
    of |= {rule.node.head.predicate: readings[Origin.LOCAL] for rule in own}
    return SideProgram(
        side,
        origins[peer].viewer,
        origins[side].viewer,
        policy,
        module_of(gates),
        module_of(main),
        Resolution(tuple(views), of),
        (*gates, *main),
    )


def _gates(policy: LocalPolicy) -> Iterator[LoweredRule]:
    """The exposure modules in their scopes, and what each view intersects (D16)."""
    number = 0
    for modules, gate, viewer in (
        (policy.exposures, CAN_QUERY, VIEWER),
        (policy.narrow, CAN_QUERY_OWN, OWN_VIEWER),
    ):
        scopes = []
        for module in modules:
            number += 1
            scopes.append(f"m{number}_")
            yield from _scoped(module, scopes[-1], "040-exposure", f"M{number}", viewer)
        if scopes:
            rule = conjunction(gate.name, ("Viewer", "P"), ALLOW.name, scopes)
            yield _made(rule, "040-exposure", str(gate))


def _scoped(
    module: Module,
    scope: str,
    step: str,
    what: str,
    viewer: Predicate = VIEWER,
    origin: str | None = None,
) -> Iterator[LoweredRule]:
    """The rules of a module with every name of its own in a scope; base facts keep theirs."""

    def rename(atom: Atom) -> Atom:
        if atom.name in BUILTIN_ARITY:
            return atom
        if atom.predicate == VIEWER:
            return Atom(viewer.name, atom.terms)
        return atom if atom.predicate in BASE else Atom(scope + atom.name, atom.terms)

    for original in module.rules:
        rule = _renamed(original.node, rename)
        yield _made(rule, step, what, origin, module, original)


def _renamed(rule: Rule, rename: Callable[[Atom], Atom]) -> Rule:
    def literal(part: Literal) -> Literal:
        match part:
            case Atom():
                return rename(part)
            case Negated(atom):
                return Negated(rename(atom))
            case Cardinality(atom, operator, bound):
                return Cardinality(rename(atom), operator, bound)
        return part

    return Rule(rename(rule.head), tuple(literal(part) for part in rule.body))


def _made(
    rule: Rule,
    step: str,
    what: str,
    origin: str | None = None,
    module: Module | None = None,
    original: ModuleRule | None = None,
) -> LoweredRule:
    text = show_rule(rule)
    return LoweredRule(rule_id(text), text, rule, step, what, origin, module, original)


def module_of(rules: Iterable[LoweredRule]) -> Module:
    """Lowered rules as a module, in the order given; each says where its original stands."""
    listed = []
    for rule in rules:
        original = rule.original
        file, line = (original.file, original.line) if original else (GENERATED_FILE, 1)
        annotations = original.annotations if original else {}
        listed.append(ModuleRule(rule.id, rule.text, file, line, annotations, rule.node))
    source = Source(GENERATED_FILE, 0, ())
    levels = stratify(SourceRule(source, rule.line, rule.node, rule.text) for rule in listed)
    canonical = "\n".join(sorted(rule.text for rule in listed))
    return Module(
        Facet.PLAIN,
        lacegram_id(canonical),
        canonical,
        tuple(listed),
        levels.groups,
        levels.strata,
        (),
    )
