"""The listing: what it looks like, and that no text in the code can do anything to a terminal."""

from dataclasses import replace

from hypothesis import given
from syrupy.assertion import SnapshotAssertion

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Code, SourceRule
from lacec.bytecode.disasm import disassemble, disassemble_block
from lacec.core.predicates import Predicate
from tests.bytecode.programs import (
    PROGRAMS,
    code_of,
    examples,
    find,
    links,
    with_block,
    with_operand,
)
from tests.vm.strategies import Sample, samples

SMALL = """
Path(X,Y) :- RecordLink(X,_,_,'evidence',Y).
Path(X,Z) :- Path(X,Y), Path(Y,Z), X != Z.
Loose(P) :- Have(P), not Path(P,_), Cardinality(Field(P,'Signed-By',_,_),'>=','2').
Newer(P,Q) :- Field(P,'TAI',_,T), Field(Q,'TAI',_,U), LexCompare(U,'>',T).
Latest(P) :- Loose(P), Cardinality(Newer(P,_),'<','100').
"""
STEERING = "\x1b[2J\r\n\u202e\u200b'\\"


def test_a_small_program(snapshot: SnapshotAssertion) -> None:
    assert disassemble(code_of(SMALL, [("Latest", 1)])) == snapshot


def test_every_form(snapshot: SnapshotAssertion) -> None:
    assert disassemble(code_of(PROGRAMS["every test"])) == snapshot


def test_live_code(snapshot: SnapshotAssertion) -> None:
    assert disassemble(code_of(SMALL, [("Latest", 1)], live=True)) == snapshot


def test_one_block() -> None:
    code = links()
    number, _ = find(code, "Big", op.COUNT)
    assert disassemble_block(code, number) == (
        "  block 4, full\n"
        "  U.a9qWVuo6dZF4kBEBA0CqPFNNweq7RllUoisbd4gS4Vx test.lace:6\n"
        "  Big(P) :- Have(P), Cardinality(Field(P,_,_,_),'>','3').\n"
        "      r0 = LOAD     Have/1\n"
        "      r1 = PROJECT  r0 columns (r0.0)\n"
        "      r2 = LOAD     Field/4\n"
        "      r3 = COUNT    r1 r2 keys (r1.0=r2.0) > '3'\n"
        "           EMIT     Big/1 r3 terms (r3.0)\n"
    )


def test_code_without_anything() -> None:
    assert disassemble(Code((), (), (), (), ())) == "outputs: none\n"


def test_hostile_text_is_made_visible() -> None:
    code = links()
    code = replace(
        code,
        constants=tuple(text + STEERING for text in code.constants),
        predicates=tuple(Predicate(name + STEERING, n) for name, n in code.predicates),
        rules=tuple(SourceRule(r.id + STEERING, STEERING, STEERING, r.line) for r in code.rules),
    )
    plain, shown = disassemble(links()), disassemble(code)
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert shown.count("\n") == plain.count("\n")
    assert "'Name␛[2J␍␊\ufffd\ufffd\\'\\\\'" in shown


def test_numbers_that_name_nothing() -> None:
    code = with_operand(links(), "Big", op.LOAD, "predicate", 99)
    code = with_operand(code, "Big", op.COUNT, "compare", 98)
    code = with_operand(code, "Big", op.COUNT, "bound", (1, 97))
    number, _ = find(code, "Big", op.COUNT)
    code = replace(with_block(code, number, group=96, rule=95), outputs=(94,))
    shown = disassemble(code)
    assert shown.startswith("outputs: ?94\n")
    assert (
        "group ?96\n"
        "  block 4, full\n"
        "  rule ?95\n"
        "      r0 = LOAD     ?99\n"
        "      r1 = PROJECT  r0 columns (r0.0)\n"
        "      r2 = LOAD     Field/4\n"
        "      r3 = COUNT    r1 r2 keys (r1.0=r2.0) ?98 ?97\n"
    ) in shown


@given(samples())
@examples(30)
def test_every_instruction_has_its_line(sample: Sample) -> None:
    code = code_of(sample.text, live=True)
    lines = [line for line in disassemble(code).splitlines() if line.startswith("    ")]
    names = [op.OPCODES[i[0]].name for block in code.blocks for i in block.instructions]
    assert sorted(next(w for w in line.split() if w in names) for line in lines) == sorted(names)
