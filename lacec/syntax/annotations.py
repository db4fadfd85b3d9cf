"""`#:json` lines: one JSON object each, about the next rule (030, D6).

In: an annotation node. Out: its fields, or what is wrong with it. Annotations
are metadata: they change no identifier and no result.
"""

import json
from typing import Any, NoReturn

from lacec.diagnostics import Problem, quote
from lacec.syntax.ast import Annotation

MARKER = "#:json"
_HELP = 'write one JSON object on the line, such as #:json {"label":"members"}'


def read_annotation(node: Annotation) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The fields of one annotation line; no fields when it is not one JSON object."""
    text = node.text[len(MARKER) :]
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except json.JSONDecodeError as error:
        at = min(node.span[0] + len(MARKER) + error.pos, node.span[1] - 1)
        message = f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]}"
        return {}, (Problem("bad-annotation", (at, at + 1), message, _HELP),)
    except RecursionError:
        return {}, (Problem("bad-annotation", node.span, "this JSON is nested too deeply", _HELP),)
    except UnicodeError:
        message = "a string in this JSON is not Unicode text"
        return {}, (Problem("bad-annotation", node.span, message, _HELP),)
    except ValueError as error:  # a number that not every JSON reader takes
        message = f"this is not plain JSON: {error}"
        return {}, (Problem("bad-annotation", node.span, message, _HELP),)
    if not isinstance(value, dict):
        shown = quote(text.strip())
        return {}, (Problem("bad-annotation", node.span, f"{shown} is not a JSON object", _HELP),)
    return value, ()


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")
