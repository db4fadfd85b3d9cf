"""Views in the code: a peer's rules have no raw load, and no code passes that gives them one."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Code, Group
from lacec.bytecode.codec import decode, encode
from lacec.bytecode.disasm import disassemble
from lacec.bytecode.emit import emit
from lacec.bytecode.verify import verify
from lacec.core.errors import CodeError
from lacec.core.origins import Origin, Reading
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.plan.expose import LocalPolicy, expose_all
from lacec.plan.lower import SideProgram
from tests.bytecode.programs import find, with_operand
from tests.plan.pairs import plan_of

PEER = """\
SelectHave(P) :- Helper(P), not Field(P,'Bad',_,_), Cardinality(RecordLink(P,_,_,_,_),'<','3').
SelectAdvertised(P,S) :- Advertised(P,S), Reach(P,P), Undefined(P), Cardinality(Newer(P,_),'<','2').
Helper(P) :- Have(P), Field(P,'Group',_,'X').
Second(P) :- Have(P), Field(P,'Group',_,'X'), not BlobHash(P,_).
Reach(P,Q) :- RecordLink(P,_,_,_,Q), PlexHash(P,_).
Reach(P,R) :- Reach(P,Q), RecordLink(Q,_,_,_,R).
Newer(P,Q) :- Field(P,'TAI',_,T), Field(Q,'TAI',_,U), LexCompare(U,'>',T).
"""
OWN = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'X').
SelectHave(P) :- Have(P), Field(P,'Group',_,'X'), Peer(_).
SelectAdvertised(P,S) :- Advertised(P,S).
"""
TRUSTING = LocalPolicy(trust_peer=True)
NARROW = LocalPolicy((expose_all(),), narrow=(expose_all(),))


def side(policy: LocalPolicy = LocalPolicy()) -> SideProgram:  # noqa: B008
    return plan_of(OWN, PEER, verifiers=(None, "V.bob")).side(0, policy)


def code_of(policy: LocalPolicy = LocalPolicy()) -> Code:  # noqa: B008
    program = side(policy)
    outputs = [Predicate("MaySend", 1), Predicate("MayRequest", 1)]
    return emit(program.main, outputs, None, program.resolution)


def record_loads(code: Code) -> Iterator[tuple[Reading, int]]:
    """The reading of the group and the view of each load of a record fact."""
    for block in code.blocks:
        for instruction in block.instructions:
            if instruction[0] == op.LOAD and code.predicates[instruction[2]] in RECORD_FACTS:
                yield code.groups[block.group].reading, instruction[3]


def test_every_record_fact_of_the_peer_is_loaded_through_its_view() -> None:
    """020: helpers, negation, cardinality and recursion alike."""
    code = code_of()
    verify(code)
    loads = list(record_loads(code))
    peer = [view for reading, view in loads if reading.origin == Origin.PEER]
    assert len(peer) > 10
    assert set(peer) == {1}
    assert {view for reading, view in loads if reading.origin == Origin.LOCAL} == {0}


def test_a_narrowed_operand_has_a_view_and_a_trusted_peer_none() -> None:
    code = code_of(NARROW)
    verify(code)
    assert {view for reading, view in record_loads(code) if reading.origin == Origin.LOCAL} == {2}
    code = code_of(TRUSTING)
    verify(code)
    assert set(record_loads(code)) == {(Reading(Origin.TRUSTED), 0), (Reading(), 0)}


def test_a_shared_sub_join_is_never_shared_between_origins() -> None:
    """Both operands begin with Have(P), Field(P,'Group',_,'X'), each twice."""
    for policy in (LocalPolicy(), TRUSTING, NARROW):
        code = code_of(policy)
        lifted = {
            code.groups[block.group].reading
            for block in code.blocks
            if code.predicates[block.instructions[-1][1]].name.startswith("+")
        }
        assert len(lifted) == 2
        verify(code)


def test_code_with_views_is_written_and_read() -> None:
    code = code_of(NARROW)
    assert decode(encode(code)) == code
    listing = disassemble(code)
    assert "view 1: CanQueryRecord/2 for 'V.bob'\n" in listing
    assert "o1_Helper/1, peer origin, view 1\n" in listing
    assert "o1_Reach/2, recursive, peer origin, view 1\n" in listing
    assert "LOAD     Field/4 view 1\n" in listing
    assert "LOAD     Advertised/2\n" in listing
    assert "trusted origin\n" in disassemble(code_of(TRUSTING))


# What the verifier refuses.


def refused(code: Code) -> str:
    with pytest.raises(CodeError) as error:
        verify(code)
    return str(error.value)


def raw_loads() -> Iterator[Code]:
    """The code with one load of the peer made raw, for each in turn."""
    code = code_of()
    for number, block in enumerate(code.blocks):
        for at, instruction in enumerate(block.instructions):
            if instruction[0] == op.LOAD and instruction[3]:
                changed = (*instruction[:3], 0, *instruction[4:])
                instructions = (*block.instructions[:at], changed, *block.instructions[at + 1 :])
                blocks = list(code.blocks)
                blocks[number] = replace(block, instructions=instructions)
                yield replace(code, blocks=tuple(blocks))


def test_any_one_raw_load_of_a_peer_is_refused() -> None:
    codes = list(raw_loads())
    assert len(codes) > 10
    for code in codes:
        assert "is loaded through view 0, and not 1" in refused(code)


def with_reading(code: Code, name: str, reading: Reading) -> Code:
    number = code.predicates.index(next(p for p in code.predicates if p.name == name))
    groups = tuple(
        Group(g.predicates, g.recursive, reading) if number in g.predicates else g
        for g in code.groups
    )
    return replace(code, groups=groups)


def test_a_peer_without_a_view_is_refused() -> None:
    code = with_reading(code_of(), "o1_Helper", Reading(Origin.PEER, 0))
    assert "is of a peer, and reads through no view" in refused(code)
    code = with_reading(code_of(), "o1_Helper", Reading(Origin.TRUSTED, 1))
    assert "is of a trusted peer, and reads through a view" in refused(code)
    code = with_reading(code_of(), "o1_Helper", Reading(Origin.PEER, 7))
    assert "reads through view 7, which does not exist" in refused(code)


def test_a_peer_reads_no_rule_of_another_origin() -> None:
    """A local helper would be a raw load by another name."""
    code = with_reading(code_of(), "o1_Second", Reading(Origin.PEER, 1))
    number = code.predicates.index(Predicate("o1_Helper", 1))
    code = with_operand(code, "o0_SelectHave", op.LOAD, "predicate", number)
    verify_message = "`o1_Helper/1` is read otherwise than this block"
    assert verify_message not in _message(code)  # local rules may read what a peer's derive
    code = with_reading(code_of(NARROW), "o0_SelectHave", Reading(Origin.PEER, 1))
    assert "is read otherwise than this block" in refused(code)


def _message(code: Code) -> str:
    try:
        verify(code)
    except CodeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", ["CanQueryRecord/2", "_Viewer/1", "Secret/1", "m1_Ok/1"])
def test_a_peer_reads_facts_of_the_exchange_alone(name: str) -> None:
    text, _, arity = name.partition("/")
    code = code_of()
    predicate = Predicate(text, int(arity))
    code = replace(code, predicates=(*dict.fromkeys((*code.predicates, predicate)),))
    number = code.predicates.index(predicate)
    at = find(code, "o1_Helper", op.EMIT)[0]
    loads = (op.LOAD, 0, number, 0, 0)
    emits = (op.EMIT, code.blocks[at].instructions[-1][1], 0, ((0, 0),))
    blocks = list(code.blocks)
    blocks[at] = replace(blocks[at], instructions=(loads, emits))
    message = refused(replace(code, blocks=tuple(blocks)))
    assert f"`{name}` is no fact that an operand may read" in message


def test_only_record_facts_have_views() -> None:
    code = with_operand(code_of(), "o1_SelectAdvertised", op.LOAD, "view", 1)
    assert "through view 1, and not 0" in refused(code)
    code = with_operand(code_of(), "o1_SelectAdvertised", op.LOAD, "view", 2)
    assert "view is 2, which is not in the table of views" in refused(code)


def test_the_gate_of_a_view_comes_from_outside() -> None:
    code = code_of()
    helper = code.predicates.index(Predicate("o1_Reach", 2))
    assert "cannot be the gate of view 1" in refused(replace(code, views=((helper, 0),)))
    assert "names what is in no table" in refused(replace(code, views=((999, 0),)))
    assert "names what is in no table" in refused(replace(code, views=((helper, 999),)))
    blob = code.predicates.index(Predicate("PlexHash", 2))
    assert "cannot be the gate of view 1" in refused(replace(code, views=((blob, 0),)))
