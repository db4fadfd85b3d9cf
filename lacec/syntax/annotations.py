"""`#:json` lines: one JSON object each, about the next rule (030, D6).

In: an annotation node. Out: its fields, or what is wrong with it. Annotations
are metadata: they change no identifier and no result.
"""

import json
from math import isfinite
from typing import Any, NoReturn

from lacec.core.diagnostics import Problem, quote
from lacec.syntax.ast import Annotation

MARKER = "#:json"
DEEPEST = 256
LONGEST_INTEGER = 1000
_TOO_DEEP = "this JSON is nested too deeply"
_HELP = 'write one JSON object on the line, such as #:json {"label":"members"}'


def read_annotation(node: Annotation) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The fields of one annotation line; no fields when it is not one JSON object."""
    text = node.text[len(MARKER) :]
    span = node.span
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_float, parse_int=_integer)
        if not isinstance(value, dict):
            raise _NotPlainError(f"{quote(text.strip())} is not a JSON object")
        _check_depth(value)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        at = min(node.span[0] + len(MARKER) + error.pos, node.span[1] - 1)
        span = (at, at + 1)
        message = f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]}"
    except UnicodeError:
        message = "a string in this JSON is not Unicode text"
    except RecursionError:
        message = _TOO_DEEP
    except _NotPlainError as error:
        message = str(error)
    else:
        return value, ()
    return {}, (Problem("bad-annotation", span, message, _HELP),)


class _NotPlainError(ValueError):
    """JSON that not every reader takes in the same way."""


def _refuse(word: str) -> NoReturn:
    raise _NotPlainError(f"{word} is not a JSON value")


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _NotPlainError(f"the number {quote(text)} is too large")
    return value


def _integer(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise _NotPlainError(f"the number {quote(text)} is too long")
    return int(text)


def _check_depth(value: Any) -> None:
    """Refuse what is nested so deeply that some reader would fail on it."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise _NotPlainError(_TOO_DEEP)
