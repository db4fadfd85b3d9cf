"""How a file looks: semantic tokens, folding, and hints of which arguments are bound."""

from collections.abc import Iterator
from functools import lru_cache

from lsprotocol import types

from lacec.core.predicates import BASE, BUILTINS
from lacec.lsp.cursor import NAMES, is_called, tokens
from lacec.lsp.positions import Positions
from lacec.lsp.workspace import Desk
from lacec.syntax.ast import Annotation, Atom, Comment, Line, Rule, Variable
from lacec.syntax.parse import CACHED_LINES

TYPES = ("function", "variable", "string", "comment", "decorator", "keyword", "operator")
MODIFIERS = ("definition", "defaultLibrary")
LEGEND = types.SemanticTokensLegend(TYPES, MODIFIERS)
_DEFINITION, _LIBRARY = 1, 2
_KINDS = {
    "CONSTANT": "string",
    "UNTERMINATED": "string",
    "COMMENT": "comment",
    "ANNOTATION": "decorator",
    "NOT": "keyword",
    "TRUE": "keyword",
    "ARROW": "operator",
    "UNEQUAL": "operator",
    "ANONYMOUS": "variable",
}
_LIBRARY_NAMES = {*BUILTINS, *(predicate.name for predicate in BASE)}
# Longer lines have no colours: each token of theirs would be counted from the margin.
LONGEST = 4096
Painted = tuple[int, int, int, int]


@lru_cache(maxsize=CACHED_LINES)
def _paint(line: str) -> tuple[Painted, ...]:
    """Start, end, type and modifiers of the tokens of a line."""
    found = []
    for token in tokens(line):
        modifiers = 0
        if token.kind in NAMES and is_called(line, token):
            kind = "function"
            if token.text in _LIBRARY_NAMES:
                modifiers = _LIBRARY
            elif not line[: token.start].strip():
                modifiers = _DEFINITION
        elif token.kind == "CAPITAL":
            kind = "variable"
        elif token.kind in _KINDS:
            kind = _KINDS[token.kind]
        else:
            continue
        found.append((token.start, token.end, TYPES.index(kind), modifiers))
    return tuple(found)


def semantic_tokens(desk: Desk, positions: Positions, path: str) -> types.SemanticTokens:
    data: list[int] = []
    last_line = 0
    for number, line in enumerate(desk.lines(path)):
        last = 0
        for start, end, kind, modifiers in _paint(line) if len(line) <= LONGEST else ():
            begin, after = positions.column(line, start), positions.column(line, end)
            data += (number - last_line, begin - last, after - begin, kind, modifiers)
            last_line, last = number, begin
    return types.SemanticTokens(data)


def folding(desk: Desk, path: str) -> list[types.FoldingRange]:
    """Blocks of comments, and the rules of one predicate that stand together."""
    nodes = desk.analysis(path).source.nodes
    found: list[types.FoldingRange] = []
    blocks: list[str | None] = [None]
    for node in reversed(nodes):  # an annotation belongs to the rule that comes next
        blocks.append(blocks[-1] if isinstance(node, Annotation) else _block(node))
    blocks.reverse()
    start, what = 0, blocks[0]
    for number, here in enumerate(blocks):
        if here != what:
            if what is not None and number - start > 1:
                kind = types.FoldingRangeKind.Comment if what == "#" else None
                found.append(types.FoldingRange(start, number - 1, kind=kind))
            start, what = number, here
    return found


def _block(node: Line | None) -> str | None:
    """What a line is together with: comments, or a predicate; nothing for a blank line."""
    match node:
        case Comment(text) if text:
            return "#"
        case Rule():
            return str(node.predicate)
    return None


def inlay_hints(
    desk: Desk, positions: Positions, path: str, wanted: types.Range
) -> list[types.InlayHint]:
    """`=` before each argument that an atom to its left has bound: there the atom looks up."""
    found = []
    analysis = desk.analysis(path)
    for number in range(wanted.start.line, wanted.end.line + 1):
        rule = analysis.rules_by_line.get(number + 1)
        if rule is None or rule.repaired:
            continue
        line = rule.source.lines[rule.line - 1]
        for variable, binder in _bound(rule.rule):
            column = positions.column(line, variable.span[0])
            text = f"`{variable.name}` is bound by `{binder}` on the left"
            hint = types.InlayHint(types.Position(number, column), "=", tooltip=text)
            hint.kind = types.InlayHintKind.Parameter
            found.append(hint)
    return found


def _bound(rule: Rule) -> Iterator[tuple[Variable, str]]:
    """The arguments of positive atoms that are bound already, each with what binds it."""
    binders: dict[str, str] = {}
    for literal in rule.body:
        if isinstance(literal, Atom) and literal.name not in BUILTINS:
            variables = list(literal.variables)
            for variable in variables:
                if variable.name in binders:
                    yield variable, binders[variable.name]
            for variable in variables:
                binders.setdefault(variable.name, str(literal.predicate))
