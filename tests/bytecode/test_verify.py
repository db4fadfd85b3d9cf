"""The verifier: what the emitter makes passes, each broken thing is named, what passes runs."""

from collections.abc import Sequence

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.bytecode import opcodes as op
from lacec.bytecode.checker import KINDS
from lacec.bytecode.code import Code
from lacec.bytecode.codec import CHECKSUM_BYTES, decode, encode
from lacec.bytecode.verify import verify
from lacec.core.errors import CodeError, LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.vm.database import Database
from lacec.vm.machine import Machine
from lacec.vm.sources import TupleSource, load
from tests.bytecode.broken import BLOCKS, GOOD, INSTRUCTIONS, LIVE_BLOCKS, TABLES, Case
from tests.bytecode.programs import LINKS, PROGRAMS, code_of, examples, lean, with_operand
from tests.vm.strategies import Sample, lift_samples, rank_samples, samples


def cases(rows: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("code", "message"), [pytest.param(code, said, id=name) for name, code, said in rows]
    )


def refused(code: Code) -> CodeError:
    with pytest.raises(CodeError) as caught:
        verify(code)
    return caught.value


def changed(code: Code) -> tuple[int, set[int]]:
    """The one block that differs from the good one, and the instructions that differ."""
    pairs = zip(code.blocks, GOOD.blocks, strict=True)
    (number,) = [number for number, (one, other) in enumerate(pairs) if one != other]
    one, other = code.blocks[number].instructions, GOOD.blocks[number].instructions
    return number, {at for at in range(len(one)) if one[at : at + 1] != other[at : at + 1]}


def test_every_kind_of_operand_is_checked() -> None:
    every = (*op.OPERANDS, op.WAY_OPERANDS)
    kinds = {part.kind for operands in every for operand in operands for part in operand.parts}
    assert kinds == KINDS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_emitters_code_passes(name: str) -> None:
    verify(code_of(PROGRAMS[name]))
    verify(code_of(PROGRAMS[name], []))
    verify(code_of(PROGRAMS[name], live=True))
    verify(GOOD)


@given(samples() | rank_samples() | lift_samples(), st.data())
@examples(100)
def test_random_code_passes(sample: Sample, data: st.DataObject) -> None:
    outputs = data.draw(st.none() | st.sets(st.sampled_from(sorted(sample.derived))))
    code = code_of(sample.text, outputs, live=True)
    verify(code)
    assert decode(encode(code)) == code


@cases(TABLES)
def test_tables(code: Code, message: str) -> None:
    assert message in str(refused(code))


@cases(BLOCKS)
def test_blocks(code: Code, message: str) -> None:
    error = refused(code)
    assert message in str(error)
    assert error.block == changed(code)[0]
    assert str(error).startswith(f"block {error.block}")


@cases(LIVE_BLOCKS)
def test_live_blocks(code: Code, message: str) -> None:
    assert message in str(refused(code))


@cases(INSTRUCTIONS)
def test_instructions(code: Code, message: str) -> None:
    error = refused(code)
    assert message in str(error)
    assert error.instruction is not None
    assert str(error).startswith(f"block {error.block}, instruction {error.instruction}: ")
    if code.constants == GOOD.constants:
        assert error.block == changed(code)[0]


def test_limits_are_those_of_the_caller() -> None:
    verify(GOOD, Limits(arity=4, value_bytes=6))
    with pytest.raises(CodeError, match="value_bytes of 5"):
        verify(GOOD, Limits(value_bytes=5))
    with pytest.raises(CodeError, match="arity of 3"):
        verify(GOOD, Limits(arity=3))


def test_what_rank_counts_has_no_rank_of_its_own() -> None:
    text = LINKS + "Few(P) :- Link(P,_), Cardinality(Newer(P,_),'<','9')."
    code = code_of(text, [("Few", 1)])
    verify(code)
    latest = code.predicates.index(Predicate("Latest", 1))
    code = with_operand(code, "Few", op.RANK, "predicate", latest)
    assert "`Latest/1` cannot be made on the way" in str(refused(code))


# What passes runs.

FACTS = TupleSource(
    {
        Predicate("Have", 1): [("a",), ("b",), ("c",)],
        Predicate("Field", 4): [
            ("a", "Name", "0", "links/b"),
            ("b", "Name", "0", "links/b"),
            ("b", "Name", "1", "links/c"),
            ("c", "Name", "0", "a"),
        ],
    }
)


def run_if_it_passes(code: Code, database: Database) -> None:
    try:
        verify(code)
    except CodeError:
        return
    try:
        Machine(code, database, DEFAULT_LIMITS).run()
    except LimitError:
        return


def test_the_machine_runs_whatever_passes() -> None:
    """Every number of the code in turn is another one, as somebody would who makes an .lbc file."""
    database = load(FACTS)
    data = encode(lean(GOOD))[:-CHECKSUM_BYTES]
    for at in range(len(data)):
        for other in (0, 1, 2, 4, 7):
            body = data[:at] + bytes([other]) + data[at + 1 :]
            try:
                code = decode(body + blake3(body).digest())
            except CodeError:
                continue
            run_if_it_passes(code, database)
