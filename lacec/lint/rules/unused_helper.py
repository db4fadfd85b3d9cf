"""A predicate that nothing needs which the module is read for.

    SelectHave(P) :- Have(P).
    SelectAdvertised(P,S) :- Advertised(P,S).
    Blocked(V) :- Field(P,'App',_,'blocked'), Field(P,'Name',_,V).      nobody asks

What a plain module is read for is not known, unless a `lace.toml` lists `outputs`.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic
from lacec.lint.subject import Subject


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    exports = subject.exports
    if not exports or subject.program.unread_lines or exports.isdisjoint(subject.by_head):
        return  # nothing is known, or a missing export is told already
    told = subject.reachable(exports)
    for rule, anatomy in subject.own:
        if anatomy.head not in told:
            told.add(anatomy.head)
            names = ", ".join(str(export) for export in sorted(exports))
            yield rule.diagnostic(
                "unused-helper",
                rule.rule.head.name_span,
                f"nothing needs `{anatomy.head}` for {names}",
                "use it in a rule that is needed, or leave it out",
            )
