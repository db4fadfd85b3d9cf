"""Stratification (030): no predicate needs itself through a negated or counted atom."""

from collections.abc import Iterator

from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic, Related

# A longer cycle is cut in the message; its related places have every edge.
MOST_NAMES = 8


def check_strata(program: Program) -> Iterator[Diagnostic]:
    """One diagnostic for each group of predicates, with its shortest cycle edge by edge."""
    for cycle in program.stratification.cycles:
        first = cycle[0]
        how = "negated" if first.kind == "negates" else "counted"
        path = [str(edge.head) for edge in cycle]
        if len(path) > MOST_NAMES:
            path[MOST_NAMES:] = ["…"]
        shown = " -> ".join([*path, str(first.head)])
        yield Diagnostic(
            "unstratified",
            f"`{first.head}` depends on itself through a {how} atom: {shown}",
            first.rule.place(first.span),
            f"`{first.needs}` must be complete before it is {how}: break the cycle in one rule",
            tuple(
                Related(
                    f"`{edge.head}` {edge.kind} `{edge.needs}` here", edge.rule.place(edge.span)
                )
                for edge in cycle
            ),
        )
