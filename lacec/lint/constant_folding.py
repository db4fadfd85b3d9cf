"""What tests say of constants: true, false, or that it depends on facts (030 builtins, D9, D10)."""

import re
from collections.abc import Mapping

from lacec.lint.rule_facts import Test
from lacec.syntax.ast import Constant, Term, Unequal, Variable

_DECIMAL = re.compile(r"-?[0-9]{1,1000}")


def decimal(text: str) -> int | None:
    """The number that a text is to IntCompare; None for others, and for very long ones."""
    return int(text) if _DECIMAL.fullmatch(text) else None


def compare(left: int | bytes, operator: str, right: int | bytes) -> bool:
    """One of the four comparisons, of two numbers or of two texts."""
    if left == right:
        return operator in ("<=", ">=")
    less = left < right  # type: ignore[operator]
    return operator in (("<", "<=") if less else (">", ">="))


def always(test: Test, bound: Mapping[str, str]) -> bool | None:
    """Whether a test holds when some variables have known values; None if it depends."""
    if isinstance(test, Unequal):
        if isinstance(test.left, Variable) and test.left == test.right:
            return False
        left, right = _value(test.left, bound), _value(test.right, bound)
        return None if left is None or right is None else left != right
    values = [_value(term, bound) for term in test.terms]
    if test.name == "TextShape":
        text, start, delims, end = values
        if text is None or start is None or delims is None or end is None:
            return None
        return text_shape(text, start, delims, end)
    left, operator, right = values
    if operator is None:
        return None
    if isinstance(test.terms[0], Variable) and test.terms[0] == test.terms[2]:
        if operator in ("<", ">"):
            return False
        return True if test.name == "LexCompare" else None
    if left is None or right is None:
        return None
    if test.name == "LexCompare":
        return compare(left.encode(), operator, right.encode())
    low, high = decimal(left), decimal(right)
    return None if low is None or high is None else compare(low, operator, high)


def text_shape(text: str, start: str, delims: str, end: str) -> bool:
    if not text.startswith(start):
        return False
    rest = text[len(start) :]
    if not delims:
        return rest.endswith(end)
    at = next((n for n, character in enumerate(rest) if character in delims), 0)
    return at > 0 and rest[at + 1 :] == end


def _value(term: Term, bound: Mapping[str, str]) -> str | None:
    if isinstance(term, Constant):
        return term.value
    return bound.get(term.name) if isinstance(term, Variable) else None
