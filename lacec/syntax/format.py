"""Formatting: the same lines in the same order, with tidy white space and nothing else changed.

In: a source that could be read. Out: its text with every rule in canonical
spacing, comments and annotations at the margin, at most one blank line in a row.
"""

from lacec.syntax.annotations import MARKER
from lacec.syntax.ast import Annotation, Comment, Rule
from lacec.syntax.show import show_rule
from lacec.syntax.source import ParsedSource


def format_lines(parsed: ParsedSource) -> str:
    lines: list[str] = []
    for node in parsed.nodes:
        match node:
            case Rule():
                lines.append(show_rule(node))
            case Annotation(text):
                lines.append(f"{MARKER} {text[len(MARKER) :].strip()}")
            case Comment(text) if text or (lines and lines[-1]):
                lines.append(text)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(line + "\n" for line in lines)
