"""The builtin tests as expressions of Spark, each exactly as 030 and D9, D10 define it.

In: text columns without nulls. Out: a condition, never null. Spark compares text by its
UTF-8 bytes, as LexCompare does; its decimals stop at 38 digits, so integers are compared
by a text key that sorts as they do.
"""

import operator
from collections.abc import Callable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lacec.bytecode.opcodes import COMPARES, Compare, Test

_COMPARISONS: dict[Compare, Callable[[Column, Column], Column]] = {
    Compare.LESS: operator.lt,
    Compare.LESS_EQUAL: operator.le,
    Compare.GREATER: operator.gt,
    Compare.GREATER_EQUAL: operator.ge,
}
# The number of digits has so many digits itself: enough for texts of Spark's largest size.
_WIDTH = 10


def compare(left: Column, sign: Compare, right: Column) -> Column:
    return _COMPARISONS[sign](left, right)


def order_key(test: Test, value: Column) -> Column:
    """A text that sorts as the values do in the order of a test; null for what has no place."""
    return integer_key(value) if test == Test.INT_COMPARE else value


def integer_key(value: Column) -> Column:
    """The sign, the number of digits, the digits: of a negative number the complement of each."""
    digits = F.regexp_replace(value, r"\A-?0*", "")
    size = F.length(digits)
    above = F.concat(F.lit("1"), F.lpad(size.cast("string"), _WIDTH, "0"), digits)
    complement = F.lpad((F.lit(10**_WIDTH - 1) - size).cast("string"), _WIDTH, "0")
    below = F.concat(F.lit("0"), complement, F.translate(digits, "0123456789", "9876543210"))
    negative = value.startswith("-") & (size > 0)
    return F.when(value.rlike(r"\A-?[0-9]+\z"), F.when(negative, below).otherwise(above))


def run_test(test: Test, terms: Sequence[Column], constants: Sequence[str | None]) -> Column:
    """The condition of a test; `constants` has the value of each term that is a constant."""
    if test == Test.UNEQUAL:
        return terms[0] != terms[1]
    if test == Test.TEXT_SHAPE:
        text, start, _, end = terms
        delimiters = constants[2]
        assert delimiters is not None
        if not delimiters and constants[3] == "":
            return F.startswith(text, start)
        return _text_shape(text, start, delimiters, end)
    sign = constants[1]
    assert sign is not None
    left, right = (order_key(test, term) for term in (terms[0], terms[2]))
    return F.coalesce(compare(left, COMPARES[sign], right), F.lit(False))


def _text_shape(text: Column, start: Column, delimiters: str, end: Column) -> Column:
    middle = F.length(text) - F.length(start) - F.length(end)
    fits = F.startswith(text, start) & F.endswith(text, end) & (middle >= 0)
    if not delimiters:
        return fits
    listed = "".join(f"\\x{{{ord(symbol):x}}}" for symbol in delimiters)
    segment = F.substr(text, F.length(start) + 1, middle)
    return fits & segment.rlike(rf"\A[^{listed}]+[{listed}]\z")
