"""What the emitter decides: the order of joins, what is dropped, where tests stand, what is shared.

A case is a rule and the instructions it becomes, as the listing shows them.
"""

import pytest

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Kind
from lacec.bytecode.order import Sizes
from lacec.core.origins import OPEN, Reading
from lacec.core.predicates import Predicate
from tests.bytecode.programs import blocks_of, code_of, listing, shown

NEWER = """
Newer(P,Q) :- C(P,T), C(Q,T), LexCompare(Q,'>',P).
Newer(P,Q) :- C(P,TP), C(Q,TQ), LexCompare(TQ,'>',TP).
"""


def loads(lines: list[str]) -> list[str]:
    """The predicates in the order they are loaded."""
    return [words[3] for words in map(str.split, lines) if words[2] == "LOAD"]


def sizes_of(**sizes: int) -> Sizes:
    def size(
        predicate: Predicate, constants: tuple[tuple[int, str], ...], reading: Reading
    ) -> int | None:
        assert reading == OPEN
        size = sizes.get(predicate.name)
        return None if size is None else size // (1 + len(constants))

    return size


def opcodes_of(text: str, head: str, outputs: list[tuple[str, int]] | None) -> list[str]:
    code = code_of(text, outputs)
    (number,) = blocks_of(code, head)
    return [op.OPCODES[instruction[0]].name for instruction in code.blocks[number].instructions]


# The order of joins.


def test_constants_make_an_atom_first() -> None:
    text = "A(P,V) :- Have(P), Field(P,'Name',_,V), Field(P,'Group',_,'u')."
    assert shown(text, "A") == [
        "r0 = LOAD Field/4",
        "r1 = SELECT r0 constants (r0.1='Group', r0.3='u')",
        "r2 = PROJECT r1 columns (r1.0)",
        "r3 = LOAD Have/1",
        "r4 = SEMI r2 r3 keys (r2.0=r3.0)",
        "r5 = LOAD Field/4",
        "r6 = SELECT r5 constants (r5.1='Name')",
        "r7 = PROJECT r4 columns (r4.0) distinct",
        "r8 = JOIN r7 r6 keys (r7.0=r6.0) columns (r7.0, r6.3)",
        "EMIT A/2 r8 terms (r8.0, r8.1)",
    ]


def test_what_is_derived_comes_before_record_facts() -> None:
    assert loads(shown("A(P,S) :- Field(P,_,_,S), D(P,S).\nD(X,Y) :- E(X,Y).", "A"))[0] == "D/2"


def test_connected_atoms_come_before_products() -> None:
    text = "A(X,Z) :- B(X), C(Z), D(X,Y), E(Y,Z)."
    assert loads(shown(text, "A")) == ["B/1", "D/2", "E/2", "C/1"]


def test_without_sizes_the_text_decides() -> None:
    assert loads(shown("A(X,Y) :- B(X), D(X,Y), C(Y).", "A")) == ["B/1", "D/2", "C/1"]


def test_with_sizes_the_smallest_decides() -> None:
    text = "A(X,Y) :- B(X), D(X,Y), C(Y)."
    sizes = sizes_of(B=5000, C=3, D=90)
    assert loads(shown(text, "A", sizes)) == ["C/1", "D/2", "B/1"]
    assert loads(shown(text, "A", sizes_of(B=5, C=3, D=1))) == ["D/2", "C/1", "B/1"]


def test_sizes_count_what_the_constants_leave() -> None:
    text = "A(X,Y) :- B(X,Y), C(X,Y,'a','b')."
    assert loads(shown(text, "A", sizes_of(B=5, C=9)))[0] == "C/4"


def test_questions_without_variables_come_first() -> None:
    assert loads(shown("A(X) :- E(X,Y), F(Y), G('a'), H().", "A")) == ["G/1", "H/0", "E/2", "F/1"]


# What is kept.


def test_columns_that_nobody_needs_are_dropped_at_once() -> None:
    assert shown("A(P) :- RecordLink(P,_,_,_,_).", "A") == [
        "r0 = LOAD RecordLink/5",
        "r1 = PROJECT r0 columns (r0.0)",
        "EMIT A/1 r1 terms (r1.0)",
    ]


def test_a_join_that_drops_columns_makes_rows_distinct_before_the_next() -> None:
    assert shown("A(X,W) :- E(X,Y), E(Y,Z), E(Z,W).", "A") == [
        "r0 = LOAD E/2",
        "r1 = PROJECT r0 columns (r0.0, r0.1)",
        "r2 = LOAD E/2",
        "r3 = JOIN r1 r2 keys (r1.1=r2.0) columns (r1.0, r2.1)",
        "r4 = LOAD E/2",
        "r5 = PROJECT r3 columns (r3.0, r3.1) distinct",
        "r6 = JOIN r5 r4 keys (r5.1=r4.0) columns (r5.0, r4.1)",
        "EMIT A/2 r6 terms (r6.0, r6.1)",
    ]


def test_equal_rows_do_not_multiply() -> None:
    """Wildcards leave equal rows behind; a join with 9,000 of them would have 81 million."""
    for text in ("A(X,Y) :- E(X,Y), Have(_).", "A(X,Y) :- F(X,_), G(X,Y)."):
        lines = shown(text, "A")
        assert any(line.endswith("distinct") for line in lines[:-2]), lines


def test_a_column_is_dropped_before_a_filter_that_does_not_need_it() -> None:
    lines = shown("A(X) :- E(X,Y), LexCompare(Y,'>','a'), F(X).", "A")
    assert lines[2:6] == [
        "r2 = TEST r1 LexCompare terms (r1.1, '>', 'a')",
        "r3 = LOAD F/1",
        "r4 = PROJECT r2 columns (r2.0)",
        "r5 = SEMI r4 r3 keys (r4.0=r3.0)",
    ]


def test_an_atom_that_binds_nothing_is_a_semi_join() -> None:
    text = "A(X) :- E(X,Y), F(Y,X), G(Y,_), H(Y,Only)."
    assert opcodes_of(text, "A", None).count("SEMI") == 3
    assert "JOIN" not in opcodes_of(text, "A", None)


def test_constants_and_repeated_variables_are_selected() -> None:
    assert shown("A(X,X,'c') :- E(X,X,'a',_,Y,Y).", "A") == [
        "r0 = LOAD E/6",
        "r1 = SELECT r0 constants (r0.2='a') equal (r0.0=r0.1, r0.4=r0.5)",
        "r2 = PROJECT r1 columns (r1.0)",
        "EMIT A/3 r2 terms (r2.0, r2.0, 'c')",
    ]


# Where tests stand.


def test_tests_stand_as_soon_as_their_variables_are_bound() -> None:
    text = "A(X,Z) :- not G(Z), not G(Y), LexCompare(Z,'<',X), X != 'a', E(X,Y), F(Y,Z)."
    assert shown(text, "A") == [
        "r0 = LOAD E/2",
        "r1 = PROJECT r0 columns (r0.0, r0.1)",
        "r2 = TEST r1 != terms (r1.0, 'a')",
        "r3 = LOAD G/1",
        "r4 = ANTI r2 r3 keys (r2.1=r3.0)",
        "r5 = LOAD F/2",
        "r6 = JOIN r4 r5 keys (r4.1=r5.0) columns (r4.0, r5.1)",
        "r7 = TEST r6 LexCompare terms (r6.1, '<', r6.0)",
        "r8 = LOAD G/1",
        "r9 = ANTI r7 r8 keys (r7.1=r8.0)",
        "EMIT A/2 r9 terms (r9.0, r9.1)",
    ]


def test_cheap_tests_come_before_dear_ones_and_counts_last() -> None:
    text = "A(X) :- Cardinality(E(_),'>','1'), not F(X), TextShape(X,'a','',''), X != 'b', G(X)."
    assert opcodes_of(text, "A", None) == [
        *("LOAD", "PROJECT", "TEST", "TEST", "LOAD", "ANTI", "LOAD", "COUNT", "EMIT")
    ]


def test_counts_wait_for_every_atom() -> None:
    lines = shown("A(X,Y) :- E(X), Cardinality(F(X,_),'<=','3'), G(X,Y), H(Y).", "A")
    assert lines[-2] == "r7 = COUNT r5 r6 keys (r5.0=r6.0) <= '3'"
    assert loads(lines) == ["E/1", "G/2", "H/1", "F/2"]


def test_what_is_counted_keeps_every_column() -> None:
    lines = shown("A(X) :- E(X), Cardinality(F(X,_,'k',L),'<','3').", "A")
    assert lines[2:] == [
        "r2 = LOAD F/4",
        "r3 = SELECT r2 constants (r2.2='k')",
        "r4 = COUNT r1 r3 keys (r1.0=r3.0) < '3'",
        "EMIT A/1 r4 terms (r4.0)",
    ]


def test_a_body_without_atoms_begins_with_the_unit() -> None:
    assert shown("A('x') :- true, 'a' != 'b', not B('c').", "A") == [
        "r0 = UNIT",
        "r1 = TEST r0 != terms ('a', 'b')",
        "r2 = LOAD B/1",
        "r3 = SELECT r2 constants (r2.0='c')",
        "r4 = ANTI r1 r3",
        "EMIT A/1 r4 terms ('x')",
    ]


# What rules share.

SHARING = """
A(P) :- Have(P), F(P,'g'), G(P,K), K != 'x'.
B(P,Q) :- H(P,Q), Have(P), Have(Q), F(P,'g'), F(Q,'g').
"""


def test_a_part_that_rules_share_is_lifted() -> None:
    code = code_of(SHARING)
    assert code.groups[0].predicates == (code.predicates.index(Predicate("+1", 1)),)
    assert code.blocks[0].rule == -1
    assert listing(code, 0) == [
        "r0 = LOAD F/2",
        "r1 = SELECT r0 constants (r0.1='g')",
        "r2 = PROJECT r1 columns (r1.0)",
        "r3 = LOAD Have/1",
        "r4 = SEMI r2 r3 keys (r2.0=r3.0)",
        "EMIT +1/1 r4 terms (r4.0)",
    ]
    assert loads(shown(SHARING, "A")) == ["+1/1", "G/2"]
    assert loads(shown(SHARING, "B")) == ["+1/1", "H/2", "+1/1"]


def test_lifted_predicates_are_no_outputs() -> None:
    code = code_of(SHARING)
    assert {code.predicates[output].name for output in code.outputs} == {"A", "B"}


@pytest.mark.parametrize(
    "text",
    [
        "A(P) :- Have(P), F(P,'g').\nB(P) :- Have(P), F(P,'h').",
        "A(P) :- Have(P), F(P).\nB(P) :- Have(P), G(P).",
        "A(P) :- Have(P), R(P).\nB(P) :- Have(P), R(P).\nR(X) :- E(X).\nR(X) :- R(Y), D(Y,X).",
        "A(P) :- Have(P), F(P), G(P).\nB(P) :- Have(P), F(P).",
    ],
    ids=["other constant", "one atom alike", "recursive predicate", "a part of a part"],
)
def test_what_is_not_lifted(text: str) -> None:
    assert not [p for p in code_of(text).predicates if p.name.startswith("+")]


# Counting by rank.


def test_the_latest_are_counted_by_rank() -> None:
    text = NEWER + "Latest(P) :- C(P,_), Cardinality(Newer(P,_),'<','100')."
    code = code_of(text, [("Latest", 1)])
    (number,) = blocks_of(code, "Latest")
    assert listing(code, number)[2:] == [
        "r2 = LOAD C/2",
        "r3 = PROJECT r2 columns (r2.0, r2.1)",
        "r4 = RANK r1 r1.0 Newer/2 Newer/2.0 r3 r3 ways (LexCompare low.0 < high.0 and "
        "low.1=high.1, LexCompare low.1 < high.1) < '100'",
        "EMIT Latest/1 r4 terms (r4.0)",
    ]


def test_a_rank_of_two_relations_by_the_other_argument() -> None:
    text = """
N(Q,P) :- C(P,'k',T), D(_,Q,U), IntCompare(T,'<=',U).
L(P,B) :- E(P,B), Cardinality(N(_,P),'>',B).
"""
    code = code_of(text, [("L", 2)])
    (number,) = blocks_of(code, "L")
    assert listing(code, number)[2:] == [
        "r2 = LOAD C/3",
        "r3 = SELECT r2 constants (r2.1='k')",
        "r4 = PROJECT r3 columns (r3.0, r3.2) distinct",
        "r5 = LOAD D/3",
        "r6 = PROJECT r5 columns (r5.1, r5.2) distinct",
        "r7 = RANK r1 r1.0 N/2 N/2.1 r4 r6 ways (IntCompare low.1 <= high.1) > r1.1",
        "EMIT L/2 r7 terms (r7.0, r7.1)",
    ]


COUNTED = "\nL(P) :- C(P,_), Cardinality(N(P,_),'<','9')."


@pytest.mark.parametrize(
    "text",
    [
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T), P != Q." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T), D(Q)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>','a')." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(T,'>',P)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,T)." + COUNTED,
        "N(P,'x') :- C(P,T), C(Q,U), LexCompare(U,'>',T)." + COUNTED,
        "N(P,P) :- C(P,T), C(Q,U), LexCompare(U,'>',T)." + COUNTED,
        "N(P,T) :- C(P,T), C(Q,U), LexCompare(U,'>',T)." + COUNTED,
        "N(P,Q) :- C(P,P), C(Q,U), LexCompare(U,'>',P)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,T), LexCompare(Q,'>=',P).\n"
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>=',T)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\n"
        "N(P,Q) :- C(P,T), C(Q,U), IntCompare(U,'<',T)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\n"
        "N(P,Q) :- D(P,T), C(Q,T), LexCompare(Q,'>',P)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\nN(P,Q) :- D(P,Q)." + COUNTED,
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\n"
        "L(P) :- C(P,Q), Cardinality(N(P,Q),'<','9').",
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\n"
        "L(P) :- C(P,_), Cardinality(N(P,'x'),'<','9').",
        "N(P,Q) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\n"
        "L(P) :- C(P,_), Cardinality(N(X,X),'<','9').",
        "N(P,Q,T) :- C(P,T), C(Q,U), LexCompare(U,'>',T).\n"
        "L(P) :- C(P,_), Cardinality(N(P,_,_),'<','9').",
        "L(P) :- C(P,_), Cardinality(N(P,_),'<','9').",
    ],
    ids=[
        *("another test", "a third atom", "compared with a constant", "compared within one atom"),
        *("no comparison", "constant in the head", "key twice in the head", "one atom for both"),
        *("variable twice in an atom", "pairs of two rules", "two orders", "other atoms"),
        *("a rule of another form", "both bound", "bound to a constant", "none bound"),
        *("three arguments", "no rules"),
    ],
)
def test_what_is_not_counted_by_rank(text: str) -> None:
    names = opcodes_of(text, "L", [("L", 1)])
    assert "COUNT" in names
    assert "RANK" not in names


def test_an_output_is_made_anyway_and_counted_from_its_tuples() -> None:
    text = NEWER + "Latest(P) :- C(P,_), Cardinality(Newer(P,_),'<','100')."
    assert "COUNT" in opcodes_of(text, "Latest", [("Latest", 1), ("Newer", 2)])


# Recursion.


def test_a_recursive_rule_has_a_block_for_each_atom_of_its_group() -> None:
    text = "P(X,Y) :- E(X,Y).\nP(X,Z) :- P(X,Y), F(Y), P(Y,Z)."
    code = code_of(text)
    assert [(b.kind, b.atom) for b in code.blocks] == [
        (Kind.FULL, -1),
        (Kind.DELTA, 0),
        (Kind.DELTA, 2),
    ]
    assert listing(code, 1)[0] == "r0 = LOAD P/2 last"
    assert loads(listing(code, 1)) == ["P/2", "F/1", "P/2"]
    assert listing(code, 2)[0] == "r0 = LOAD P/2 last"


def test_predicates_that_need_each_other_are_one_group() -> None:
    code = code_of("A(X) :- E(X).\nA(X) :- B(X).\nB(X) :- A(X), F(X).\nC(X) :- A(X), B(X).")
    groups = [
        ({code.predicates[p].name for p in group.predicates}, group.recursive)
        for group in code.groups
    ]
    assert groups == [({"A", "B"}, True), ({"C"}, False)]
    assert [code.blocks[number].kind for number in blocks_of(code, "C")] == [Kind.FULL]
    kinds = [code.blocks[number].kind for number in blocks_of(code, "A")]
    assert sorted(kinds) == [Kind.FULL, Kind.DELTA]


# Blocks for changes, and for questions.


def live_blocks(text: str, head: str, kind: Kind) -> list[tuple[int, bool, list[str]]]:
    """The blocks of a kind: the literal that each begins with, its sign, its instructions."""
    code = code_of(text, live=True)
    numbers = [n for n in blocks_of(code, head) if code.blocks[n].kind == kind]
    return [(code.blocks[n].atom, code.blocks[n].falling, listing(code, n)) for n in numbers]


def test_live_code_has_the_same_blocks_and_more() -> None:
    text = "P(X,Y) :- E(X,Y).\nP(X,Z) :- P(X,Y), F(Y), P(Y,Z), not G(X)."
    full, live = code_of(text), code_of(text, live=True)
    assert [b for b in live.blocks if b.kind in (Kind.FULL, Kind.DELTA)] == list(full.blocks)
    assert [(b.rule, b.kind, b.atom) for b in live.blocks if b not in full.blocks] == [
        (0, Kind.CHANGE, 0),
        (0, Kind.CHECK, -1),
        (1, Kind.CHANGE, 1),
        (1, Kind.CHANGE, 3),
        (1, Kind.CHECK, -1),
    ]


def test_a_change_block_begins_with_what_changed_of_one_atom() -> None:
    text = "A(P,V) :- Have(P), Field(P,'Name',_,V), Field(P,'Group',_,'u')."
    atom, falling, lines = live_blocks(text, "A", Kind.CHANGE)[1]
    assert (atom, falling) == (1, False)
    assert lines[:3] == [
        "r0 = LOAD Field/4 changed",
        "r1 = SELECT r0 constants (r0.1='Name')",
        "r2 = PROJECT r1 columns (r1.0, r1.3)",
    ]
    assert loads(lines) == ["Field/4", "Field/4", "Have/1"]


def test_a_change_block_of_a_negated_atom_begins_with_its_keys_and_still_tests_it() -> None:
    assert live_blocks("A(X) :- E(X,Y), not G(Y,_,'a').", "A", Kind.CHANGE)[1] == (
        1,
        True,
        [
            "r0 = LOAD G/3 changed",
            "r1 = SELECT r0 constants (r0.2='a')",
            "r2 = PROJECT r1 columns (r1.0) distinct",
            "r3 = LOAD G/3",
            "r4 = SELECT r3 constants (r3.2='a')",
            "r5 = ANTI r2 r4 keys (r2.0=r4.0)",
            "r6 = LOAD E/2",
            "r7 = JOIN r5 r6 keys (r5.0=r6.1) columns (r6.0)",
            "EMIT A/1 r7 terms (r7.0)",
        ],
    )


@pytest.mark.parametrize(("operator", "falling"), [("<", True), ("<=", True), (">", False)])
def test_a_change_block_of_a_count_begins_with_the_keys_to_count_again(
    operator: str, falling: bool
) -> None:
    text = f"A(X) :- E(X), Cardinality(F(X,L,_),'{operator}','3')."
    assert live_blocks(text, "A", Kind.CHANGE)[1] == (
        1,
        falling,
        [
            "r0 = LOAD F/3 changed",
            "r1 = PROJECT r0 columns (r0.0) distinct",
            "r2 = LOAD E/1",
            "r3 = SEMI r1 r2 keys (r1.0=r2.0)",
            "r4 = LOAD F/3",
            f"r5 = COUNT r3 r4 keys (r3.0=r4.0) {operator} '3'",
            "EMIT A/1 r5 terms (r5.0)",
        ],
    )


def test_what_is_counted_by_rank_has_a_change_block_that_begins_with_its_keys() -> None:
    """The predicate is never made: whoever follows the counts tells which keys are concerned."""
    text = NEWER + "Latest(P) :- C(P,_), Cardinality(Newer(P,_),'<','100')."
    code = code_of(text, [("Latest", 1)], live=True)
    blocks = [code.blocks[number] for number in blocks_of(code, "Latest")]
    assert [(b.kind, b.atom) for b in blocks] == [
        (Kind.FULL, -1),
        (Kind.CHANGE, 0),
        (Kind.CHANGE, 1),
        (Kind.CHECK, -1),
    ]
    counted = [instruction[0] for instruction in blocks[2].instructions]
    assert (counted[:2], op.RANK in counted) == ([op.LOAD, op.PROJECT], True)


def test_a_check_block_begins_with_the_head_and_keeps_what_the_rule_says_twice() -> None:
    text = "A(X,'c',X) :- E(X,Y,_), F(Y,Z), G(Z,Only), X != Y."
    code = code_of(text, live=True)
    number = blocks_of(code, "A")[-1]
    assert code.blocks[number].variables == ("X", "Y", "Z")
    assert listing(code, number) == [
        "r0 = LOAD A/3 asked",
        "r1 = SELECT r0 constants (r0.1='c') equal (r0.0=r0.2)",
        "r2 = PROJECT r1 columns (r1.0)",
        "r3 = LOAD E/3",
        "r4 = JOIN r2 r3 keys (r2.0=r3.0) columns (r2.0, r3.1)",
        "r5 = TEST r4 != terms (r4.0, r4.1)",
        "r6 = LOAD F/2",
        "r7 = PROJECT r5 columns (r5.0, r5.1) distinct",
        "r8 = JOIN r7 r6 keys (r7.1=r6.0) columns (r7.0, r7.1, r6.1)",
        "r9 = LOAD G/2",
        "r10 = SEMI r8 r9 keys (r8.2=r9.0)",
        "EMIT A/3 r10 terms (r10.0, 'c', r10.0)",
    ]


def test_a_check_block_of_a_rule_without_variables() -> None:
    assert live_blocks("A('x') :- not B('c').", "A", Kind.CHECK)[0][2] == [
        "r0 = LOAD A/1 asked",
        "r1 = SELECT r0 constants (r0.0='x')",
        "r2 = PROJECT r1 distinct",
        "r3 = LOAD B/1",
        "r4 = SELECT r3 constants (r3.0='c')",
        "r5 = ANTI r2 r4",
        "EMIT A/1 r5 terms ('x')",
    ]
