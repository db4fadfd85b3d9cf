"""The whole path of a module, from text to verified code, on one screen.

In: named sources. Out: a module, or every diagnostic of every source at once; and its code.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from lacec.canonical.module import Module, build_module
from lacec.check import CHECKS
from lacec.check.encoding import check_encoding
from lacec.check.limits import check_sizes, too_many_problems
from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic, has_errors, sort
from lacec.core.errors import CompileError
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import PLAIN, Resolution
from lacec.core.predicates import Predicate
from lacec.syntax.format import format_lines
from lacec.syntax.parse import parse
from lacec.syntax.source import ParsedSource, read

if TYPE_CHECKING:
    from lacec.bytecode.code import Code
    from lacec.bytecode.order import Sizes
    from lacec.lint.subject import Context

Input = tuple[str, str | bytes]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Compilation:
    """What is known so far; each pass fills in its part."""

    inputs: tuple[Input, ...]
    facet: Facet
    limits: Limits
    sources: tuple[ParsedSource, ...] = ()
    program: Program | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    module: Module | None = None


def parse_sources(work: Compilation) -> Compilation:
    sources = tuple(
        parse(read(name, content, work.limits), work.limits) for name, content in work.inputs
    )
    return replace(work, sources=sources)


def link_sources(work: Compilation) -> Compilation:
    return replace(work, program=Program(work.facet, work.limits, work.sources))


def check_program(work: Compilation) -> Compilation:
    assert work.program is not None
    of_form = (diagnostic for source in work.sources for diagnostic in source.diagnostics)
    of_meaning = (diagnostic for check in CHECKS for diagnostic in check(work.program))
    most = work.limits.diagnostics
    found = list(islice(chain(of_form, of_meaning), most + 1))
    if len(found) > most:
        found[most] = too_many_problems(work.program)
    return replace(work, diagnostics=sort(found, (name for name, _ in work.inputs)))


def canonicalise(work: Compilation) -> Compilation:
    if work.program is None or has_errors(work.diagnostics):
        return work
    program = work.program
    levels = program.stratification
    module = build_module(work.facet, program.rules, levels.groups, levels.strata, work.diagnostics)
    return replace(work, module=module)


PASSES: tuple[Callable[[Compilation], Compilation], ...] = (
    parse_sources,  # each source alone, each line alone: errors of form hide nothing
    link_sources,  # before the checks, because they see the linked program as one
    check_program,  # all checks at once, also of what could be read of a broken source
    canonicalise,  # last: only a program without errors has an identity
)


def make_code(
    module: Module,
    outputs: Iterable[Predicate] | None = None,
    sizes: "Sizes | None" = None,
    resolution: Resolution = PLAIN,
    limits: Limits = DEFAULT_LIMITS,
    *,
    live: bool = False,
) -> "Code":
    """Return the code of a module, verified: nothing else emits, so nothing unverified runs.

    It comes after the passes, because it depends on more than the text: on what is asked for, how
    large the facts are, and whose rules see what. LimitError if it is too much code; CodeError if
    the verifier refuses it.
    """
    from lacec.bytecode.emit import emit
    from lacec.bytecode.verify import verify

    code = emit(module, outputs, sizes, resolution, limits, live=live)
    verify(code, limits)
    return code


def compile_sources(
    inputs: Sequence[Input], facet: Facet = Facet.PLAIN, limits: Limits = DEFAULT_LIMITS
) -> Compilation:
    """Run every pass; the outcome has a module exactly when there are no errors."""
    work = Compilation(tuple(inputs), facet, limits)
    for run in PASSES:
        work = run(work)
    return work


def check_sources(
    inputs: Sequence[Input], facet: Facet = Facet.PLAIN, limits: Limits = DEFAULT_LIMITS
) -> tuple[Diagnostic, ...]:
    """The diagnostics alone, without the cost of identifiers."""
    work = Compilation(tuple(inputs), facet, limits)
    for run in PASSES[:-1]:
        work = run(work)
    return work.diagnostics


def lint_steps(
    inputs: Sequence[Input], facet: Facet, limits: Limits, context: "Context | None"
) -> Generator[None, None, Compilation]:
    """All but the identity, and lints among the diagnostics; pauses where it may be given up."""
    from lacec.lint import lint

    work = Compilation(tuple(inputs), facet, limits)
    for run in PASSES[:-1]:
        work = run(work)
        yield
    assert work.program is not None
    most = limits.diagnostics + 1  # the last may say that there are too many
    found = islice(lint(work.program, work.diagnostics, context), most)
    return replace(work, diagnostics=sort(found, (name for name, _ in inputs)))


def finish(steps: Generator[None, None, Result]) -> Result:
    """What comes of steps that nobody gives up."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result


def lint_sources(
    inputs: Sequence[Input],
    facet: Facet = Facet.PLAIN,
    limits: Limits = DEFAULT_LIMITS,
    context: "Context | None" = None,
) -> tuple[Diagnostic, ...]:
    """The diagnostics and the lints of the first source, the others being linked to it."""
    return finish(lint_steps(inputs, facet, limits, context)).diagnostics


def read_exposure(source: Input, limits: Limits = DEFAULT_LIMITS) -> Program:
    """An exposure module as the lints of a selector read it, with whatever is wrong in it."""
    return Program(Facet.EXPOSE, limits, (parse(read(*source, limits), limits),))


def compile_module(
    inputs: Sequence[Input], facet: Facet = Facet.PLAIN, limits: Limits = DEFAULT_LIMITS
) -> Module:
    """The module; CompileError with every diagnostic when there are errors."""
    work = compile_sources(inputs, facet, limits)
    if work.module is None:
        raise CompileError(work.diagnostics)
    return work.module


def format_source(source: Input, limits: Limits = DEFAULT_LIMITS) -> str:
    """The formatted text; CompileError when a line cannot be read. Meaning is not checked."""
    parsed = parse(read(*source, limits), limits)
    program = Program(Facet.PLAIN, limits, (parsed,))
    found = [*parsed.diagnostics, *check_encoding(program), *check_sizes(program)]
    if has_errors(found):
        raise CompileError(sort(found, [source[0]]))
    return format_lines(parsed)
