"""Mistakes in the shape of a rule: heads, bodies, parentheses, commas, the end of the line."""

from lacec.core.diagnostics import Problem, quote
from lacec.core.predicates import BUILTINS
from lacec.syntax.lexer import END, Token
from lacec.syntax.mistakes.situation import STARTS, WORDS, Answer, Situation

_CARDINALITY = f"write {BUILTINS['Cardinality']}"
TERM_ENDS = frozenset({"CAPITAL", "CONSTANT", "ANONYMOUS", "RPAR", "TRUE"})


def keyword_as_predicate(at: Situation) -> Answer | None:
    keyword = next(
        (t for t in (at.token, at.before) if t.kind in ("NOT", "TRUE") and _called(at, t)), None
    )
    if keyword is None:
        return None
    problem = Problem(
        "keyword-as-predicate",
        keyword.span,
        f"{quote(keyword.text)} is a keyword, not a predicate",
        "choose another name for the predicate",
    )
    return problem, None


def _called(at: Situation, token: Token) -> bool:
    following = at.after if token is at.token else at.token
    return following.kind == "LPAR"


def builtin_misused(at: Situation) -> Answer | None:
    """`Cardinality` where an atom of a predicate must stand: its form differs from theirs."""
    if at.token.kind != "CARDINALITY" or not at.expected & WORDS:
        return None
    where = {"START": "be a head", "NOT": "be negated"}.get(at.before.kind, "be counted")
    problem = Problem(
        "builtin-misused",
        at.token.span,
        f"the builtin `Cardinality` cannot {where}",
        f"it stands in a body as {BUILTINS['Cardinality']}",
    )
    return problem, None


def bad_head(at: Situation) -> Answer | None:
    """The head is the first thing on the line, one atom, and not negated."""
    first = at.index == 0 and at.token.kind in STARTS | {"ARROW", "LPAR", "RPAR", "STOP", "COMMA"}
    second_head = at.token.kind == "COMMA" and at.expected == {"ARROW"}
    test = at.token.kind == "UNEQUAL" and at.index == 1
    if not (first or second_head or test):
        return None
    if second_head:
        message, help = "a rule has one head", "write one rule for each head"
    else:
        message = "a rule begins with its head"
        help = "the head is one atom of a predicate, as in `Selected(P) :- Have(P).`"
    return Problem("bad-head", at.token.span, message, help), None


def nested_atom(at: Situation) -> Answer | None:
    named = at.token.kind in WORDS and at.after.kind == "LPAR" and "ANONYMOUS" in at.expected
    shifted = at.token.kind == "LPAR" and at.before.kind == "CAPITAL" and "RPAR" in at.expected
    if not ((named and "LPAR" not in at.expected and "NOT" not in at.expected) or shifted):
        return None
    word = at.token if named else at.before
    problem = Problem(
        "nested-atom",
        word.span,
        f"{quote(word.text)} is an atom inside an atom: arguments are variables, constants or `_`",
        "join the atoms with `,` and a shared variable; only Cardinality takes an atom",
    )
    return problem, None


def cardinality_arity(at: Situation) -> Answer | None:
    """A comma too many or too few inside Cardinality(...)."""
    comma_missing = at.token.kind == "RPAR" and at.expected == {"COMMA"}
    comma_extra = at.token.kind == "COMMA" and at.expected == {"RPAR"}
    empty = (
        at.token.kind == "RPAR" and at.index > 1 and at.tokens[at.index - 2].kind == "CARDINALITY"
    )
    if not (comma_missing or comma_extra or empty):
        return None
    call = next(t for t in reversed(at.tokens[: at.index]) if t.kind == "CARDINALITY")
    problem = Problem(
        "builtin-arity",
        (call.start, at.token.end),
        "`Cardinality` takes three arguments: an atom, an operator and a bound",
        _CARDINALITY,
    )
    return problem, None


def missing_body(at: Situation) -> Answer | None:
    token, before = at.token, at.before
    no_arrow = at.expected == {"ARROW"} and token.kind in ("STOP", END)
    no_atom = before.kind == "ARROW" and token.kind == "STOP"
    if not (no_arrow or no_atom):
        return None
    problem = Problem(
        "missing-body",
        token.span,
        "this rule has no body",
        "write ` :- true.` after the head for a rule that always holds",
    )
    stop = ("STOP",) if token.kind == END else ()
    return problem, at.insert(*(("ARROW", "TRUE") if no_arrow else ("TRUE",)), *stop)


def missing_full_stop(at: Situation) -> Answer | None:
    if at.token.kind != END or "STOP" not in at.expected:
        return None
    problem = Problem(
        "missing-full-stop",
        (at.before.end, at.before.end),
        "this rule does not end with a full stop",
        "write `.` after the last atom",
    )
    return problem, at.insert("STOP")


def split_rule(at: Situation) -> Answer | None:
    if at.token.kind != END:
        return None
    if "RPAR" in at.expected and at.before.kind in TERM_ENDS:
        return None  # an open parenthesis says more
    problem = Problem(
        "split-rule",
        (at.before.end, at.before.end),
        "the line ends inside a rule",
        "a rule has one line to itself: join it with the lines that continue it",
    )
    return problem, None


def trailing_text(at: Situation) -> Answer | None:
    comment = at.token.kind in ("COMMENT", "ANNOTATION") and at.index > 0
    if at.expected != {END} and not comment:
        return None
    end = at.tokens[-1].end
    problem = Problem(
        "trailing-text",
        (at.token.start, end),
        "a comment has a line to itself" if comment else "a rule ends its line",
        "write the comment on the line above" if comment else "put what follows on its own line",
    )
    return problem, [*at.tokens[: at.index], at.tokens[-1]]


def missing_parentheses(at: Situation) -> Answer | None:
    word = at.before
    follows = at.token.kind in ("COMMA", "STOP", "ARROW", "RPAR", END)
    if "LPAR" not in at.expected or word.kind not in WORDS or not follows:
        return None
    if at.index > 2 and at.tokens[at.index - 3].kind == "CARDINALITY":
        message = f"Cardinality counts the tuples of an atom, and {quote(word.text)} is not one"
        return Problem("missing-parentheses", word.span, message, _CARDINALITY), None
    if word.text.lower() == "true" and at.token.kind in ("COMMA", "STOP"):
        message, help = f"{quote(word.text)} is not the keyword `true`", "write `true`"
        problem = Problem("missing-parentheses", word.span, message, help)
        return problem, at.replace("TRUE", "true", 1)
    problem = Problem(
        "missing-parentheses",
        word.span,
        f"{quote(word.text)} has no parentheses",
        f"a predicate without arguments is written {quote(word.text + '()')}",
    )
    return problem, at.insert("LPAR", "RPAR")


def stray_comma(at: Situation) -> Answer | None:
    """`P(X,)`, `P(X),.` and `P(X,,Y)`."""
    if at.before.kind == "COMMA" and at.token.kind in ("RPAR", "STOP", "COMMA"):
        comma, tokens = at.before, at.delete(1)
    elif at.token.kind == "COMMA" and at.before.kind in ("LPAR", "ARROW"):
        comma, tokens = at.token, at.delete()
    else:
        return None
    return Problem(
        "syntax-error", comma.span, "nothing stands beside this comma", "remove it"
    ), tokens


def unbalanced_parentheses(at: Situation) -> Answer | None:
    if "RPAR" in at.expected and at.token.kind in ("ARROW", "STOP", END):
        message, help = "a parenthesis before this is not closed", "write `)`"
        problem = Problem("unbalanced-parentheses", at.token.span, message, help)
        return problem, at.insert("RPAR")
    if at.token.kind == "RPAR" and at.expected & {"STOP", "ARROW"}:
        message, help = "this parenthesis closes nothing", "remove it"
        return Problem("unbalanced-parentheses", at.token.span, message, help), at.delete()
    return None


def missing_comma(at: Situation) -> Answer | None:
    if "COMMA" not in at.expected or at.token.kind not in STARTS:
        return None
    end = at.before.end
    kind = "terms" if "RPAR" in at.expected else "atoms"
    message = f"two {kind} stand side by side"
    return Problem("missing-comma", (end, end), message, "write `,` between them"), at.insert(
        "COMMA"
    )
