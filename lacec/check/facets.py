"""What a module must define to be of use: a selector both exports (040), any module a rule (D6)."""

from collections.abc import Iterator

from lacec.check.program import Program
from lacec.check.spelling import nearest
from lacec.core.diagnostics import Diagnostic, has_errors, place
from lacec.core.facets import Facet


def check_facets(program: Program) -> Iterator[Diagnostic]:
    for parsed in program.sources:
        read = parsed.source.lines and None not in parsed.nodes
        if read and not parsed.rules and not has_errors(parsed.diagnostics):
            yield Diagnostic(
                "empty-source",
                "this source has no rules",
                place(parsed.source.name, 1, (0, 0)),
                "a module without rules is valid; every predicate in it is empty",
            )
    if program.unread_lines:
        return  # the missing rule may be on a line that could not be read
    names = [predicate.name for predicate in program.defined]
    for export, meaning in program.facet.exports.items():
        if export in program.defined:
            continue
        other = next((p for p in program.defined if p.name == export.name), None)
        close = None if other else nearest(export.name, names)
        if other is not None:
            hint = f"; here `{other.name}` has {_arguments(other.arity)}"
        else:
            hint = f"; did you mean it by `{close}`?" if close else ""
        where = place(program.sources[0].source.name, 1, (0, 0))
        if program.facet is Facet.SELECTOR:
            message = f"a selector must define `{export}`"
            yield Diagnostic("missing-export", message, where, meaning + hint)
        else:
            message = f"this module defines no `{export}`, so it exposes nothing to anyone"
            yield Diagnostic("exposes-nothing", message, where, meaning + hint)


def _arguments(count: int) -> str:
    return f"{count} argument" if count == 1 else f"{count} arguments"
