"""Fixes into text: the edits of several at once, leaving out those that others overlap.

In: the text of a file and the fixes for it. Out: the new text, and how many were made.
"""

from collections.abc import Iterable

from lacec.core.diagnostics import Edit, Fix


def apply_fixes(text: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def span(edit: Edit) -> tuple[int, int]:
        here = edit.place
        begin = starts[here.line - 1] + here.column - 1
        return begin, min(starts[here.end_line - 1] + here.end_column - 1, len(text))

    taken: list[tuple[int, int, str]] = []
    made = 0
    for fix in fixes:
        edits = [(*span(edit), edit.text) for edit in fix.edits]
        if all(end <= other[0] or begin >= other[1] for begin, end, _ in edits for other in taken):
            taken += edits
            made += 1
    for begin, end, new in sorted(taken, reverse=True):
        text = text[:begin] + new + text[end:]
    return text, made
