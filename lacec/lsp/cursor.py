"""What stands at a place of a line, also of one that is half typed: tokens, not nodes.

In: the text of a line and an offset. Out: the token there, the call around it.
"""

from dataclasses import dataclass

from lacec.core.predicates import BASE, NAMED_FIELDS, Predicate
from lacec.lsp.workspace import Analysis, atoms_of
from lacec.syntax.ast import Atom
from lacec.syntax.lexer import Token, tokens_of

NAMES = ("CAPITAL", "NAME", "PRIVATE", "CARDINALITY")


@dataclass(frozen=True)
class Call:
    """A predicate with an open parenthesis before the cursor, and the argument it is in."""

    name: Token
    argument: int


def tokens(line: str) -> list[Token]:
    return [Token(*raw) for raw in tokens_of(line)][:-1]


def token_at(line: str, offset: int) -> Token | None:
    """The token that has the offset; the one before it, when the offset is between two."""
    found = [token for token in tokens(line) if token.start <= offset <= token.end]
    return next((t for t in found if t.kind in (*NAMES, "CONSTANT", "ANONYMOUS")), None) or (
        found[-1] if found else None
    )


def is_called(line: str, token: Token) -> bool:
    """Whether a name is a predicate: a parenthesis follows."""
    return token.kind in NAMES and line[token.end :].lstrip(" \t").startswith("(")


def calls_at(line: str, offset: int) -> list[Call]:
    """The calls around the offset, the innermost last."""
    found: list[Call | None] = []
    before: Token | None = None
    for token in tokens(line):
        if token.end > offset:
            break
        if token.kind == "LPAR":
            named = before is not None and before.kind in NAMES
            found.append(Call(before, 0) if before is not None and named else None)
        elif token.kind == "RPAR" and found:
            found.pop()
        elif token.kind == "COMMA" and found and (last := found[-1]) is not None:
            found[-1] = Call(last.name, last.argument + 1)
        elif token.kind == "ARROW":
            found.clear()
        before = token
    return [each for each in found if each is not None]


def in_body(line: str, offset: int) -> bool:
    return any(token.kind == "ARROW" and token.end <= offset for token in tokens(line))


def predicate_at(analysis: Analysis, line: int, offset: int) -> Predicate | None:
    """The predicate whose name is at an offset of a line, counted from 0."""
    rule = analysis.rules_by_line.get(line + 1)
    if rule is not None:
        for atom in atoms_of(rule):
            start, end = atom.name_span
            if start <= offset <= end:
                return atom.predicate
    lines = analysis.source.source.lines
    text = lines[line] if line < len(lines) else ""
    token = token_at(text, offset)
    if token is None or not is_called(text, token):
        return None
    # A line that cannot be read: the name alone says which is meant.
    return next((p for p in (*analysis.rules_of, *BASE) if p.name == token.text), None)


def field_position(name: str) -> int | None:
    """The argument that is the name of a field, for the predicates that have one."""
    return next((at for predicate, (at, _) in NAMED_FIELDS.items() if predicate.name == name), None)


def parameters(form: str) -> list[str]:
    """The arguments of a form such as `Field(P,Name,Index,Value)`; those of a call are one."""
    inner = form[form.index("(") + 1 : form.rindex(")")]
    found, depth = [""], 0
    for character in inner:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [each for each in found if each]


def shape(atom: Atom) -> list[str]:
    """The arguments of a head as names for a reader."""
    return [getattr(term, "name", f"A{n}") for n, term in enumerate(atom.terms, start=1)]
