"""A module that knows when the exchange began, and never what time it is.

    Recent(P) :- Field(P,'TAI',_,T), StartTAI(S), LexCompare(T,'>',S).

In an open exchange `StartTAI` stands still while `TickTAI` moves; in a bounded one both are
the same (050).
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Edit, Fix
from lacec.core.predicates import Predicate
from lacec.lint.subject import Subject
from lacec.syntax.ast import body_atoms

START, TICK = Predicate("StartTAI", 1), Predicate("TickTAI", 1)


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    if START not in subject.reads or TICK in subject.reads:
        return
    for rule, _ in subject.own:
        for atom in body_atoms(rule.rule):
            if atom.predicate == START:
                yield Diagnostic(
                    "time-without-tick",
                    "`StartTAI` stands still in an open exchange, and nothing here reads `TickTAI`",
                    rule.place(atom.name_span),
                    "TickTAI(T) is the time of the evaluation; in a bounded exchange it is the "
                    "same",
                    fix=Fix("write TickTAI", (Edit(rule.place(atom.name_span), "TickTAI"),)),
                )
