"""The checks of a program, one property a file. Each stands alone.

Those of single rules are together in rules.py; the others see the whole program.
"""

from collections.abc import Callable, Iterator

from lacec.check.encoding import check_encoding
from lacec.check.facets import check_facets
from lacec.check.limits import check_limits
from lacec.check.program import Program
from lacec.check.rules import check_rules
from lacec.check.spelling import check_spelling
from lacec.check.strata import check_strata
from lacec.core.diagnostics import Diagnostic

CHECKS: tuple[Callable[[Program], Iterator[Diagnostic]], ...] = (
    check_encoding,
    check_limits,
    check_rules,
    check_facets,
    check_spelling,
    check_strata,
)
