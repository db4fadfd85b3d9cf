"""Mistakes in one token: quotes, numbers, names, operators of other languages."""

import unicodedata

from lacec.core.diagnostics import Problem, quote
from lacec.syntax.lexer import Token
from lacec.syntax.mistakes.situation import WORDS, Answer, Situation


def unterminated_constant(at: Situation) -> Answer | None:
    if at.token.kind != "UNTERMINATED":
        return None
    start = at.token.start
    problem = Problem(
        "unterminated-constant",
        (start, start + 1),
        "this constant has no closing quote",
        "close it with `'`; a quote inside a constant is written `\\'`",
    )
    return problem, None


def bad_escape(at: Situation) -> Answer | None:
    if at.token.kind != "BAD_ESCAPE":
        return None
    text, offset = at.token.text, 0
    mended: list[str] = []
    first: int | None = None
    while offset < len(text):
        if text[offset] != "\\":
            mended.append(text[offset])
            offset += 1
            continue
        good = text[offset + 1] in "\\'"
        if not good and first is None:
            first = offset
        mended.append(text[offset : offset + 2] if good else "\\\\" + text[offset + 1])
        offset += 2
    assert first is not None
    start = at.token.start + first
    problem = Problem(
        "bad-escape",
        (start, start + 2),
        f"{quote(text[first : first + 2])} is not an escape",
        "the only escapes are `\\\\` for a backslash and `\\'` for a quote",
    )
    return problem, at.replace("CONSTANT", "".join(mended))


def wrong_quotes(at: Situation) -> Answer | None:
    if at.token.kind != "QUOTED":
        return None
    text = at.token.text
    inner = text[1:-1] if len(text) > 1 and text[-1] in '"”’`' else text[1:]
    constant = "'" + inner.replace("\\", "\\\\").replace("'", "\\'") + "'"
    problem = Problem(
        "wrong-quotes",
        at.token.span,
        "constants are written in single quotes",
        f"write {quote(constant)}",
    )
    return problem, at.replace("CONSTANT", constant)


def unquoted_number(at: Situation) -> Answer | None:
    if at.token.kind != "NUMBER" or "CONSTANT" not in at.expected:
        return None
    text = at.token.text
    problem = Problem(
        "unquoted-number",
        at.token.span,
        f"{quote(text)} is not a term: all values are text",
        f"write it as a constant, {quote(repr(text))}",
    )
    return problem, at.replace("CONSTANT", f"'{text}'")


def wrong_arrow(at: Situation) -> Answer | None:
    if at.token.kind not in ("OPERATOR", "UNEQUAL") or "ARROW" not in at.expected:
        return None
    problem = Problem(
        "wrong-arrow",
        at.token.span,
        f"{quote(at.token.text)} does not join a head to its body",
        "write `:-` between them",
    )
    return problem, at.replace("ARROW", ":-")


def wrong_comment(at: Situation) -> Answer | None:
    if at.index or at.token.text not in ("%", "//", "--", "/*"):
        return None
    problem = Problem(
        "wrong-comment",
        at.token.span,
        f"{quote(at.token.text)} does not begin a comment",
        "a comment begins with `#` and has the line to itself",
    )
    return problem, None


def equality_atom(at: Situation) -> Answer | None:
    if at.token.text not in ("=", "=="):
        return None
    problem = Problem(
        "equality-atom",
        at.token.span,
        f"{quote(at.token.text)} is not Lace Datalog",
        "use the same variable, or the constant, in both places",
    )
    return problem, _as_unequal(at)


def infix_comparison(at: Situation) -> Answer | None:
    if at.token.text not in ("<", "<=", ">", ">=", "=<", "<>"):
        return None
    operator = {"=<": "<="}.get(at.token.text, at.token.text)
    call = f"({_operand(at.before, 'A')},'{operator}',{_operand(at.after, 'B')})"
    help = f"write IntCompare{call} for numbers, LexCompare{call} for text"
    problem = Problem(
        "infix-comparison",
        at.token.span,
        f"{quote(at.token.text)} is not an operator of the language",
        "write `!=`" if at.token.text == "<>" else help,
    )
    return problem, _as_unequal(at)


def _operand(token: Token, otherwise: str) -> str:
    """A term as it would stand in a builtin, if it is short and plain."""
    if len(token.text) > 20 or not token.text.isprintable():
        return otherwise
    if token.kind == "NUMBER":
        return f"'{token.text}'"
    return token.text if token.kind in ("CAPITAL", "CONSTANT") else otherwise


def _as_unequal(at: Situation) -> list[Token] | None:
    """Read on as if `!=` stood there, where that can stand."""
    fits = "UNEQUAL" in at.expected or at.before.kind in ("NAME", "PRIVATE")
    return at.replace("UNEQUAL", "!=") if fits else None


def wrong_negation(at: Situation) -> Answer | None:
    """`!P(X)`, `~P(X)`, `\\+ P(X)`, `-P(X)`, `NOT P(X)`, `not (P(X))`."""
    help = "negation is written `not P(X)`"
    token, before = at.token, at.before
    if token.kind == "OPERATOR" and token.text in ("!", "~", "\\+", "-") and "NOT" in at.expected:
        message = f"{quote(token.text)} does not negate an atom"
        return Problem("wrong-negation", token.span, message, help), at.replace("NOT", "not")
    if token.kind in WORDS and before.kind in WORDS and before.text.lower() == "not":
        message = f"{quote(before.text)} is not the keyword `not`"
        return Problem("wrong-negation", before.span, message, help), at.replace("NOT", "not", 1)
    if token.kind == "LPAR" and before.kind == "NOT" and _parenthesised_atom(at):
        message = "a negated atom has no parentheses around it"
        close = _closing(at.tokens, at.index)
        tokens = [t for i, t in enumerate(at.tokens) if i not in (at.index, close)]
        return Problem("wrong-negation", token.span, message, help), tokens
    return None


def _parenthesised_atom(at: Situation) -> bool:
    following = [token.kind for token in at.tokens[at.index + 1 : at.index + 3]]
    return len(following) == 2 and following[0] in WORDS and following[1] == "LPAR"


def _closing(tokens: list[Token], index: int) -> int:
    """The index of the parenthesis that closes the one at `index`; that of END when none does."""
    depth = 0
    for i in range(index, len(tokens)):
        depth += (tokens[i].kind == "LPAR") - (tokens[i].kind == "RPAR")
        if depth == 0:
            return i
    return len(tokens)


EITHER, BOTH = (";", "|", "||", "or"), ("&", "&&", "and")


def wrong_connective(at: Situation) -> Answer | None:
    text = at.token.text.lower()
    if text not in (*EITHER, *BOTH) or "COMMA" not in at.expected or at.after.kind == "LPAR":
        return None
    either = text in EITHER
    problem = Problem(
        "wrong-connective",
        at.token.span,
        f"{quote(at.token.text)} does not join atoms: a body is a conjunction",
        "for `or`, write one rule for each case" if either else "join atoms with `,`",
    )
    return problem, at.replace("COMMA", ",")


def underscore_variable(at: Situation) -> Answer | None:
    back = _word_in_term_position(at, "PRIVATE")
    if back is None and "ANONYMOUS" in at.expected and at.token.kind == "UNDERSCORED":
        back = 0
    if back is None:
        return None
    word = at.tokens[at.index - back]
    problem = Problem(
        "underscore-variable",
        word.span,
        f"{quote(word.text)} cannot be a variable: names with `_` in front are not terms",
        f"write `_` to match anything, or {quote(_capital(word.text))} to name the value",
    )
    return problem, at.replace("CAPITAL", word.text, back)


def bad_variable(at: Situation) -> Answer | None:
    back = _word_in_term_position(at, "NAME")
    if back is None:
        return None
    word = at.tokens[at.index - back]
    problem = Problem(
        "bad-variable",
        word.span,
        f"{quote(word.text)} is neither a variable nor a constant",
        f"write {quote(_capital(word.text))} for a variable, {quote(repr(word.text))} for text",
    )
    return problem, at.replace("CAPITAL", _capital(word.text), back)


def _word_in_term_position(at: Situation, kind: str) -> int | None:
    """How far back a word of that kind stands where only a term fits; None if it does not."""
    if at.token.kind == kind and at.after.kind != "LPAR" and "ANONYMOUS" in at.expected:
        return 0
    if at.before.kind == kind and at.token.kind == "UNEQUAL" and at.index > 1:
        return 1
    return None


def _capital(text: str) -> str:
    letters = "".join(c for c in text.lstrip("_") if c.isalnum() or c == "_")
    return letters[:1].upper() + letters[1:] or "X"


def unexpected_character(at: Situation) -> Answer | None:
    if at.token.kind not in ("OTHER", "OPERATOR"):
        return None
    character = at.token.text
    code = f"U+{ord(character[0]):04X}"
    name = unicodedata.name(character, "") if len(character) == 1 else ""
    if character.isspace() or unicodedata.category(character[0]) == "Cf":
        help = "only space and tab may stand between tokens: remove it or type a space"
    else:
        help = "constants and comments may contain any text; rules are written in ASCII"
    shown = quote(character) if character.isascii() and character.isprintable() else code
    message = f"{shown} has no meaning here" + (f" ({name})" if name and shown == code else "")
    return Problem("unexpected-character", at.token.span, message, help), at.delete()
