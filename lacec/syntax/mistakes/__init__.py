"""What was probably meant, where a line is stuck.

In: the tokens of a line, the index of the first that does not fit, and the kinds
that would have. Out: one problem, and the tokens with that mistake mended, or
None when it is not clear how to read on. MISTAKES is the list, tried in order:
each function knows one mistake and returns None when it is not that one.
"""

from collections.abc import Callable

from lacec.core.diagnostics import Problem, quote
from lacec.syntax.lexer import END, Token
from lacec.syntax.mistakes import shape, words
from lacec.syntax.mistakes.situation import Answer, Situation

# The order matters: what a token is comes before what may follow it.
MISTAKES: tuple[Callable[[Situation], Answer | None], ...] = (
    shape.trailing_text,
    words.wrong_comment,
    words.wrong_arrow,
    words.unterminated_constant,
    words.bad_escape,
    words.wrong_quotes,
    words.unquoted_number,
    words.equality_atom,
    words.infix_comparison,
    words.wrong_negation,
    words.wrong_connective,
    shape.keyword_as_predicate,
    shape.builtin_misused,
    words.underscore_variable,
    words.bad_variable,
    shape.nested_atom,
    shape.bad_head,
    shape.cardinality_arity,
    shape.missing_body,
    shape.missing_full_stop,
    shape.split_rule,
    shape.missing_parentheses,
    shape.stray_comma,
    shape.unbalanced_parentheses,
    shape.missing_comma,
    words.unexpected_character,
)

SHOWN = {
    "ARROW": "`:-`",
    "UNEQUAL": "`!=`",
    "COMMA": "`,`",
    "STOP": "a full stop",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "NOT": "`not`",
    "TRUE": "`true`",
    "CARDINALITY": "`Cardinality`",
    "CAPITAL": "a name",
    "NAME": "a name",
    "PRIVATE": "a name",
    "ANONYMOUS": "`_`",
    "CONSTANT": "a constant",
    "COMMENT": "a comment",
    "ANNOTATION": "an annotation",
    END: "the end of the line",
}


def diagnose(tokens: list[Token], index: int, expected: frozenset[str]) -> Answer:
    """The first mistake of the list that fits; a plain syntax error when none does."""
    situation = Situation(tokens, index, expected)
    for mistake in MISTAKES:
        answer = mistake(situation)
        if answer is not None:
            return answer
    return syntax_error(situation), None


def syntax_error(at: Situation) -> Problem:
    wanted = sorted({SHOWN[kind] for kind in at.expected})
    listed = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if len(wanted) > 1 else wanted)
    found = SHOWN[END] if at.token.kind == END else quote(at.token.text)
    return Problem(
        "syntax-error", at.token.span, f"{found} does not fit here", f"expected {listed}"
    )
