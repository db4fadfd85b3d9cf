"""lacec: a compiler toolchain for lacegrams and exchange plans.

The functions here give the same results as the commands compile, check, fmt, eval and
explain, with --plan too; `corpus` makes records to try things on, a `Store` keeps them.
They import what they need when they are called, so that `import lacec` costs nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lacec.canonical.module import Module, ModuleRule
    from lacec.core.diagnostics import Diagnostic
    from lacec.core.errors import (
        CompileError,
        FactError,
        LacecError,
        LimitError,
        PlanError,
        RecordError,
        StoreError,
    )
    from lacec.core.limits import Limits
    from lacec.engine.live import LiveModule
    from lacec.explain.proof_tree import Proof, WhyNot
    from lacec.explain.provenance import Why
    from lacec.plan.exchange import ExchangePlan
    from lacec.records.corpus import corpus
    from lacec.records.record import Record
    from lacec.store.store import Store

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "Diagnostic",
    "ExchangePlan",
    "FactError",
    "LacecError",
    "LimitError",
    "Limits",
    "LiveModule",
    "Module",
    "ModuleRule",
    "PlanError",
    "Proof",
    "Record",
    "RecordError",
    "Store",
    "StoreError",
    "Why",
    "WhyNot",
    "compile",
    "compile_plan",
    "corpus",
    "diagnose",
    "evaluate",
    "evaluate_plan",
    "explanations",
    "explanations_of_plan",
    "format",
    "live",
    "why",
    "why_not",
]

_LAZY = {
    "CompileError": "lacec.core.errors",
    "Diagnostic": "lacec.core.diagnostics",
    "ExchangePlan": "lacec.plan.exchange",
    "FactError": "lacec.core.errors",
    "LacecError": "lacec.core.errors",
    "LimitError": "lacec.core.errors",
    "Limits": "lacec.core.limits",
    "LiveModule": "lacec.engine.live",
    "Module": "lacec.canonical.module",
    "ModuleRule": "lacec.canonical.module",
    "PlanError": "lacec.core.errors",
    "Proof": "lacec.explain.proof_tree",
    "Record": "lacec.records.record",
    "RecordError": "lacec.core.errors",
    "Store": "lacec.store.store",
    "StoreError": "lacec.core.errors",
    "Why": "lacec.explain.provenance",
    "WhyNot": "lacec.explain.proof_tree",
    "corpus": "lacec.records.corpus",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'lacec' has no attribute {name!r}")


def compile(
    text: str | bytes,
    *,
    facet: str = "plain",
    name: str = "<text>",
    linked: "Sequence[tuple[str, str | bytes]]" = (),
    limits: "Limits | None" = None,
) -> "Module":
    """Compile annotated source into a module; raise CompileError with every diagnostic.

    `linked` holds further sources, as (name, text), that are joined by union.
    """
    from lacec.core.facets import Facet
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.pipeline import compile_module

    return compile_module([(name, text), *linked], Facet(facet), limits or DEFAULT_LIMITS)


def diagnose(
    text: str | bytes,
    *,
    facet: str = "plain",
    name: str = "<text>",
    linked: "Sequence[tuple[str, str | bytes]]" = (),
    limits: "Limits | None" = None,
) -> "tuple[Diagnostic, ...]":
    """Every diagnostic of a source, errors, warnings and lints, sorted by place."""
    from lacec.core.facets import Facet
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.pipeline import lint_sources

    return lint_sources([(name, text), *linked], Facet(facet), limits or DEFAULT_LIMITS)


def evaluate(
    module: "Module",
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    *,
    outputs: "Iterable[str] | None" = None,
    limits: "Limits | None" = None,
) -> dict[str, list[tuple[str, ...]]]:
    """The facts that a module derives, sorted, by NAME/ARITY; raise LimitError at a limit.

    `facts` holds rows by predicate name; `outputs` names the predicates wanted, as
    NAME/ARITY, and is every derived predicate unless given. FactError for facts of a
    predicate that rules derive, ValueError for an output that none does.
    """
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.core.predicates import read_predicate
    from lacec.engine import evaluation
    from lacec.vm.sources import load, source_of

    chosen = limits or DEFAULT_LIMITS
    wanted = None if outputs is None else [read_predicate(text) for text in outputs]
    source = source_of(facts)
    evaluation.check_given(module, source.predicates())
    evaluation.check_outputs(module, wanted)
    result = evaluation.evaluate(module, load(source, chosen), wanted, chosen)
    return {str(predicate): result.facts(predicate) for predicate in result.relations}


def live(
    module: "Module",
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    *,
    outputs: "Iterable[str] | None" = None,
    limits: "Limits | None" = None,
) -> "LiveModule":
    """A module over facts that change: what `evaluate` gives, kept, and changed as they do.

    >>> module = lacec.compile("Free(X) :- Known(X), not Blocked(X).")
    >>> free = lacec.live(module, {"Known": [["a"], ["b"]]})
    >>> free.facts
    {'Free/1': [('a',), ('b',)]}
    >>> free.apply(added={"Blocked": [["a"]]}, removed={"Known": [["b"]]})
    {'Free/1': Delta(added=[], removed=[('a',), ('b',)])}

    A change costs what it changes, not what there is.
    """
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.core.predicates import read_predicate
    from lacec.engine.live import LiveModule

    wanted = None if outputs is None else [read_predicate(text) for text in outputs]
    return LiveModule(module, facts, wanted, limits or DEFAULT_LIMITS)


def compile_plan(
    zero: str | bytes,
    one: str | bytes,
    *,
    verifiers: "tuple[str | None, str | None]" = (None, None),
    nonces: "tuple[str | None, str | None]" = (None, None),
    origins: str = "opaque",
    lowering: str = "standard-v1",
    limits: "Limits | None" = None,
) -> "ExchangePlan":
    """The exchange plan of two selectors, operand 0 and 1; raise CompileError or PlanError.

    What belongs to a side comes in the order of the operands.
    """
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.core.origins import OriginMode
    from lacec.plan.exchange import make_plan
    from lacec.plan.operands import author_operand
    from lacec.plan.origins import Party

    chosen = limits or DEFAULT_LIMITS
    operands = [
        author_operand(index, [(f"<operand {index}>", text)], chosen)
        for index, text in enumerate((zero, one))
    ]
    parties = (Party(verifiers[0], nonces[0]), Party(verifiers[1], nonces[1]))
    return make_plan(operands, parties, OriginMode(origins), lowering)


def evaluate_plan(
    plan: "ExchangePlan",
    side: int,
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    *,
    expose: "Sequence[str | bytes]" = (),
    narrow: "Sequence[str | bytes]" = (),
    trust_peer: bool = False,
    limits: "Limits | None" = None,
) -> dict[str, list[str]]:
    """What the side of operand `side` may send and request, and what the peer may query there.

    `expose` holds the texts of exposure modules, or `selected` or `all`; nothing is exposed
    by default. `narrow` holds the same for this side's own operand.
    """
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.engine.side import evaluate_side
    from lacec.plan.expose import local_policy
    from lacec.vm.sources import load, source_of

    chosen = limits or DEFAULT_LIMITS
    policy = local_policy(plan.operand(side), expose, narrow, trust_peer, chosen)
    database = load(source_of(facts), chosen)
    found = evaluate_side(plan.side(side, policy), database, chosen)
    return {
        "may_send": found.may_send,
        "may_request": found.may_request,
        "can_query": found.can_query,
    }


def explanations(
    module: "Module",
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    *,
    limits: "Limits | None" = None,
) -> "Why":
    """Explains what a module derives from facts, and what it does not.

    Its methods `why` and `why_not` take a fact, as text or as a value; `all` gives the
    proofs of every fact of a predicate. What no question needs is not evaluated.
    """
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.engine.evaluation import check_given
    from lacec.explain.provenance import explain_module
    from lacec.vm.sources import load, source_of

    chosen = limits or DEFAULT_LIMITS
    source = source_of(facts)
    check_given(module, source.predicates())
    return explain_module(module, load(source, chosen), chosen)


def explanations_of_plan(
    plan: "ExchangePlan",
    side: int,
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    *,
    expose: "Sequence[str | bytes]" = (),
    narrow: "Sequence[str | bytes]" = (),
    trust_peer: bool = False,
    limits: "Limits | None" = None,
) -> "Why":
    """The same for one side of a plan, with the arguments of `evaluate_plan`.

    `MaySend` and `MayRequest` are the facts to ask about. Each operand's rules are shown
    with the facts that they see on this side.
    """
    from lacec.core.limits import DEFAULT_LIMITS
    from lacec.explain.provenance import explain_plan
    from lacec.plan.expose import local_policy
    from lacec.vm.sources import load, source_of

    chosen = limits or DEFAULT_LIMITS
    policy = local_policy(plan.operand(side), expose, narrow, trust_peer, chosen)
    return explain_plan(plan.side(side, policy), load(source_of(facts), chosen), chosen)


def why(
    module: "Module",
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    fact: str,
    *,
    limits: "Limits | None" = None,
) -> "Proof | None":
    """A proof of a fact, written NAME('value',…); None when it is not derived."""
    return explanations(module, facts, limits=limits).why(fact)


def why_not(
    module: "Module",
    facts: "Mapping[str, Iterable[Sequence[str]]]",
    fact: str,
    *,
    limits: "Limits | None" = None,
) -> "WhyNot | None":
    """For each rule that could have made a fact, where it fails; None when it is derived."""
    return explanations(module, facts, limits=limits).why_not(fact)


def format(text: str | bytes, *, name: str = "<text>") -> str:
    """Annotated source with tidy white space; raise CompileError if it cannot be read."""
    from lacec.pipeline import format_source

    return format_source((name, text))
