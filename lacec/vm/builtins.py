"""The builtin tests, each exactly as 030 and D9, D10 define it, for all rows at once.

In: for each argument the ids of a column, or one id for a constant. Out: a mask.
"""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from lacec.bytecode.opcodes import COMPARES, Compare, Test
from lacec.vm.symbols import Symbols
from lacec.vm.text import (
    WINDOW,
    Bytes,
    Mask,
    Offsets,
    begins,
    compare_slices,
    finishes,
    free_of,
    low_bytes,
)

Ids = npt.NDArray[np.int32]
Operand = Ids | int

# Digits that surely fit 64 bits.
_FITS = 18


def run_test(test: Test, symbols: Symbols, operands: Sequence[Operand], size: int) -> Mask:
    """Which of `size` rows pass."""
    if test == Test.UNEQUAL:
        left, right = operands
        return np.broadcast_to(np.not_equal(left, right), size)
    if test == Test.TEXT_SHAPE:
        text, start, delims, end = operands
        assert isinstance(delims, int)
        return _text_shape(symbols, _ids(text, size), start, delims, end)
    left, operator, right = operands
    assert isinstance(operator, int)
    compare = COMPARES[symbols.text(operator)]
    a, b = _ids(left, size), _ids(right, size)
    if test == Test.LEX_COMPARE:
        return compare_signs(lex_signs(symbols, a, b), compare)
    return _int_compare(symbols, a, b, compare)


def _ids(operand: Operand, size: int) -> Ids:
    return np.broadcast_to(np.int32(operand), size) if isinstance(operand, int) else operand


def compare_signs(signs: npt.NDArray[np.signedinteger], compare: Compare) -> Mask:
    match compare:
        case Compare.LESS:
            return signs < 0
        case Compare.LESS_EQUAL:
            return signs <= 0
        case Compare.GREATER:
            return signs > 0
        case Compare.GREATER_EQUAL:
            return signs >= 0


def lex_signs(symbols: Symbols, a: Ids, b: Ids) -> npt.NDArray[np.int8]:
    """The order of the UTF-8 bytes of two columns, row by row."""
    return compare_slices(*symbols.slices(a), *symbols.slices(b))


def decimals(symbols: Symbols, ids: Ids) -> tuple[npt.NDArray[np.int64], dict[int, int], Mask]:
    """The values of decimal integers; those over 64 bits apart, by row; which rows are decimals."""
    data, starts, ends = symbols.slices(ids)
    negative = (ends > starts) & (data[starts] == ord("-"))
    digits = starts + negative
    lengths = ends - digits
    valid = lengths > 0
    values = np.zeros(len(ids), np.int64)
    longest = int(lengths.max(initial=0))
    for k in range(min(longest, _FITS)):
        rows = np.flatnonzero(valid & (lengths > k))
        digit = data[digits[rows] + k].astype(np.int64) - ord("0")
        valid[rows[(digit < 0) | (digit > 9)]] = False
        values[rows] = values[rows] * 10 + digit
    values[negative] *= -1
    big: dict[int, int] = {}
    for row in np.flatnonzero(valid & (lengths > _FITS)).tolist():
        text = symbols.text(int(ids[row]))
        body = text[1:] if text.startswith("-") else text
        valid[row] = body.isascii() and body.isdigit()
        if valid[row]:
            big[row] = integer(text)
    return values, big, valid


def integer(text: str) -> int:
    """A decimal of any length; `int` alone refuses one of more than a few thousand digits."""
    return int(Decimal(text))


def clamped(number: int) -> int:
    """A bound that no count reaches may as well be a smaller one."""
    return max(min(number, 2**62), -(2**62))


def _int_compare(symbols: Symbols, a: Ids, b: Ids, compare: Compare) -> Mask:
    """Numeric comparison; an operand that is not a decimal makes the test false (D9)."""
    left, big_left, valid = decimals(symbols, a)
    right, big_right, right_valid = decimals(symbols, b)
    valid &= right_valid
    signs = _signs(left, right)
    for row in big_left.keys() | big_right.keys():
        x, y = big_left.get(row, int(left[row])), big_right.get(row, int(right[row]))
        signs[row] = (x > y) - (x < y)
    return valid & compare_signs(signs, compare)


def _signs(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    return (left > right).astype(np.int8) - (left < right).astype(np.int8)


def _text_shape(symbols: Symbols, text: Ids, start: Operand, delims: int, end: Operand) -> Mask:
    """Text = Start + middle + End; with delimiters, middle is a segment and one delimiter (D10)."""
    size = len(text)
    if isinstance(start, int):
        passed = _begins_with(symbols, text, start)
    else:
        passed = begins(*symbols.slices(text), *symbols.slices(start))
    marks = symbols.text(delims)
    if not marks and isinstance(end, int) and not symbols.length(end):
        return passed
    rows = np.flatnonzero(passed)
    text, head, tail = text[rows], _ids(start, size)[rows], _ids(end, size)[rows]
    data, first, last = symbols.slices(text)
    _, head_starts, head_ends = symbols.slices(head)
    ending, tail_starts, tail_ends = symbols.slices(tail)
    inner = first + (head_ends - head_starts)
    outer = last - (tail_ends - tail_starts)
    fits = inner <= outer
    fits &= finishes(data, first, last, ending, tail_starts, tail_ends)
    if marks:
        kept = np.flatnonzero(fits)
        fits[kept] = _is_segment(data, inner[kept], outer[kept], marks)
    passed[rows] = fits
    return passed


def _begins_with(symbols: Symbols, text: Ids, start: int) -> Mask:
    """A constant beginning: its first eight bytes settle most rows without reading text."""
    beginning = symbols.text(start).encode("utf-8")
    head = np.uint64(int.from_bytes(beginning[:WINDOW], "little"))
    passed: Mask = symbols.heads(text) & low_bytes(len(beginning)) == head
    # The eight bytes do not tell a NUL from the end of a shorter text.
    if len(beginning) > WINDOW or beginning.endswith(b"\0"):
        rows = np.flatnonzero(passed)
        same = symbols.slices(np.full(len(rows), start, np.int32))
        passed[rows] = begins(*symbols.slices(text[rows]), *same)
    return passed


def _is_segment(data: Bytes, starts: Offsets, ends: Offsets, marks: str) -> Mask:
    """Which slices are a non-empty text without delimiters and then one delimiter."""
    result = ends - starts >= 2
    rows = np.flatnonzero(result)
    if marks.isascii():
        table = np.zeros(256, bool)
        table[list(marks.encode("ascii"))] = True
        result[rows] = table[data[ends[rows] - 1]]
        rows = rows[result[rows]]
        result[rows] = free_of(data, starts[rows], ends[rows] - 1, table)
        return result
    delimiters = frozenset(marks)
    for row in rows.tolist():
        middle = data[starts[row] : ends[row]].tobytes().decode("utf-8", "surrogateescape")
        alone = len(middle) > 1 and middle[-1] in delimiters
        result[row] = alone and delimiters.isdisjoint(middle[:-1])
    return result
