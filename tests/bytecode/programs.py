"""Programs whose code has every opcode, and short ways to make, change and show code."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, settings

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Block, Code, Instruction, Kind, SourceRule
from lacec.bytecode.disasm import disassemble_block
from lacec.bytecode.emit import emit
from lacec.bytecode.order import Sizes
from lacec.core.predicates import Predicate
from lacec.pipeline import compile_module

FILE = "test.lace"

LINKS = """
Link(P,K) :- Have(P), Field(P,'Name',_,K), TextShape(K,'links/','','').
Path(X,Y) :- Link(X,Y).
Path(X,Z) :- Path(X,Y), Link(Y,Z).
Free(P) :- Have(P), not Path(P,P), LexCompare(P,'>','a'), P != 'b'.
Big(P) :- Have(P), Cardinality(Field(P,_,_,_),'>','3').
Newer(P,Q) :- Link(P,T), Link(Q,T), LexCompare(Q,'>',P).
Newer(P,Q) :- Link(P,TP), Link(Q,TQ), LexCompare(TQ,'>',TP).
Latest(P) :- Link(P,_), Cardinality(Newer(P,_),'<','100').
Ever('yes') :- true.
"""
LINKS_OUTPUTS = tuple(
    Predicate(*p) for p in (("Path", 2), ("Free", 1), ("Big", 1), ("Latest", 1), ("Ever", 1))
)

PROGRAMS = {
    "links": LINKS,
    "empty": "",
    "fact": "Known('V.1') :- true.\nNothing() :- 'a' != 'a'.",
    "hostile text": "A('\x1b[2J\u202e','it\\'s','back\\\\slash','') :- B('日本 👩‍👩').",
    "mutual": """
Even('0') :- true.
Even(Y) :- Odd(X), Next(X,Y).
Odd(Y) :- Even(X), Next(X,Y).
Both(X) :- Even(X), Odd(X), not Next(X,X).
""",
    "shared": """
A(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Name',_,K), Link(K).
B(P) :- Have(P), Field(P,'Group',_,'u'), not Blocked(P).
""",
    "every test": """
A(X,Y) :- E(X,Y,Z), E(X,X,_), X != Y, IntCompare(X,'<=',Z), LexCompare('a','>=',Y).
B(X) :- E(X,_,Y), F(Z), TextShape(X,Z,'/.',Y), TextShape('a',X,'',X), 'a' != X.
C(X) :- E(X,Y,_), F(), Cardinality(E(X,_,L),'>=',Y), Cardinality(A(_,X),'<','-7').
""",
    "rank of a recursive predicate": """
M(P,T) :- C(P,T).
M(P,Q) :- N(P,Q), D(P).
N(P,Q) :- M(P,T), C(Q,T), LexCompare(Q,'>',P).
L(P) :- C(P,_), Cardinality(N(P,_),'<','3').
""",
    "rank in a recursive rule": """
N(P,Q) :- C(P,T), C(Q,U), IntCompare(T,'<',U).
R(X) :- C(X,'0').
R(Y) :- R(X), E(X,Y), Cardinality(N(Y,_),'<','3').
""",
    "drop": "A(X,W) :- E(X,Y), E(Y,Z), E(Z,W), F(W,Q), G(Q), F(X,_).",
}


def examples(count: int) -> settings:
    """How hard a property is tried; slow machines fail no test."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=count, deadline=None, suppress_health_check=quiet)


def code_of(
    text: str,
    outputs: Iterable[tuple[str, int]] | None = None,
    sizes: Sizes | None = None,
    *,
    live: bool = False,
) -> Code:
    """The code of a program; every derived predicate is an output unless they are named."""
    module = compile_module([(FILE, text)])
    wanted = None if outputs is None else [Predicate(*output) for output in outputs]
    return emit(module, wanted, sizes, live=live)


def links(*, live: bool = False) -> Code:
    """Code with every opcode; live, with every kind of block."""
    return code_of(LINKS, LINKS_OUTPUTS, live=live)


def lean(code: Code) -> Code:
    """The same blocks, with nearly no text about their rules."""
    rules = tuple(SourceRule("U", "", "f", line) for line in range(len(code.rules)))
    return replace(code, rules=rules)


def blocks_of(code: Code, head: str) -> list[int]:
    """The blocks whose EMIT is of a predicate with this name."""
    return [
        number
        for number, block in enumerate(code.blocks)
        if code.predicates[block.instructions[-1][1]].name == head
    ]


def block_of(code: Code, kind: Kind, head: str) -> int:
    """The first block of a kind that makes a predicate with this name."""
    return next(n for n in blocks_of(code, head) if code.blocks[n].kind == kind)


def listing(code: Code, number: int) -> list[str]:
    """The instructions of a block, with one space between words."""
    lines = disassemble_block(code, number).splitlines()
    return [" ".join(line.split()) for line in lines if line.startswith("    ")]


def shown(text: str, head: str, sizes: Sizes | None = None) -> list[str]:
    """The instructions of the one block of a head."""
    code = code_of(text, None, sizes)
    (number,) = blocks_of(code, head)
    return listing(code, number)


def with_block(code: Code, number: int, **changes: Any) -> Code:
    block: Block = replace(code.blocks[number], **changes)
    return replace(code, blocks=(*code.blocks[:number], block, *code.blocks[number + 1 :]))


def with_instruction(code: Code, number: int, at: int, *instructions: Instruction) -> Code:
    """Other instructions, or none, in the place of one."""
    old = code.blocks[number].instructions
    return with_block(code, number, instructions=(*old[:at], *instructions, *old[at + 1 :]))


def find(code: Code, head: str, opcode: int, which: int = 0) -> tuple[int, int]:
    """The block and the place of an instruction: the first, or another, of a head's blocks."""
    found = [
        (number, at)
        for number in blocks_of(code, head)
        for at, instruction in enumerate(code.blocks[number].instructions)
        if instruction[0] == opcode
    ]
    return found[which]


def with_operand(
    code: Code, head: str, opcode: int, name: str, value: object, which: int = 0
) -> Code:
    """The same code but for one operand, by its name in the table of opcodes."""
    number, at = find(code, head, opcode, which)
    instruction = code.blocks[number].instructions[at]
    place = [operand for operand, _ in op.OPCODES[opcode].operands].index(name) + 1
    changed = (*instruction[:place], value, *instruction[place + 1 :])
    return with_instruction(code, number, at, changed)
