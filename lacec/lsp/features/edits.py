"""Changes that the server offers: formatting, and fixes as code actions."""

from collections.abc import Iterable

from lsprotocol import types

from lacec.core.diagnostics import Diagnostic, Fix
from lacec.core.errors import CompileError
from lacec.lint.fixes import apply_fixes
from lacec.lsp.positions import Positions, uri_of
from lacec.lsp.workspace import Analysis, Desk
from lacec.pipeline import format_source

KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll)
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
# More than this is more than anybody reads while typing.
MOST_DIAGNOSTICS = 1000
UNNEEDED = ("unused-helper", "duplicate-rule", "subsumed-rule", "repeated-atom", "pointless-test")


def format(desk: Desk, positions: Positions, path: str) -> list[types.TextEdit]:
    """One edit for the lines that change; none while a line cannot be read."""
    try:
        new = format_source(desk.read(path)).split("\n")
    except CompileError:
        return []
    return _difference(positions, desk.lines(path), new)


def _difference(positions: Positions, old: tuple[str, ...], new: list[str]) -> list[types.TextEdit]:
    if list(old) == new:
        return []
    most = min(len(old), len(new))
    top = 0
    while top < most - 1 and old[top] == new[top]:
        top += 1
    end = 0
    while end < most - top and old[-1 - end] == new[-1 - end]:
        end += 1
    start = types.Position(top, 0)
    if end:  # whole lines, up to where the first that stays begins
        text = "".join(line + "\n" for line in new[top : len(new) - end])
        return [types.TextEdit(types.Range(start, types.Position(len(old) - end, 0)), text)]
    last = types.Position(len(old) - 1, positions.column(old[-1], len(old[-1])))
    return [types.TextEdit(types.Range(start, last), "\n".join(new[top:]))]


def published(positions: Positions, analysis: Analysis) -> list[types.Diagnostic]:
    """The diagnostics of a file, and what is wrong with what it should be linked with."""
    lines = analysis.source.source.lines
    found = [
        _diagnostic(positions, each, lines) for each in analysis.diagnostics[:MOST_DIAGNOSTICS]
    ]
    if analysis.trouble is not None:
        top = types.Range(types.Position(0, 0), types.Position(0, 1))
        level = types.DiagnosticSeverity.Error
        found.insert(0, types.Diagnostic(top, analysis.trouble, level, source="lacec"))
    return found


def _diagnostic(
    positions: Positions, diagnostic: Diagnostic, lines: tuple[str, ...]
) -> types.Diagnostic:
    message = diagnostic.message
    if diagnostic.help:
        message += f"\n{diagnostic.help}"
    related = [
        types.DiagnosticRelatedInformation(positions.location(each.place), each.message)
        for each in diagnostic.related
    ]
    return types.Diagnostic(
        positions.range_within(diagnostic.place, lines),
        message,
        SEVERITIES[diagnostic.severity],
        diagnostic.name,
        source="lacec",
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if diagnostic.name in UNNEEDED else None,
    )


def code_actions(
    desk: Desk, positions: Positions, path: str, wanted: types.Range, only: Iterable[str] | None
) -> list[types.CodeAction]:
    """The fixes of the problems on the lines that were asked about; and all that are safe."""
    analysis = desk.analysis(path)
    lines = analysis.source.source.lines
    asked = tuple(only) if only is not None else KINDS
    found: list[types.CodeAction] = []
    for each in analysis.diagnostics:
        here = wanted.start.line < each.place.end_line and each.place.line - 1 <= wanted.end.line
        if each.fix is None or not here or not _is_asked(types.CodeActionKind.QuickFix, asked):
            continue
        found.append(
            types.CodeAction(
                each.fix.title,
                types.CodeActionKind.QuickFix,
                [_diagnostic(positions, each, lines)],
                is_preferred=each.fix.keeps_meaning,
                edit=types.WorkspaceEdit({uri_of(path): _edits(positions, each.fix, lines)}),
            )
        )
    safe = [each.fix for each in analysis.diagnostics if each.fix and each.fix.keeps_meaning]
    if safe and _is_asked(types.CodeActionKind.SourceFixAll, asked):
        new, _ = apply_fixes("\n".join(lines), safe)
        edits = _difference(positions, lines, new.split("\n"))
        found.append(
            types.CodeAction(
                "fix all that keep what the module means",
                types.CodeActionKind.SourceFixAll,
                edit=types.WorkspaceEdit({uri_of(path): edits}),
            )
        )
    return found


def _is_asked(kind: str, asked: tuple[str, ...]) -> bool:
    """Whether a kind is one of those asked for, or below one: kinds are words with dots."""
    return any(kind == each or kind.startswith(f"{each}.") for each in asked)


def _edits(positions: Positions, fix: Fix, lines: tuple[str, ...]) -> list[types.TextEdit]:
    return [types.TextEdit(positions.range_within(e.place, lines), e.text) for e in fix.edits]
