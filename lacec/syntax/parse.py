"""Lines of source into nodes.

In: a source. Out: a node for each line, the rules with their annotations, and
the diagnostics of the form of each line. A line stands alone, so one bad line
never hides another; equal lines share their nodes. A line that is stuck is
repaired where it is clear what was meant (mistakes/), and read on.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from lacec.core.diagnostics import Diagnostic, Problem, quote
from lacec.core.limits import Limits
from lacec.syntax import mistakes
from lacec.syntax.annotations import read_annotation
from lacec.syntax.ast import Annotation, Comment, Line, Rule
from lacec.syntax.automaton import Stuck, run
from lacec.syntax.lexer import Token, tokens_of
from lacec.syntax.show import show_rule
from lacec.syntax.source import (
    BYTE_ORDER_MARK,
    SURROGATE,
    ParsedSource,
    Source,
    SourceRule,
    byte_length,
)

# Longer lines are read each time, so that the cache cannot hold much: nodes take some
# hundred bytes for each character of text.
CACHED_LINE = 256
CACHED_LINES = 8192
MOST_PROBLEMS_PER_LINE = 8


class ParsedLine(NamedTuple):
    """What one line is; no node when it could not be read even with repairs."""

    node: Line | None
    problems: tuple[Problem, ...] = ()
    text: str = ""  # canonical, of a rule


@lru_cache(maxsize=CACHED_LINES)
def _parse_cached(text: str) -> ParsedLine:
    return _parse(text)


def _parse(text: str) -> ParsedLine:
    raw = tokens_of(text)
    result = run(raw)
    problems: list[Problem] = []
    if isinstance(result, Stuck):
        tokens = [Token(*token) for token in raw]
        while isinstance(result, Stuck) and len(problems) < MOST_PROBLEMS_PER_LINE:
            problem, mended = mistakes.diagnose(tokens, result.index, result.expected)
            problems.append(problem)
            if mended is None:
                break
            tokens, result = mended, run(mended)
    if isinstance(result, Stuck):
        return ParsedLine(None, tuple(problems))
    canonical = show_rule(result) if isinstance(result, Rule) else ""
    return ParsedLine(result, tuple(problems), canonical)


def parse_line(text: str) -> ParsedLine:
    """One line into its node, with what is wrong about its form."""
    return _parse_cached(text) if len(text) <= CACHED_LINE else _parse(text)


def parse(source: Source, limits: Limits) -> ParsedSource:
    """Every line into its node; annotations go to the next rule (D6)."""
    nodes: list[Line | None] = []
    rules: list[SourceRule] = []
    diagnostics: list[Diagnostic] = []
    pending: dict[str, Any] = {}
    waiting: list[tuple[int, Annotation]] = []
    for number, text in enumerate(source.lines, start=1):
        node, problems, canonical = _read_line(number, text, limits)
        if isinstance(node, Rule):
            rules.append(SourceRule(source, number, node, canonical, bool(problems), pending))
            pending, waiting = {}, []
        elif isinstance(node, Annotation):
            values, wrong = read_annotation(node)
            pending.update(values)
            waiting.append((number, node))
            problems += wrong
        elif isinstance(node, Comment):
            problems += _comment_problems(node, text)
        else:  # a rule that cannot be read still takes its annotations with it
            pending, waiting = {}, []
        nodes.append(node)
        if problems and len(diagnostics) <= limits.diagnostics:
            diagnostics.extend(problem.at(source.name, number) for problem in problems)
    diagnostics.extend(_dangling(node).at(source.name, line) for line, node in waiting)
    return ParsedSource(source, tuple(nodes), tuple(rules), tuple(diagnostics))


def _dangling(annotation: Annotation) -> Problem:
    return Problem(
        "dangling-annotation",
        annotation.span,
        "no rule comes after this annotation",
        "an annotation describes the next rule: write it above one, or remove it",
    )


def _read_line(number: int, text: str, limits: Limits) -> ParsedLine:
    """A line, unless a check of its bytes or its length speaks for it."""
    text = legible(number, text)
    if (not text.isascii() and SURROGATE.search(text)) or line_too_long(text, limits):
        return ParsedLine(None)
    return parse_line(text)


def legible(number: int, text: str) -> str:
    """A line as the parser reads it: a space for what only the checks of the bytes speak of."""
    if number == 1 and text.startswith(BYTE_ORDER_MARK):
        text = " " + text[1:]
    return text.replace("\r", " ") if "\r" in text else text


def line_too_long(text: str, limits: Limits) -> bool:
    return 4 * len(text) > limits.line_bytes and byte_length(text) > limits.line_bytes


def _comment_problems(comment: Comment, text: str) -> tuple[Problem, ...]:
    if not comment.text.startswith("#:"):
        return ()
    start = text.index("#")
    word = comment.text.split(None, 1)[0]
    return (
        Problem(
            "unknown-annotation",
            (start, start + len(word)),
            f"{quote(word)} is not an annotation, so this line is an ordinary comment",
            "annotations start with `#:json`; write `# ` to begin a comment",
        ),
    )
