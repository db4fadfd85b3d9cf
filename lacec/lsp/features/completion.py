"""Completion: predicates, builtins and snippets; field names and operators in quotes; variables."""

from collections.abc import Iterator
from functools import lru_cache

from lsprotocol import types

from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import BASE, BUILTIN_MEANING, BUILTINS, FIELDS, OPERATORS
from lacec.core.resources import stdlib_names, stdlib_path
from lacec.lsp.cursor import calls_at, field_position, in_body, parameters, tokens
from lacec.lsp.features.hover import describe
from lacec.lsp.positions import Positions
from lacec.lsp.workspace import Analysis, Desk
from lacec.syntax.ast import Comment
from lacec.syntax.parse import parse
from lacec.syntax.show import show_rule
from lacec.syntax.source import read

TRIGGERS = ("(", ",", "'")
MOST_ITEMS = 1000
Kind = types.CompletionItemKind


def completion(
    desk: Desk, positions: Positions, path: str, position: types.Position, snippets: bool
) -> types.CompletionList:
    analysis = desk.analysis(path)
    line, offset = positions.cursor(path, position)
    before = line[:offset]
    if before.lstrip().startswith("#"):
        return types.CompletionList(False, [])
    calls = calls_at(line, offset)
    quoted = _open_quote(before)
    if quoted is not None:
        call = calls[-1] if calls else None
        found = [] if call is None else _constants(analysis, call.name.text, call.argument)
        edit = positions.span(position.line, line, (quoted + 1, offset))
        items = [_quoted(word, detail, edit) for word, detail in found]
    elif calls and not (calls[-1].name.text == "Cardinality" and calls[-1].argument == 0):
        items = list(_terms(line, before))
    elif in_body(line, offset):
        items = [*_predicates(analysis, snippets), *_builtins(snippets)]
    else:
        items = [*_heads(analysis, snippets), *_library(snippets)]
    return types.CompletionList(len(items) > MOST_ITEMS, items[:MOST_ITEMS])


def _open_quote(before: str) -> int | None:
    """Where a constant begins that has not ended yet."""
    last = tokens(before)[-1:]
    return last[0].start if last and last[0].kind == "UNTERMINATED" else None


def _constants(analysis: Analysis, name: str, argument: int) -> list[tuple[str, str]]:
    if argument == field_position(name):
        own = ((field, "listed in lace.toml") for field in sorted(analysis.settings.fields))
        return [*FIELDS.items(), *own]
    if name in ("IntCompare", "LexCompare", "Cardinality") and argument == 1:
        return [(operator, "a comparison") for operator in OPERATORS]
    return []


def _quoted(word: str, detail: str, where: types.Range) -> types.CompletionItem:
    edit = types.TextEdit(where, word)
    return types.CompletionItem(word, kind=Kind.Value, detail=detail, text_edit=edit)


def _terms(line: str, before: str) -> Iterator[types.CompletionItem]:
    """The variables of the line, but for the one that is being typed."""
    seen = {
        token.text
        for token in tokens(line)
        if token.kind == "CAPITAL"
        and token.end != len(before)
        and not line[token.end :].lstrip(" \t").startswith("(")
    }
    for name in sorted(seen):
        yield types.CompletionItem(name, kind=Kind.Variable)
    yield types.CompletionItem("_", kind=Kind.Variable, detail="matches anything")


def _predicates(analysis: Analysis, snippets: bool) -> Iterator[types.CompletionItem]:
    for predicate in (*analysis.rules_of, *BASE):
        form, meaning = describe(analysis, predicate)
        yield _call(form, str(predicate), meaning, Kind.Function, snippets)


def _builtins(snippets: bool) -> Iterator[types.CompletionItem]:
    for name, form in BUILTINS.items():
        yield _call(form, "builtin", BUILTIN_MEANING[name], Kind.Operator, snippets)
    for word, detail in (("not", "the atom does not hold"), ("true", "always holds")):
        yield types.CompletionItem(word, kind=Kind.Keyword, detail=detail)


def _heads(analysis: Analysis, snippets: bool) -> Iterator[types.CompletionItem]:
    """What a rule may define: what the module is read for, and what others define already."""
    for predicate in dict.fromkeys((*analysis.program.facet.exports, *analysis.rules_of)):
        if predicate not in BASE:
            form, meaning = describe(analysis, predicate)
            yield _call(form, str(predicate), meaning, Kind.Function, snippets)


def _call(form: str, detail: str, meaning: str, kind: Kind, snippets: bool) -> types.CompletionItem:
    name = form.partition("(")[0]
    item = types.CompletionItem(name, kind=kind, detail=detail, documentation=meaning or None)
    if snippets:
        holes = ",".join(f"${{{n}:{text}}}" for n, text in enumerate(parameters(form), start=1))
        item.insert_text = f"{name}({holes})"
        item.insert_text_format = types.InsertTextFormat.Snippet
    return item


@lru_cache(maxsize=1)
def _library_rules() -> tuple[tuple[str, str, str], ...]:
    """Of each rule of the standard library its label, its text and what its file says."""
    found = []
    for name in stdlib_names():
        parsed = parse(
            read(f"std:{name}", stdlib_path(name).read_bytes(), DEFAULT_LIMITS), DEFAULT_LIMITS
        )
        comments = [node.text for node in parsed.nodes if isinstance(node, Comment)]
        about = "\n".join(text.removeprefix("#").strip() for text in comments).strip()
        for rule in parsed.rules:
            label = rule.annotations.get("label")
            shown = f"{rule.rule.head.name} (std:{name}{f', {label}' if label else ''})"
            found.append((shown, show_rule(rule.rule), about))
    return tuple(found)


def _library(snippets: bool) -> Iterator[types.CompletionItem]:
    for label, text, about in _library_rules():
        escaped = text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
        yield types.CompletionItem(
            label,
            kind=Kind.Snippet,
            detail=text,
            documentation=about,
            filter_text=text,
            insert_text=escaped if snippets else text,
            insert_text_format=types.InsertTextFormat.Snippet if snippets else None,
        )
