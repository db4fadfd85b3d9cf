"""The verifier: code that it accepts, the machine can run, whoever made it.

In: code, as the emitter makes it or as it came out of a file. Out: nothing, or a
CodeError with the block and the instruction. The tables are checked first; then
each block; then what only all blocks together show.
"""

import unicodedata

from lacec.bytecode.checker import BlockChecker, is_below, name_of
from lacec.bytecode.code import Code, Kind
from lacec.core.diagnostics import quote
from lacec.core.errors import CodeError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import FULL_VIEW, Origin
from lacec.core.predicates import BASE


def verify(code: Code, limits: Limits = DEFAULT_LIMITS) -> None:
    """Accept code, or raise the CodeError that says why not."""
    _check_constants(code, limits)
    _check_predicates(code, limits)
    group_of = _check_groups(code)
    _check_views(code, group_of)
    checkers = [BlockChecker(code, group_of, number) for number in range(len(code.blocks))]
    for checker in checkers:
        checker.run()
    _check_ranks(code, group_of, checkers)
    full = (Kind.FULL, Kind.DELTA)
    emitted = {block.instructions[-1][1] for block in code.blocks if block.kind in full}
    for predicate in sorted(group_of.keys() - emitted):
        raise CodeError(f"no block makes {name_of(code, predicate)}, which is in a group")
    for predicate in code.outputs:
        if predicate not in group_of:
            raise CodeError(f"predicate {predicate} is an output and is not derived")
    if len(set(code.outputs)) < len(code.outputs):
        raise CodeError("a predicate is an output twice")


def _check_constants(code: Code, limits: Limits) -> None:
    for number, text in enumerate(code.constants):
        wrong = _wrong_with(text, limits)
        if wrong:
            raise CodeError(f"constant {number}, {quote(text)}, {wrong}")


def _wrong_with(text: str, limits: Limits) -> str | None:
    """Why a text can be no value (030 Values), nor stand in a rule."""
    if "\n" in text or "\r" in text:
        return "has a line break"
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return "is not Unicode text"
    if size > limits.value_bytes:
        return f"is over the limit value_bytes of {limits.value_bytes}"
    if size > len(text) and not unicodedata.is_normalized("NFC", text):
        return "is not NFC"
    return None


def _check_predicates(code: Code, limits: Limits) -> None:
    seen = set()
    for number, predicate in enumerate(code.predicates):
        if predicate in seen:
            raise CodeError(f"{name_of(code, number)} is in the table of predicates twice")
        if not 0 <= predicate.arity <= limits.arity:
            raise CodeError(f"{name_of(code, number)} is over the limit arity of {limits.arity}")
        seen.add(predicate)


def _check_groups(code: Code) -> dict[int, int]:
    """The group of each derived predicate."""
    group_of: dict[int, int] = {}
    for number, group in enumerate(code.groups):
        if not group.predicates or (len(group.predicates) > 1 and not group.recursive):
            raise CodeError(
                f"group {number} has {len(group.predicates)} predicates and is "
                f"{'' if group.recursive else 'not '}recursive"
            )
        for predicate in group.predicates:
            if not 0 <= predicate < len(code.predicates):
                raise CodeError(f"group {number} has predicate {predicate}, which does not exist")
            if predicate in group_of:
                raise CodeError(f"{name_of(code, predicate)} is in a group twice")
            if code.predicates[predicate] in BASE:
                raise CodeError(
                    f"{name_of(code, predicate)} is a base predicate, in group {number}"
                )
            group_of[predicate] = number
    return group_of


def _check_views(code: Code, group_of: dict[int, int]) -> None:
    """A view is given from outside; a peer's rules have one."""
    for number, (gate, viewer) in enumerate(code.views, 1):
        if not is_below(gate, len(code.predicates)) or not is_below(viewer, len(code.constants)):
            raise CodeError(f"view {number} names what is in no table")
        predicate = code.predicates[gate]
        if gate in group_of or predicate in BASE or predicate.arity != 2:
            raise CodeError(f"{name_of(code, gate)} cannot be the gate of view {number}")
    for number, group in enumerate(code.groups):
        origin, view = group.reading
        if not is_below(view, len(code.views) + 1):
            raise CodeError(f"group {number} reads through view {view}, which does not exist")
        if (origin == Origin.PEER) and view == FULL_VIEW:
            raise CodeError(f"group {number} is of a peer, and reads through no view")
        if origin == Origin.TRUSTED and view != FULL_VIEW:
            raise CodeError(f"group {number} is of a trusted peer, and reads through a view")


def _check_ranks(code: Code, group_of: dict[int, int], checkers: list[BlockChecker]) -> None:
    """What RANK counts can be made while its block runs: all that this takes is there."""
    needs: list[set[int]] = [set() for _ in code.groups]
    ranking = set()
    for checker in checkers:
        needs[checker.block.group] |= checker.loaded
        if checker.ranked:
            ranking.add(checker.block.group)
    for checker in checkers:
        there = needs[checker.block.group]
        for at, predicate in checker.ranked:
            number = group_of[predicate]
            group = code.groups[number]
            if not there.isdisjoint(group.predicates):
                continue
            if group.recursive or number in ranking or not needs[number] <= there:
                checker.at = at
                raise checker.fail(f"{name_of(code, predicate)} cannot be made on the way")
