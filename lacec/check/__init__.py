"""The checks of a program, one property a file. Each sees the whole program and stands alone."""

from collections.abc import Callable, Iterator

from lacec.check.builtins import check_builtins
from lacec.check.encoding import check_encoding
from lacec.check.facets import check_facets
from lacec.check.limits import check_limits
from lacec.check.names import check_names
from lacec.check.program import Program
from lacec.check.safety import check_safety
from lacec.check.spelling import check_spelling
from lacec.check.strata import check_strata
from lacec.check.viewers import check_viewers
from lacec.diagnostics import Diagnostic

CHECKS: tuple[Callable[[Program], Iterator[Diagnostic]], ...] = (
    check_encoding,
    check_limits,
    check_names,
    check_facets,
    check_viewers,
    check_spelling,
    check_builtins,
    check_safety,
    check_strata,
)
