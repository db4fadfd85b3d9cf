"""Definition, references, rename, symbols: where names stand, across linked files."""

import re
from collections.abc import Iterator

from lsprotocol import types

from lacec.core.diagnostics import Place
from lacec.core.errors import LacecError
from lacec.core.predicates import (
    BASE,
    BUILTINS,
    EXPOSE_EXPORTS,
    GENERATED,
    GENERATED_PREFIX,
    SELECTOR_EXPORTS,
    Predicate,
)
from lacec.core.resources import LIBRARY
from lacec.lsp.cursor import predicate_at
from lacec.lsp.positions import Positions, uri_of
from lacec.lsp.workspace import Analysis, Desk, atoms_of
from lacec.syntax.ast import Cardinality, Literal, Negated, Rule, Term, Unequal, Variable
from lacec.syntax.lexer import tokens_of
from lacec.syntax.source import SourceRule

MOST_SYMBOLS = 1000
VARIABLE = re.compile(r"[A-Z][A-Za-z0-9_]*")


class RenameError(LacecError):
    """A name that cannot be given, or taken away: why."""


def definition(
    desk: Desk, positions: Positions, path: str, position: types.Position
) -> list[types.Location]:
    analysis = desk.analysis(path)
    _, offset = positions.cursor(path, position)
    predicate = predicate_at(analysis, position.line, offset)
    if predicate is None:
        return [
            positions.location(place) for place in _variable(analysis, position.line, offset)[:1]
        ]
    places = desk.occurrences(path, predicate)
    return [positions.location(place) for place, defines in places.items() if defines]


def references(
    desk: Desk, positions: Positions, path: str, position: types.Position, declarations: bool
) -> list[types.Location]:
    analysis = desk.analysis(path)
    _, offset = positions.cursor(path, position)
    predicate = predicate_at(analysis, position.line, offset)
    if predicate is None:
        return [positions.location(each) for each in _variable(analysis, position.line, offset)]
    places = desk.occurrences(path, predicate)
    return [
        positions.location(place)
        for place, defines in places.items()
        if declarations or not defines
    ]


def _variable(analysis: Analysis, line: int, offset: int) -> list[Place]:
    """The places of the variable at an offset, all in its rule; none where there is none."""
    rule = analysis.rules_by_line.get(line + 1)
    if rule is None:
        return []
    found = [term for term in _terms(rule.rule) if isinstance(term, Variable)]
    name = next((v.name for v in found if v.span[0] <= offset <= v.span[1]), None)
    return [rule.place(v.span) for v in found if v.name == name]


def _terms(rule: Rule) -> Iterator[Term]:
    parts: tuple[Literal, ...] = (rule.head, *rule.body)
    for part in parts:
        if isinstance(part, Unequal):
            yield from (part.left, part.right)
        elif isinstance(part, Cardinality):
            yield from (*part.atom.terms, part.operator, part.bound)
        elif isinstance(part, Negated):
            yield from part.atom.terms
        else:
            yield from getattr(part, "terms", ())


def prepare_rename(
    desk: Desk, positions: Positions, path: str, position: types.Position
) -> types.Range | None:
    analysis = desk.analysis(path)
    _, offset = positions.cursor(path, position)
    predicate = predicate_at(analysis, position.line, offset)
    if predicate is not None:
        _check_old(predicate)
        places = list(desk.occurrences(path, predicate))
    else:
        places = _variable(analysis, position.line, offset)
    for place in places:
        here = place.file == path and place.line == position.line + 1
        if here and place.column - 1 <= offset <= place.end_column - 1:
            return positions.range(place)
    return None


def rename(
    desk: Desk, positions: Positions, path: str, position: types.Position, name: str
) -> types.WorkspaceEdit | None:
    analysis = desk.analysis(path)
    _, offset = positions.cursor(path, position)
    predicate = predicate_at(analysis, position.line, offset)
    if predicate is None:
        places = _variable(analysis, position.line, offset)
        if places:
            rule = analysis.rules_by_line[position.line + 1]
            _check_variable(rule, name)
    else:
        _check_old(predicate)
        places = list(desk.occurrences(path, predicate))
        for each in dict.fromkeys(place.file for place in places):
            if each.startswith(LIBRARY):
                raise RenameError(f"`{predicate}` stands in {each}, which cannot be changed")
            _check_new(desk.analysis(each), Predicate(name, predicate.arity))
    if not places:
        return None
    changes: dict[str, list[types.TextEdit]] = {}
    for place in places:
        edit = types.TextEdit(positions.range(place), name)
        changes.setdefault(uri_of(place.file), []).append(edit)
    return types.WorkspaceEdit(changes)


def _check_old(predicate: Predicate) -> None:
    if predicate in BASE or predicate.name in BUILTINS:
        raise RenameError(f"`{predicate}` belongs to the language, and keeps its name")
    if predicate in SELECTOR_EXPORTS or predicate in EXPOSE_EXPORTS or predicate in GENERATED:
        raise RenameError(f"`{predicate}` is what a module is read for, and keeps its name")


def _check_new(analysis: Analysis, predicate: Predicate) -> None:
    tokens = tokens_of(predicate.name)
    if len(tokens) != 2 or tokens[0][0] not in ("CAPITAL", "NAME", "PRIVATE"):
        raise RenameError(f"`{predicate.name}` is not the name of a predicate")
    if predicate.name in BUILTINS or predicate in BASE or GENERATED_PREFIX.match(predicate.name):
        raise RenameError(f"`{predicate}` belongs to the language")
    if predicate in analysis.rules_of or any(
        read == predicate for rule in analysis.program.rules for read, _, _ in rule.rule.reads
    ):
        raise RenameError(f"`{predicate}` is there already, and the two would become one")


def _check_variable(rule: SourceRule, name: str) -> None:
    if not VARIABLE.fullmatch(name):
        raise RenameError(f"`{name}` is not the name of a variable: those begin with A to Z")
    if any(isinstance(term, Variable) and term.name == name for term in _terms(rule.rule)):
        raise RenameError(f"the rule has a variable `{name}` already")


# Symbols.


def document_symbols(desk: Desk, positions: Positions, path: str) -> list[types.DocumentSymbol]:
    analysis = desk.analysis(path)
    found = []
    for rule in analysis.source.rules:
        line = rule.source.lines[rule.line - 1]
        label = rule.annotations.get("label")
        found.append(
            types.DocumentSymbol(
                str(rule.rule.predicate),
                types.SymbolKind.Function,
                positions.span(rule.line - 1, line, (0, len(line))),
                positions.span(rule.line - 1, line, rule.rule.head.name_span),
                label if isinstance(label, str) else None,
            )
        )
    return found


def workspace_symbols(desk: Desk, positions: Positions, query: str) -> list[types.WorkspaceSymbol]:
    """The predicates of all files whose names have the letters of the query, in their order."""
    letters = re.compile(".*?".join(map(re.escape, query)), re.IGNORECASE)
    found: list[types.WorkspaceSymbol] = []
    for path in desk.files():
        analysis = desk.analysis(path)
        told: set[Predicate] = set()
        for rule in analysis.source.rules:
            predicate = rule.rule.predicate
            if predicate in told or not letters.search(predicate.name):
                continue
            told.add(predicate)
            head = next(atoms_of(rule))
            where = positions.range_within(rule.place(head.name_span), rule.source.lines)
            location = types.Location(uri_of(path), where)
            kind = types.SymbolKind.Function
            found.append(types.WorkspaceSymbol(location, str(predicate), kind))
            if len(found) >= MOST_SYMBOLS:
                return found
    return found
