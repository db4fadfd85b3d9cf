"""One fact line (050, D17): its bytes into a predicate and values, or what is wrong with it.

The slow and obvious way to read a fact; bulk_reader.py reads files, and comes here
for the lines that are not plain. White space is space and tab, free between tokens (D6).
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lacec.core.diagnostics import Problem, quote
from lacec.core.limits import Limits
from lacec.core.predicates import BUILTINS, Predicate
from lacec.syntax.show import show_constant

_NO_NAMES = {"not", "true", *BUILTINS}
_BYTE_ORDER_MARK = "\ufeff"

_NAME = r"_?[A-Za-z][A-Za-z0-9_~-]*+"
_OPEN_CONSTANT = r"'[^'\\]*+(?:\\[\\'][^'\\]*+)*+"
_CONSTANT = rf"{_OPEN_CONSTANT}'"
_CONSTANTS = rf"(?:{_CONSTANT}[ \t]*+(?:,[ \t]*+{_CONSTANT}[ \t]*+)*)?"
_FACT = re.compile(rf"[ \t]*+({_NAME})[ \t]*+\([ \t]*+({_CONSTANTS})\)[ \t]*+")
# As much of a fact as a line begins with.
_BEGINNING = re.compile(rf"[ \t]*+(?:({_NAME})[ \t]*+(?:\([ \t]*+{_CONSTANTS}(?:\)[ \t]*+)?)?)?")
_EACH_CONSTANT = re.compile(_CONSTANT)
_ESCAPED = re.compile(r"\\(.)")


class Fact(NamedTuple):
    predicate: Predicate
    values: list[str]


def is_predicate_name(text: str) -> bool:
    """Whether facts may have this name: keywords and builtins are no predicates (D8)."""
    return re.fullmatch(_NAME, text) is not None and text not in _NO_NAMES


def read_line(raw: bytes, first: bool, limits: Limits) -> Fact | list[Problem] | None:
    """The fact of a line; None for a blank line or a comment."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8"))
        message, help = "these bytes are not UTF-8", "save the file as UTF-8"
        return [Problem("not-utf8", (column, column + 1), message, help)]
    problems = []
    if first and text.startswith(_BYTE_ORDER_MARK):
        message = "the file begins with a byte order mark"
        help = "save the file as UTF-8 without a BOM"
        problems.append(Problem("byte-order-mark", (0, 1), message, help))
        text = " " + text[1:]
    problem = text_problem(text)
    if problem is not None:
        return [*problems, problem]
    match = _FACT.fullmatch(text)
    if match is not None and match[1] not in _NO_NAMES:
        values = [_value(constant) for constant in _EACH_CONSTANT.findall(match[2])]
        # A character has at most four bytes.
        if len(values) > limits.arity or 4 * max(map(len, values), default=0) > limits.value_bytes:
            problems.extend(_over_limits(match, values, limits))
        return problems or Fact(Predicate(match[1], len(values)), values)
    if text.lstrip(" \t")[:1] not in ("", "#"):
        problems.append(explain(text))
    return problems or None


def _value(constant: str) -> str:
    inner = constant[1:-1]
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def text_problem(text: str) -> Problem | None:
    """What makes text no line of a facts file, whatever it says: a CR, or not NFC (D28)."""
    at = text.find("\r")
    if at >= 0:
        return carriage_return(at, "a carriage return stands in the line")
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return None
    # Every beginning of NFC text is NFC: the first that is not ends with the culprit.
    ends = range(1, len(text) + 1)
    at = bisect_left(ends, True, key=lambda e: not unicodedata.is_normalized("NFC", text[:e]))
    message = "this is not in Unicode's composed form (NFC): equal text would get two identities"
    return Problem("not-nfc", (at, at + 1), message, "normalise the text to NFC in your editor")


def carriage_return(at: int, message: str) -> Problem:
    help = "save the file with Unix line endings"
    return Problem("carriage-return", (at, at + 1), message, help)


def _over_limits(fact: re.Match[str], values: list[str], limits: Limits) -> Iterator[Problem]:
    if len(values) > limits.arity:
        message = (
            f"{quote(fact[1])} has {len(values)} values, over the limit arity of {limits.arity}"
        )
        help = "split it into predicates that share a key"
        yield Problem("too-many-arguments", (fact.start(1), fact.end()), message, help)
        return
    constants = _EACH_CONSTANT.finditer(fact.string, *fact.span(2))
    for constant, value in zip(constants, values, strict=True):
        size = len(value.encode("utf-8"))
        if size > limits.value_bytes:
            message = (
                f"this value has {size} bytes, over the limit value_bytes of {limits.value_bytes}"
            )
            help = "no fact can have a value this long: shorten it"
            yield Problem("constant-too-long", constant.span(), message, help)


# What is wrong with a line that is no fact: where it stops being one decides who explains.

_FORM = "a fact is written `Predicate('constant',...)`"
_RULE = re.compile(r"\)[ \t]*:-")
_WORD = re.compile(r"[A-Za-z0-9_~.+-]+")
_QUOTED = re.compile(r"\"[^\"]*+\"?|“[^”]*+”?|‘[^’]*+’?|`[^`]*+`?")

# How much of the line is wrong, why, and what to do about it.
Explanation = tuple[int, str, str]


def explain(text: str) -> Problem:
    """Why a line is not a fact."""
    beginning = _BEGINNING.match(text)
    assert beginning is not None  # it may be empty
    if beginning[1] in _NO_NAMES:
        message = f"{quote(beginning[1])} is a word of the language, not a predicate"
        return Problem("bad-fact", beginning.span(1), message, _FORM)
    at = beginning.end()
    before = text[:at].rstrip(" \t")[-1:]
    if before == "'" and text.startswith(",", at):
        rest = text[at + 1 :].lstrip(" \t")
        at, before = len(text) - len(rest), ","
    else:
        rest = text[at:]
    explanations: dict[str, Callable[[str], Explanation]] = {
        "": _no_name,
        "(": _no_value,
        ",": _no_value,
        "'": _no_comma,
        ")": _more_text,
    }
    if before in explanations:
        size, message, help = explanations[before](rest)
    else:
        size, message, help = _no_parenthesis(beginning[1], rest)
    return Problem("bad-fact", (at, at + size), message, help)


def _rule(size: int) -> Explanation:
    return size, "this is a rule, and a facts file holds facts alone", "move it to the lacegram"


def _no_name(rest: str) -> Explanation:
    word = _WORD.match(rest)
    size = word.end() if word else 1
    return size, f"{quote(rest[:size])} is not the name of a predicate", _FORM


def _no_parenthesis(name: str, rest: str) -> Explanation:
    if rest.startswith(":-"):
        return _rule(2)
    help = f"write `{name}()` for a fact without values" if len(name) < 40 else _FORM
    return 1, f"a `(` is missing after {quote(name)}", help


def _no_value(rest: str) -> Explanation:
    if _RULE.search(rest):
        return _rule(len(rest))
    quoted, word = _QUOTED.match(rest), _WORD.match(rest)
    if not rest:
        return 1, "the line ends before the closing parenthesis", _FORM
    if rest[0] == "'":
        return _bad_constant(rest)
    if quoted:
        constant = show_constant(quoted[0][1:].rstrip('"”’`'))
        return quoted.end(), "constants are written in single quotes", f"write {quote(constant)}"
    if rest[0] in "),":
        return 1, "a value is missing here", "an empty value is written `''`"
    if word is None:
        return 1, f"{quote(rest[0])} does not begin a constant", _FORM
    kind = "a constant without quotes"
    if rest[0].isupper() or word[0] == "_":
        kind = "a variable, and facts have none"
    message = f"{quote(word[0])} is {kind}"
    return word.end(), message, f"write {quote(show_constant(word[0]))} if that is the value"


def _bad_constant(rest: str) -> Explanation:
    good = re.match(_OPEN_CONSTANT, rest)
    assert good is not None  # it matches at least the quote
    if rest.startswith("\\", good.end()) and good.end() + 1 < len(rest):
        wrong = rest[good.end() : good.end() + 2]
        help = "the only escapes are `\\\\` for a backslash and `\\'` for a quote"
        return good.end() + 2, f"{quote(wrong)} is not an escape", help
    help = "close it with `'`; a quote inside a constant is written `\\'`"
    return 1, "this constant has no closing quote", help


def _no_comma(rest: str) -> Explanation:
    if not rest:
        return 1, "the closing parenthesis is missing", "end the fact with `)`"
    if rest[0] == "'":
        return 1, "a comma is missing between two constants", _FORM
    help = "a quote inside a constant is written `\\'`"
    return 1, f"{quote(rest[0])} cannot follow a constant: `,` or `)` must", help


def _more_text(rest: str) -> Explanation:
    if rest.startswith(":-"):
        return _rule(len(rest))
    if rest.startswith("."):
        return 1, "a fact line has no full stop", "remove it"
    if rest.startswith("#"):
        return len(rest), "a comment has a line of its own", "move it to the line before"
    return len(rest), f"{quote(rest)} stands after the fact", "write one fact a line, and no more"
