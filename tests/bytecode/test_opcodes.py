"""The table of opcodes: complete, in step with the machine, and the page made from it."""

import importlib.util
import inspect
from pathlib import Path

import pytest

from lacec.bytecode import opcodes as op
from lacec.core.predicates import BUILTIN_ARITY, OPERATORS
from lacec.vm.machine import Machine

DOCS = Path(__file__).parents[2] / "docs"


def test_numbers_are_consecutive() -> None:
    assert [opcode.number for opcode in op.OPCODES] == list(range(len(op.OPCODES)))


def test_names_are_the_numbers() -> None:
    for opcode in op.OPCODES:
        assert getattr(op, opcode.name) == opcode.number
        assert op.OPCODES[opcode.number] is opcode


@pytest.mark.parametrize("opcode", op.OPCODES, ids=lambda opcode: opcode.name)
def test_the_machine_has_a_step_for_each(opcode: op.Opcode) -> None:
    step = getattr(Machine, f"_{opcode.name.lower()}")
    _, registers, *operands = inspect.signature(step).parameters
    assert registers == "registers"
    written = [name for name, _ in opcode.operands]
    assert [name if name != "source" else "from" for name in operands] == written


@pytest.mark.parametrize("opcode", op.OPCODES, ids=lambda opcode: opcode.name)
def test_operands_refer_to_operands(opcode: op.Opcode) -> None:
    operands = op.OPERANDS[opcode.number]
    for place, operand in enumerate(operands):
        for part in operand.parts:
            known = operands if part.kind == "out" else operands[:place]
            assert set(part.of) <= {other.name for other in known}
        assert len(operand.parts) <= (2 if operand.many else 1)
        assert [part.kind for part in operand.parts] != ["out"] or place == 0


def test_a_kind_taken_apart() -> None:
    written = (
        ("keys", "column:left column:right*"),
        ("columns", "pick:left:right*"),
        ("to", "out"),
    )
    assert op.take_apart(written) == (
        op.Operand("keys", (op.Part("column", ("left",)), op.Part("column", ("right",))), True),
        op.Operand("columns", (op.Part("pick", ("left", "right")),), True),
        op.Operand("to", (op.Part("out", ()),), False),
    )


def test_choices_begin_at_zero_or_are_part_of_another() -> None:
    for kind, choices in op.CHOICES.items():
        if kind != "order":
            assert list(choices) == list(range(len(choices)))
    assert set(op.CHOICES["order"]) < set(op.CHOICES["test"])


def test_comparisons() -> None:
    assert tuple(op.COMPARES) == OPERATORS
    for compare in op.Compare:
        assert compare.mirrored.mirrored == compare
        assert compare.strict == (len(compare.symbol) == 1)


def test_tests_take_as_many_terms_as_the_builtins() -> None:
    for test in op.Test:
        assert test.terms == BUILTIN_ARITY.get(test.symbol, 2)


def test_the_page_is_not_stale() -> None:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = (DOCS / "opcodes.md").read_text(encoding="utf-8")
    assert page == generate.opcode_reference(), "run `make docs`"
    for opcode in op.OPCODES:
        assert f"### {opcode.number} {opcode.name}\n" in page
    assert DOCS / "opcodes.md" in generate.PAGES
