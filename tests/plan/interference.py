"""One side over two stores that agree on the peer's view: can the peer tell them apart?"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random

import pytest

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Block, Code, Instruction
from lacec.bytecode.order import Sizes
from lacec.canonical.module import Module
from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.origins import OPEN, Origin
from lacec.core.predicates import Predicate
from lacec.engine import evaluation, side
from lacec.plan.expose import LocalPolicy
from lacec.plan.lower import SideProgram
from lacec.vm.database import Database
from lacec.vm.sources import TupleSource, load
from lacec.vm.view import View
from tests.plan.pairs import exposing, plan_of
from tests.plan.strategies import Pair, make_pair
from tests.vm.strategies import Choices, Facts

Rows = list[tuple[str, ...]]


@dataclass(frozen=True)
class Seen:
    """All that a peer could learn: relations, or the limit that was met and by whose rules."""

    relations: dict[str, Rows]
    limit: tuple[str, int, int, Origin, str] | None = None


def program_of(pair: Pair) -> SideProgram:
    exposures = tuple(exposing(text) for text in pair.exposures)
    policy = LocalPolicy(exposures, narrow=exposures if pair.narrowed else ())
    return plan_of(*pair.texts).side(pair.side, policy)


def peer_predicates(program: SideProgram, everything: bool) -> list[Predicate]:
    scope = f"o{program.peer}_"
    names = ("SelectHave", "SelectAdvertised")
    return [
        predicate
        for group in program.main.groups
        for predicate in group
        if predicate.name.startswith(scope) and (everything or predicate.name[3:] in names)
    ]


def observe(pair: Pair, program: SideProgram, facts: Facts) -> Seen:
    asked = peer_predicates(program, pair.all_outputs)
    database = load(TupleSource(facts))
    try:
        found = side.evaluate_side(program, database, pair.limits, outputs=asked)
    except LimitError as error:
        return Seen({}, (error.name, error.limit, error.count, error.origin, str(error)))
    relations = {str(p): found.main.facts(p) for p in found.main.relations}
    return Seen(relations | {"can query": [(record,) for record in found.can_query]})


def interferes(pair: Pair) -> bool:
    """Whether anything differs; the views must not, or the two stores prove nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MANY_FACTS", pair.many)
        program = program_of(pair)
        return observe(pair, program, pair.one) != observe(pair, program, pair.other)


# Deliberately broken lowerings, which must be found out.

LoadsOf = Callable[[Code, Block], set[int]]


def loads_behind(code: Code, block: Block, opcode: int) -> set[int]:
    """The loads that the right side of such an instruction reads."""
    del code
    made = {i[1]: at for at, i in enumerate(block.instructions) if i[0] != op.EMIT}
    found = set()
    for instruction in block.instructions:
        if instruction[0] == opcode:
            at = made[instruction[3]]
            if block.instructions[at][0] == op.SELECT:
                at = made[block.instructions[at][2]]
            found.add(at)
    return found


def first_load_of_a_helper(code: Code, block: Block) -> set[int]:
    head = code.predicates[block.instructions[-1][1]].name
    return set() if "_Select" in head else {0}


BROKEN_LOADS: dict[str, LoadsOf] = {
    "raw load in a helper": first_load_of_a_helper,
    "raw negation": lambda code, block: loads_behind(code, block, op.ANTI),
    "raw count": lambda code, block: loads_behind(code, block, op.COUNT),
}


def with_raw_loads(code: Code, chosen: LoadsOf) -> Code:
    """The code of a peer with some of its loads made raw."""

    def raw(instruction: Instruction) -> Instruction:
        return (*instruction[:3], 0, *instruction[4:]) if instruction[0] == op.LOAD else instruction

    blocks = []
    for block in code.blocks:
        if code.groups[block.group].reading.origin == Origin.PEER:
            places = chosen(code, block)
            instructions = tuple(
                raw(instruction) if at in places else instruction
                for at, instruction in enumerate(block.instructions)
            )
            block = replace(block, instructions=instructions)  # noqa: PLW2901
        blocks.append(block)
    return replace(code, blocks=tuple(blocks))


@contextmanager
def broken(how: str) -> Iterator[None]:
    """The lowering with a fault, made behind the back of the verifier."""
    with pytest.MonkeyPatch.context() as patch:
        if how in BROKEN_LOADS:
            honest = side.main_code
            patch.setattr(
                side, "main_code", lambda *a: with_raw_loads(honest(*a), BROKEN_LOADS[how])
            )
        elif how == "sizes from the raw store":
            patch.setattr(side, "sizes_of", _raw_sizes_of)
        elif how == "whether to use sizes from the raw store":
            patch.setattr(side, "visible_facts", _all_facts)
        else:
            assert how == "no view at all"
            patch.setattr(View, "of", lambda _, relation: relation)
        yield


def _raw_sizes_of(module: Module, database: Database, _: object) -> Sizes:
    sizes = evaluation.sizes_of(module, database)
    return lambda predicate, constants, _: sizes(predicate, constants, OPEN)


def _all_facts(database: Database, _: View) -> int:
    return sum(database.relation(predicate).size for predicate in database.predicates())


def could_show(how: str, pair: Pair) -> bool:
    """Whether a fault can make a difference to a pair. What is about sizes changes the order of
    joins and nothing else, which a tight limit alone can tell; most pairs are not worth a run."""
    tight = pair.limits.peer_intermediate_rows < Limits().peer_intermediate_rows
    if how == "sizes from the raw store":
        return tight and pair.many < evaluation.MANY_FACTS
    if how == "whether to use sizes from the raw store":
        one, other = (sum(len(set(rows)) for rows in f.values()) for f in (pair.one, pair.other))
        return tight and (one >= pair.many) != (other >= pair.many)
    return True


def found_out(how: str, tries: int) -> int | None:
    """After how many random pairs a broken lowering shows; None if it never does."""
    random = Random(how)
    with broken(how):
        for number in range(tries):
            pair = make_pair(Choices(random.randbytes(900)), number % 2 == 0, number % 3 == 0)
            if could_show(how, pair) and interferes(pair):
                return number + 1
    return None
