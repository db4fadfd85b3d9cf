"""Hover and signature help: what a predicate, a builtin or a field means, and its identity."""

import re

from lsprotocol import types

from lacec.canonical.identifiers import rule_id
from lacec.core.predicates import (
    BASE,
    BUILTIN_MEANING,
    BUILTINS,
    EXPOSE_EXPORTS,
    FIELDS,
    SELECTOR_EXPORTS,
    Predicate,
)
from lacec.lsp.cursor import calls_at, is_called, parameters, predicate_at, shape, token_at
from lacec.lsp.positions import Positions
from lacec.lsp.workspace import Analysis, Desk
from lacec.syntax.ast import Annotation, Comment
from lacec.syntax.source import SourceRule

MEANINGS = {**BASE, **SELECTOR_EXPORTS, **EXPOSE_EXPORTS}
_QUOTED = re.compile(r"'(.*)'")


def hover(
    desk: Desk, positions: Positions, path: str, position: types.Position
) -> types.Hover | None:
    analysis = desk.analysis(path)
    line, offset = positions.cursor(path, position)
    token = token_at(line, offset)
    if token is None:
        return None
    said = None
    quoted = _QUOTED.fullmatch(token.text) if token.kind == "CONSTANT" else None
    if token.text in BUILTINS and is_called(line, token):
        said = f"```lace\n{BUILTINS[token.text]}\n```\n{BUILTIN_MEANING[token.text]}"
    elif quoted and quoted[1] in FIELDS:
        said = f"`{quoted[1]}`: {FIELDS[quoted[1]]}"
    elif (predicate := predicate_at(analysis, position.line, offset)) is not None:
        said = _predicate(analysis, predicate, position.line + 1)
    if said is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, said)
    return types.Hover(content, positions.span(position.line, line, token.span))


def _predicate(analysis: Analysis, predicate: Predicate, line: int) -> str:
    rules = analysis.rules_of.get(predicate, [])
    form, meaning = describe(analysis, predicate)
    said = [f"```lace\n{form}\n```"]
    if meaning:
        said.append(meaning)
    if not rules:
        said.append("A base predicate." if predicate in BASE else "Nothing defines it: empty.")
        return "\n\n".join(said)
    files = len({rule.source.name for rule in rules})
    count = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    where = "" if files == 1 else f" in {files} files"
    said.append(f"`{predicate}`: {count}{where}, stratum {analysis.strata[predicate]}")
    here = analysis.rules_by_line.get(line)
    if here is not None and here.rule.predicate == predicate and not here.repaired:
        said.append(f"rule `{rule_id(here.text)}`")
    if analysis.identity is not None:
        said.append(f"module `{analysis.identity}`")
    return "\n\n".join(said)


def describe(analysis: Analysis, predicate: Predicate) -> tuple[str, str]:
    """The form of a predicate and what is said about it."""
    if predicate in MEANINGS:
        form, _, meaning = MEANINGS[predicate].partition(": ")
        return form, meaning
    rules = analysis.rules_of.get(predicate)
    if not rules:
        return f"{predicate.name}({','.join('_' * predicate.arity)})", ""
    form = f"{predicate.name}({','.join(shape(rules[0].rule.head))})"
    return form, "\n\n".join(said for rule in rules if (said := _said(analysis, rule)))


def _said(analysis: Analysis, rule: SourceRule) -> str:
    """The label and the reason of a rule, and the comment above it."""
    parsed = next(s for s in analysis.program.sources if s.source is rule.source)
    comment: list[str] = []
    for node in reversed(parsed.nodes[: rule.line - 1]):
        if isinstance(node, Comment) and node.text:
            comment.insert(0, node.text.lstrip("# "))
        elif not isinstance(node, Annotation):
            break
    noted = (rule.annotations.get(key) for key in ("label", "why"))
    said = ": ".join(each for each in noted if isinstance(each, str))
    return "\n\n".join(each for each in (said, " ".join(comment)) if each)


def signature_help(
    desk: Desk, positions: Positions, path: str, position: types.Position
) -> types.SignatureHelp | None:
    analysis = desk.analysis(path)
    line, offset = positions.cursor(path, position)
    calls = calls_at(line, offset)
    if not calls:
        return None
    name, argument = calls[-1].name.text, calls[-1].argument
    if name in BUILTINS:
        forms = [(BUILTINS[name], BUILTIN_MEANING[name])]
    else:
        known = dict.fromkeys((*analysis.rules_of, *MEANINGS))
        forms = [describe(analysis, each) for each in known if each.name == name]
    if not forms:
        return None
    signatures = [
        types.SignatureInformation(
            form,
            types.MarkupContent(types.MarkupKind.Markdown, meaning),
            [types.ParameterInformation(each) for each in parameters(form)],
        )
        for form, meaning in forms
    ]
    fits = (n for n, s in enumerate(signatures) if len(s.parameters or ()) > argument)
    return types.SignatureHelp(signatures, next(fits, 0), argument)
