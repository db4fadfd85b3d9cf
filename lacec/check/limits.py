"""The limits a lacegram meets before it runs (D11, D12); an error names limit, value and count."""

from collections.abc import Iterator

from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic, Problem, place
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.predicates import BUILTIN_ARITY
from lacec.syntax.ast import Atom, Cardinality, Constant, Rule, Term, Unequal, body_atoms
from lacec.syntax.parse import line_too_long
from lacec.syntax.source import SourceRule, byte_length


def check_limits(program: Program) -> Iterator[Diagnostic]:
    yield from check_sizes(program)
    yield from _rule_count(program)


def check_rule(rule: Rule, facet: Facet, limits: Limits) -> Iterator[Problem]:
    yield from _literals(rule, facet, limits)
    for atom in (rule.head, *body_atoms(rule)):
        yield from _arguments(atom, limits.arity)
        yield from _constants(atom.terms, limits.value_bytes)
    for literal in rule.body:
        if isinstance(literal, Unequal):
            yield from _constants((literal.left, literal.right), limits.value_bytes)
        elif isinstance(literal, Cardinality):
            yield from _constants((literal.operator, literal.bound), limits.value_bytes)


def check_sizes(program: Program) -> Iterator[Diagnostic]:
    limits = program.limits
    for parsed in program.sources:
        source = parsed.source
        if source.size > limits.source_bytes:
            yield Diagnostic(
                "source-too-long",
                f"the source has at least {source.size} bytes, over the limit source_bytes of "
                f"{limits.source_bytes}; nothing of it was read",
                place(source.name, 1, (0, 0)),
                "split it into files and link them with --with",
            )
        for number, text in enumerate(source.lines, start=1):
            if line_too_long(text, limits):
                yield Diagnostic(
                    "line-too-long",
                    f"the line has {byte_length(text)} bytes, over the limit line_bytes of "
                    f"{limits.line_bytes}; it was not read",
                    place(source.name, number, (0, 0)),
                    "split the rule with a helper predicate",
                )


def too_many_problems(program: Program) -> Diagnostic:
    """What stands for all the problems after the last that is reported."""
    most = program.limits.diagnostics
    return Diagnostic(
        "too-many-problems",
        f"there are more than {most} problems, the limit diagnostics; the others are not shown",
        place(program.sources[0].source.name, 1, (0, 0)),
        "mend these first: many problems are often one",
    )


def _rule_count(program: Program) -> Iterator[Diagnostic]:
    limits = program.limits
    distinct: dict[str, SourceRule] = {}
    for rule in program.rules:
        distinct.setdefault(rule.text, rule)
    count = len(distinct)
    if count > limits.rules:
        over = list(distinct.values())[limits.rules]
        peer = program.facet is Facet.SELECTOR and limits.rules == limits.selector_rules
        name = "selector_rules" if peer else "rules"
        yield over.diagnostic(
            "too-many-rules",
            over.rule.head.span,
            f"the program has {count} rules, over the limit {name} of {limits.rules}",
            "state facts as facts, not as rules, or split the policy",
        )
    elif program.facet is Facet.SELECTOR and count > limits.selector_rules:
        over = list(distinct.values())[limits.selector_rules]
        yield over.diagnostic(
            "large-selector",
            over.rule.head.span,
            f"the selector has {count} rules, and a peer need accept no more than "
            f"{limits.selector_rules} (limit selector_rules)",
            "a peer may refuse this selector: make it smaller",
        )


def _literals(rule: Rule, facet: Facet, limits: Limits) -> Iterator[Problem]:
    count = len(rule.body)
    if count > limits.literals:
        peer = facet is Facet.SELECTOR and limits.literals == limits.peer_literals
        name = "peer_literals" if peer else "literals"
        yield Problem(
            "too-many-atoms",
            rule.head.span,
            f"the body has {count} atoms, over the limit {name} of {limits.literals}",
            "split the rule with a helper predicate",
        )


def _arguments(atom: Atom, most: int) -> Iterator[Problem]:
    if len(atom.terms) > most and atom.name not in BUILTIN_ARITY:
        yield Problem(
            "too-many-arguments",
            atom.span,
            f"`{atom.name}` has {len(atom.terms)} arguments, over the limit arity of {most}",
            "split it into predicates that share a key",
        )


def _constants(terms: tuple[Term, ...], most: int) -> Iterator[Problem]:
    for term in terms:
        if isinstance(term, Constant) and 4 * len(term.value) > most:
            size = byte_length(term.value)
            if size > most:
                yield Problem(
                    "constant-too-long",
                    term.span,
                    f"this constant has {size} bytes, over the limit value_bytes of {most}",
                    "no fact can have a value this long: shorten it",
                )
