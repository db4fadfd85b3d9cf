"""A predicate that no rule and no profile defines: it is empty by definition (030).

    Selected(P) :- Have(P), Approved(P).      nothing says what is approved

A plain module may be given facts for it; `inputs` in a `lace.toml` says so. Near-misses and
names that other languages have as builtins are told by rules of their own.
"""

from collections.abc import Iterator

from lacec.check.spelling import check_spelling
from lacec.core.diagnostics import Diagnostic
from lacec.core.facets import Facet
from lacec.core.predicates import EXPOSE_EXPORTS, GENERATED, SELECTOR_EXPORTS, Predicate
from lacec.lint.rules.builtin_look_alike import LOOK_ALIKES
from lacec.lint.subject import Subject
from lacec.syntax.ast import body_atoms


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    program = subject.program
    if program.unread_lines:
        return  # the missing rule may be on a line that could not be read
    # Another check speaks of these, or they are empty only until two modules meet.
    elsewhere = {*SELECTOR_EXPORTS, *EXPOSE_EXPORTS, *GENERATED}
    missing = subject.strangers - elsewhere
    if not missing:
        return
    told = {each.place for each in check_spelling(program)}
    for rule, anatomy in subject.own:
        if missing.isdisjoint(anatomy.reads):
            continue
        once: set[Predicate] = set()
        for atom in body_atoms(rule.rule):
            if (
                atom.predicate not in missing
                or atom.predicate in once
                or atom.name in LOOK_ALIKES
                or rule.place(atom.name_span) in told
                or rule.place(atom.span) in told
            ):
                continue
            once.add(atom.predicate)
            help = "define it with a rule, or link the file that does"
            if program.facet is Facet.PLAIN:
                help += "; if facts are given for it, list it as `inputs` in lace.toml"
            yield rule.diagnostic(
                "undefined-predicate",
                atom.name_span,
                f"nothing defines `{atom.predicate}`, so it is empty",
                help,
            )
