"""Lines into nodes: what each form becomes, where its parts are, and that lines stand alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.limits import Limits
from lacec.syntax.ast import (
    Always,
    Annotation,
    Anonymous,
    Atom,
    Cardinality,
    Comment,
    Constant,
    Line,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
    body_atoms,
)
from lacec.syntax.parse import CACHED_LINE, MOST_PROBLEMS_PER_LINE, parse_line
from tests.helpers import examples, lines, parsed, rule
from tests.strategies import rules, sources, spaced, spaced_rules

X, Y = Variable("X"), Variable("Y")


def test_every_form_of_body_atom() -> None:
    text = (
        "Head(X,'a',_) :- P(X), Q(), not R(X,_), X != 'b', true, "
        "IntCompare(X,'<','1'), LexCompare(X,'>=',Y), TextShape(X,'a','/',''), "
        "Cardinality(P(X,Y),'<=',X)."
    )
    assert rule(text) == Rule(
        Atom("Head", (X, Constant("a"), Anonymous())),
        (
            Atom("P", (X,)),
            Atom("Q", ()),
            Negated(Atom("R", (X, Anonymous()))),
            Unequal(X, Constant("b")),
            Always(),
            Atom("IntCompare", (X, Constant("<"), Constant("1"))),
            Atom("LexCompare", (X, Constant(">="), Y)),
            Atom("TextShape", (X, Constant("a"), Constant("/"), Constant(""))),
            Cardinality(Atom("P", (X, Y)), Constant("<="), X),
        ),
    )


def test_zero_arity() -> None:
    assert rule("Secure() :- TransportEncrypted().") == Rule(
        Atom("Secure", ()), (Atom("TransportEncrypted", ()),)
    )


@pytest.mark.parametrize(
    "name",
    [
        "P",
        "p",
        "x9",
        "Signed-By",
        "a~b-c_d",
        "P-",
        "P~",
        "_local",
        "_Local-Name~1",
        "X",
    ],
)
def test_predicate_names(name: str) -> None:
    assert rule(f"{name}(X) :- {name}(X).") == Rule(Atom(name, (X,)), (Atom(name, (X,)),))


@pytest.mark.parametrize(
    "name",
    [
        "notP",
        "not_P",
        "not-P",
        "not~",
        "not1",
        "Not",
        "trueP",
        "true-",
        "true_",
        "True",
        "CardinalityX",
        "Cardinality-",
        "Cardinality1",
        "cardinality",
    ],
)
def test_a_keyword_at_the_front_of_a_longer_word_is_part_of_a_name(name: str) -> None:
    assert rule(f"P(X) :- {name}(X).") == Rule(Atom("P", (X,)), (Atom(name, (X,)),))
    assert rule(f"P(X) :- not {name}(X).") == Rule(Atom("P", (X,)), (Negated(Atom(name, (X,))),))


@pytest.mark.parametrize("name", ["X", "P", "Name", "Name_2", "X_", "A1b2", "IntCompare", "Not"])
def test_variable_names(name: str) -> None:
    assert rule(f"P({name}) :- Q({name}).").head.terms == (Variable(name),)


def test_one_word_is_a_predicate_or_a_variable_by_where_it_stands() -> None:
    assert rule("X(X) :- X(X), X != X.") == Rule(Atom("X", (X,)), (Atom("X", (X,)), Unequal(X, X)))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("''", ""),
        ("'a b'", "a b"),
        (r"'\''", "'"),
        (r"'\\'", "\\"),
        (r"'\\\''", "\\'"),
        (r"'\'\\'", "'\\"),
        (r"'\\n'", "\\n"),
        ("'. # , not P(X) :- true.'", ". # , not P(X) :- true."),
        ("'\"'", '"'),
        ("'\t'", "\t"),
        ("'é漢🙂'", "é漢🙂"),
        ("'_'", "_"),
    ],
)
def test_constants(written: str, value: str) -> None:
    assert rule(f"P({written}) :- {written} != X, Q(X).") == Rule(
        Atom("P", (Constant(value),)), (Unequal(Constant(value), X), Atom("Q", (X,)))
    )


@pytest.mark.parametrize(
    "text",
    [
        "P(X):-Q(X,_),not R(X),X!='a',true,Cardinality(Q(X,Y),'<','2').",
        "P(X) :- Q(X,_), not R(X), X != 'a', true, Cardinality(Q(X,Y),'<','2').",
        "\tP ( X )\t:-\tQ ( X , _ ) , not\tR ( X ) , X  !=  'a' , true , "
        "Cardinality ( Q ( X , Y ) , '<' , '2' ) .  \t",
    ],
)
def test_white_space_is_free_between_tokens(text: str) -> None:
    assert rule(text) == rule(
        "P(X) :- Q(X,_), not R(X), X != 'a', true, Cardinality(Q(X,Y),'<','2')."
    )


@pytest.mark.parametrize("text", ["P(X) : - Q(X).", "P(X) :- X ! = Y.", "P (X) :- n ot Q(X)."])
def test_white_space_is_not_free_inside_a_token(text: str) -> None:
    assert parse_line(text).problems


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff"])
def test_other_space_characters_are_not_white_space(space: str) -> None:
    (problem,) = parse_line(f"P(X) :-{space}Q(X).").problems
    assert (problem.name, problem.span) == ("unexpected-character", (7, 8))
    assert rule(f"P('{space}') :- true.").head.terms == (Constant(space),)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("", Comment("")),
        (" \t ", Comment("")),
        ("#", Comment("#")),
        ("# text  ", Comment("# text")),
        (" \t# P(X) :- Q(X).", Comment("# P(X) :- Q(X).")),
        ("#:jsonx {}", Comment("#:jsonx {}")),
        ("# :json {}", Comment("# :json {}")),
        ("#:json {}", Annotation("#:json {}")),
        ("#:json{}", Annotation("#:json{}")),
        ("  #:json\t{} ", Annotation("#:json\t{}")),
        ("#:json", Annotation("#:json")),
    ],
)
def test_lines_that_are_not_rules(text: str, node: Line) -> None:
    assert parse_line(text) == (node, (), "")


def _spans(node: Rule) -> list[tuple[int, int]]:
    atoms = [node.head, *body_atoms(node)]
    loose: list[Term] = []
    for literal in node.body:
        if isinstance(literal, Unequal):
            loose += [literal.left, literal.right]
        elif isinstance(literal, Cardinality):
            loose += [literal.operator, literal.bound]
    terms = [term for atom in atoms for term in atom.terms] + loose
    return sorted(
        [atom.span for atom in atoms]
        + [atom.name_span for atom in atoms]
        + [term.span for term in terms]
    )


def test_spans_cover_the_text_of_their_nodes() -> None:
    text = " P( X ,'a\\'b') :- not  Q(_), X!='é', Cardinality( R (X), '<' ,N)."
    assert [text[start:end] for start, end in _spans(rule(text))] == [
        "P",
        "P( X ,'a\\'b')",
        "X",
        "'a\\'b'",
        "Q",
        "Q(_)",
        "_",
        "X",
        "'é'",
        "R",
        "R (X)",
        "X",
        "'<'",
        "N",
    ]


def test_spans_take_no_part_in_equality() -> None:
    close, wide = rule("P(X):-Q(X,'a',_)."), rule("P( X ) :- Q( X , 'a' , _ ).")
    assert close == wide
    assert hash(close) == hash(wide)
    assert _spans(close) != _spans(wide)


@examples(100)
@given(spaced_rules)
def test_the_span_of_an_atom_reads_as_that_atom(text: str) -> None:
    for atom in [(node := rule(text)).head, *body_atoms(node)]:
        start, end = atom.span
        assert rule(f"{text[start:end]} :- true.").head == atom
        for term in atom.terms:
            start, end = term.span
            assert rule(f"P({text[start:end]}) :- true.").head.terms == (term,)


@examples(100)
@given(st.data())
def test_a_rule_is_read_as_it_was_written(data: st.DataObject) -> None:
    written = data.draw(rules)
    assert rule(data.draw(spaced(written))) == written


signs = st.sampled_from("PXpx_'\\(),.:-!= \t#~0\"<>;&|%/é\u00a0")
anything = st.text(signs | st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"))


@examples(200)
@given(anything)
def test_a_line_is_read_or_has_a_problem(text: str) -> None:
    node, problems, canonical = parse_line(text)
    assert node is not None or problems
    assert bool(canonical) == isinstance(node, Rule)
    for problem in problems:
        assert 0 <= problem.span[0] <= problem.span[1] <= len(text)


@examples(60)
@given(st.lists(spaced_rules | anything, max_size=6))
def test_a_line_is_read_alike_whatever_stands_around_it(texts: list[str]) -> None:
    alone = [parse_line(text).node for text in texts]
    assert list(parsed("\n".join(["#", *texts])).nodes) == [Comment("#"), *alone]


def test_a_bad_line_hides_no_other() -> None:
    source = parsed(lines("A(X) :- Have(X).", "B(X :- ;", "C('open) :- true.", "D() :- true."))
    assert [r.text for r in source.rules] == ["A(X) :- Have(X).", "D() :- true."]
    assert {d.place.line for d in source.diagnostics} == {2, 3}


def test_a_rule_knows_its_line_and_its_canonical_text() -> None:
    source = parsed(lines("# one", "", "A(X):-Have( X )."))
    assert [(r.line, r.text, r.repaired) for r in source.rules] == [(3, "A(X) :- Have(X).", False)]


def test_a_rule_read_past_a_mistake_is_marked() -> None:
    source = parsed("A(X) :- Have(X)")
    assert [(r.text, r.repaired) for r in source.rules] == [("A(X) :- Have(X).", True)]


def test_equal_lines_share_their_nodes() -> None:
    first, second = parsed(lines("A(X) :- Have(X).", "A(X) :- Have(X).")).nodes
    assert first is second


@pytest.mark.parametrize("size", [CACHED_LINE - 100, CACHED_LINE + 100])
def test_a_line_read_again_gives_the_same_nodes_and_spans(size: int) -> None:
    text = f"A('{'x' * size}',X) :- Have(X), X != 'b'."
    first, again = rule(text), rule(text)
    assert first == again
    assert _spans(first) == _spans(again)


@examples(50)
@given(sources)
def test_sources_are_read_in_order(text: str) -> None:
    source = parsed(text)
    assert len(source.nodes) == text.count("\n") + 1
    assert [r.rule for r in source.rules] == [n for n in source.nodes if isinstance(n, Rule)]


def test_a_line_reports_no_more_than_a_few_problems() -> None:
    node, problems, _ = parse_line("P(X) :- " + "@" * 100 + " Q(X).")
    assert node is None
    assert len(problems) == MOST_PROBLEMS_PER_LINE


def test_a_line_that_is_not_text_is_left_to_the_check_of_encoding() -> None:
    source = parsed(b"A(X) :- Have(X).\nB('\xff') :- true.\nC() :- true.")
    assert [r.text for r in source.rules] == ["A(X) :- Have(X).", "C() :- true."]
    assert source.nodes[1] is None
    assert source.diagnostics == ()


def test_lines_are_cut_at_lf_alone() -> None:
    text = "A('\x0b\x0c\x1c\x85\u2028\u2029') :- true."
    assert parsed(text).source.lines == (text,)
    assert [r.line for r in parsed(f"{text}\n{text}").rules] == [1, 2]


def test_text_and_bytes_are_the_same_source() -> None:
    text = "A('é') :- true.\n# 漢"
    assert parsed(text) == parsed(text.encode())
    assert parsed(text).source.size == len(text.encode())


def test_the_limit_of_a_line_counts_bytes() -> None:
    ascii, accented = "A('ee') :- true.", "A('éé') :- true."
    source = parsed(lines(ascii, accented), Limits(line_bytes=len(ascii)))
    assert [r.text for r in source.rules] == [ascii]
    assert source.nodes[1] is None
