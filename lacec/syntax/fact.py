"""A fact line in its one form (050), as `show_fact` writes it: text into name and values.

No white space, no other escapes than the canonical ones, so that equal facts are equal lines.
"""

import re

_VALUE = r"'((?:[^'\\\n]|\\['\\])*+)'"
_FACT = re.compile(rf"([A-Za-z]+)\(((?:{_VALUE}(?:,(?=')|(?=\))))*+)\)")
_VALUES = re.compile(_VALUE)
_ESCAPED = re.compile(r"\\(.)")


def read_fact(line: str) -> tuple[str, ...] | None:
    """The predicate's name and the values of a line without its LF; None if it is no fact."""
    found = _FACT.fullmatch(line)
    if found is None:
        return None
    values = _VALUES.findall(found[2])
    if "\\" in line:
        values = [_ESCAPED.sub(r"\1", value) for value in values]
    return (found[1], *values)
