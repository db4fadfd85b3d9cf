"""030, the Datalog profile: its examples by name, and one test for each of its rules of language.

Rules about evaluation are not tested here.
"""

import pytest

import lacec
from lacec.core.diagnostics import has_errors
from lacec.core.errors import CompileError
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.pipeline import check_sources, compile_sources
from lacec.syntax.parse import parse_line
from tests.helpers import REST, Found, compiled, errors, found, lines, names

# The valid examples, as 030 writes them.

LINKS = (
    "Selected(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'App',_,'ding'), "
    "Field(P,'Name',_,K), TextShape(K,'links/','','')."
)
VALID = {
    "a fact-like rule": "KnownVerifier('V.example.H3') :- true.",
    "links of a group": LINKS,
    "support closure": "Support(Target) :- Have(P), RecordLink(P,'+Link',_,'evidence',Target).",
    "the latest 100": lines(
        "Before(P,Q) :- Candidate(P,T), Candidate(Q,T), LexCompare(Q,'>',P).",
        "Before(P,Q) :- Candidate(P,TP), Candidate(Q,TQ), LexCompare(TQ,'>',TP).",
        "Candidate(P,T) :- Have(P), Field(P,'Group',_,'u'), Field(P,'App',_,'ding'), "
        "Field(P,'Name',_,K), TextShape(K,'links/','',''), Field(P,'TAI',_,T).",
        "Selected(P) :- Candidate(P,T), Cardinality(Before(P,Q),'<','100').",
    ),
    "one path segment": (
        "Selected(P) :- Have(P), Field(P,'Name',_,K), TextShape(K,'links/','./','msg')."
    ),
    "blocked signers": lines(
        "Blocked(V) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked'), "
        "Field(P,'Name',_,V).",
        "Selected(P) :- Have(P), Field(P,'Signed-By',_,V), not Blocked(V).",
    ),
}


@pytest.mark.parametrize("name", VALID)
def test_valid_example(name: str) -> None:
    """It compiles without a word, and is written in canonical form."""
    assert names(VALID[name]) == []
    assert compiled(VALID[name]).canonical == VALID[name]


@pytest.mark.parametrize(
    "atom",
    [
        "TextShape(K,'links/','','')",
        "TextShape(K,'','','.json')",
        "TextShape(K,'links/','','.md')",
    ],
    ids=["prefix test", "suffix test", "prefix and suffix test"],
)
def test_valid_text_shape(atom: str) -> None:
    assert names(f"Selected(P) :- Have(P), Field(P,'Name',_,K), {atom}.") == []


@pytest.mark.parametrize("atom", ["TransportEncrypted()", "not TransportEncrypted()"])
def test_zero_arity_is_written_with_empty_parentheses(atom: str) -> None:
    assert names(f"Secure() :- {atom}.") == []


def test_annotated_source() -> None:
    """The two kinds of comment line of 030, the annotation kept by rule identifier."""
    module = compiled(
        lines(
            "# human-only comment",
            '#:json {"label":"member proof","tags":["evidence"],'
            '"why":"Authority-signed member records admit content."}',
            LINKS,
        )
    )
    assert module.canonical == LINKS
    assert {key: dict(value) for key, value in module.annotations.items()} == {
        module.rules[0].id: {
            "label": "member proof",
            "tags": ["evidence"],
            "why": "Authority-signed member records admit content.",
        }
    }


# The invalid examples.

INVALID: dict[str, tuple[str, Found]] = {
    "unbound V in the head": (
        "Selected(P,V) :- Field(P,'Group',_,'u').",
        [("unbound-variable", 1, 12)],
    ),
    "anonymous _ in a rule head": ("Selected(_) :- Have(P).", [("anonymous-in-head", 1, 10)]),
    "anonymous _ in a builtin": (
        "Selected(P) :- Have(P), TextShape(_,'links/','','').",
        [("anonymous-in-builtin", 1, 35)],
    ),
    "_Name in term position": (
        "Selected(P) :- Have(P), Field(P,'Group',_Name,'u').",
        [("underscore-variable", 1, 41)],
    ),
    "a record fact predicate is shadowed": (
        "Have(P) :- true.",
        [("base-predicate", 1, 1), ("unbound-variable", 1, 6)],
    ),
    "unstratified by negation": (
        "A(P) :- Have(P), not B(P).\nB(P) :- Have(P), not A(P).",
        [("unstratified", 1, 22)],
    ),
    "unstratified by negation, as 030 writes it": (
        "A(P) :- not B(P).\nB(P) :- not A(P).",
        [("unbound-variable", 1, 3), ("unstratified", 1, 13), ("unbound-variable", 2, 3)],
    ),
    "unstratified by cardinality": (
        "A(P) :- Candidate(P), Cardinality(A(Q),'<','100').",
        [("unstratified", 1, 35)],
    ),
    "the removed builtin Prefix": (
        "Selected(P) :- Have(P), Field(P,'Name',_,K), Prefix(K,'links/').",
        [("removed-builtin", 1, 46)],
    ),
    "equality": (
        "Selected(X) :- Have(X), Have(Y), X = Y.",
        [("equality-atom", 1, 36)],
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_example(name: str) -> None:
    source, expected = INVALID[name]
    assert found(source) == expected
    assert compile_sources([("a", source)]).module is None


def test_comments_are_valid_before_canonicalization_only() -> None:
    module = compiled(f'# text\n#:json {{"a":1}}\n{LINKS}')
    assert "#" not in module.canonical


# Syntax, sentence by sentence.


def test_a_lacegram_is_utf8_nfc_text() -> None:
    """Anything else is refused."""
    assert errors(b"A('\xff') :- true.") == ["not-utf8"]
    assert errors("A('e\u0301') :- true.") == ["not-nfc"]


def test_each_line_that_is_not_empty_is_one_rule() -> None:
    """Two rules on a line, and a rule on two lines, are refused."""
    assert errors("A() :- true. B() :- true.") == ["trailing-text"]
    assert errors("A() :-\ntrue.") == ["split-rule", "bad-head"]


@pytest.mark.parametrize("name", ["A", "a", "Signed-By", "x~1_2-3"])
def test_public_predicate_names(name: str) -> None:
    """A letter, then letters, digits, `_`, `~` and `-`."""
    assert names(f"{name}() :- true.") == []


@pytest.mark.parametrize("name", ["1A", "-A", "~A", "é", "A.b", "A b", "A'"])
def test_other_predicate_names_are_refused(name: str) -> None:
    assert errors(f"{name}() :- true.")


@pytest.mark.parametrize("name", ["_A", "_a", "_a-b~c_d"])
def test_underscore_predicate_names(name: str) -> None:
    """`_` and a public name."""
    assert names(f"{name}() :- true.") == []


@pytest.mark.parametrize("name", ["_", "__", "__A", "_1", "_-"])
def test_other_underscore_names_are_refused(name: str) -> None:
    assert errors(f"{name}() :- true.")


@pytest.mark.parametrize("name", ["X", "Xy", "X1", "X_y_"])
def test_named_variables(name: str) -> None:
    """A capital, then letters, digits and `_`."""
    assert names(f"A({name}) :- Have({name}).") == []


@pytest.mark.parametrize("name", ["x", "X-y", "X~", "_X", "__", "1X", "É"])
def test_other_words_are_no_variables(name: str) -> None:
    assert errors(f"A('a') :- Have({name}).")


def test_each_anonymous_term_is_independent_and_binds_nothing() -> None:
    """`_` never gives a value to a head."""
    assert names("A(P) :- Field(P,_,_,_).") == []
    assert errors("A(P) :- Have(_).") == ["unbound-variable"]


def test_constants_must_not_contain_lf_or_cr() -> None:
    """The line ends before the quote does; CR is refused by itself."""
    assert errors("A('a\nb') :- true.") == ["unterminated-constant", "unterminated-constant"]
    assert errors("A('a\rb') :- true.") == ["carriage-return"]


def test_the_two_escapes_of_a_constant() -> None:
    r"""`\\` is a backslash, `\'` a quote, and there is no other."""
    assert names(r"A('\\\'') :- true.") == []
    assert errors(r"A('\n') :- true.") == ["bad-escape"]


@pytest.mark.parametrize(
    "atom",
    [
        "B(X,'a',_)",
        "B()",
        "not B(X,'a',_)",
        "not B()",
        "X != Y",
        "IntCompare(X,'<',Y)",
        "LexCompare(X,'<',Y)",
        "TextShape(X,Y,'/',X)",
        "Cardinality(B(X),'<','1')",
        "Cardinality(B(),'<','1')",
        "true",
    ],
)
def test_valid_body_atoms(atom: str) -> None:
    """Each form of the table."""
    assert errors(f"A(X) :- Have(X), Have(Y), {atom}.") == []


# Each MUST and MUST NOT that concerns the language.


def test_must_reject_a_value_that_is_not_utf8_nfc() -> None:
    """A value of a lacegram is a constant: one that is not UTF-8, or not NFC, is refused."""
    assert errors(b"A('\xc3') :- true.") == ["not-utf8"]
    assert errors("A('\u212b') :- true.") == ["not-nfc"]


def test_must_reject_a_value_or_tuple_over_the_limits() -> None:
    """A constant with too many bytes, an atom with too many arguments."""
    assert errors(f"A('{'x' * 1025}') :- true.") == ["constant-too-long"]
    assert errors(f"A({','.join(['X'] * 9)}) :- Have(X).") == ["too-many-arguments"]


def test_anonymous_must_not_appear_in_a_head() -> None:
    """`_` has no value that a fact could hold."""
    assert errors("A(_) :- Have(_).") == ["anonymous-in-head"]


TESTED = ["{} != 'a'", "IntCompare({},'<','1')", "LexCompare({},'<','a')", "TextShape({},'','','')"]


@pytest.mark.parametrize("test", TESTED)
def test_tested_variables_must_appear_in_a_positive_atom(test: str) -> None:
    """Not in a negated atom, not in a counted one, not in another test."""
    atom = test.format("V")
    assert errors(f"A() :- Have(V), {atom}.") == []
    assert errors(f"A() :- {atom}.") == ["unbound-variable"]
    assert errors(f"A() :- Cardinality(Have(V),'<','1'), {atom}.") == ["unbound-variable"]
    assert errors(f"A() :- {atom}, V != 'b'.") == ["unbound-variable"]
    assert errors(f"A() :- {atom}, not Have(V).") == ["unbound-variable"]


@pytest.mark.parametrize("test", TESTED)
def test_anonymous_must_not_appear_in_a_test(test: str) -> None:
    """A test looks at a value, and `_` has none."""
    assert errors(f"A() :- {test.format('_')}.") == ["anonymous-in-builtin"]


def test_a_variable_inside_and_outside_a_cardinality_must_be_safe_outside() -> None:
    """Counting binds nothing; a variable that is only counted is local."""
    assert errors("A() :- Cardinality(B(V),'<','1').") == []
    assert errors("A(V) :- Have(V), Cardinality(B(V),'<','1').") == []
    assert errors("A(V) :- Cardinality(B(V),'<','1').") == ["unbound-variable"]
    assert errors("A() :- Cardinality(B(V),'<','1'), not C(V).") == ["unbound-variable"]


def test_anonymous_may_appear_in_positive_negated_and_counted_atoms() -> None:
    """There it matches anything."""
    assert errors("A() :- Have(_), not Peer(_), Cardinality(Have(_),'<','1').") == []


def test_builtins_do_not_bind() -> None:
    """`true` and every test leave a variable of the head unbound."""
    for atom in ("true", *TESTED, "Cardinality(Have({}),'<','1')"):
        assert errors(f"A(V) :- {atom.format('V')}.") == ["unbound-variable"]


@pytest.mark.parametrize(
    "predicate",
    ["Have(P)", "Field(P,P,P,P)", "RecordLink(P,P,P,P,P)", "BlobHash(P,P)", "PlexHash(P,P)"],
)
def test_a_derived_predicate_must_not_be_a_base_predicate(predicate: str) -> None:
    """The five record facts are reserved, by name and arity."""
    assert errors(f"{predicate} :- Peer(P).") == ["base-predicate"]
    assert errors(predicate.replace("P)", "P,P,P,P)") + " :- Peer(P).") == []


@pytest.mark.parametrize("facet", ["selector", "expose"])
@pytest.mark.parametrize("head", ["MaySend(P)", "MayRequest(P)", "CanQueryRecord(P,P)", "o0_A(P)"])
def test_must_not_define_a_reserved_predicate(head: str, facet: str) -> None:
    """What the exchange profile generates is not for the modules it is generated from."""
    assert errors(f"{head} :- Have(P).{REST[facet]}", facet) == ["reserved-name"]


def test_shared_selectors_must_not_expose_underscore_predicates() -> None:
    """A selector neither defines nor reads a name with `_` in front."""
    assert errors(f"_a() :- true.{REST['selector']}", "selector") == ["reserved-name"]
    assert errors(f"A() :- _a().{REST['selector']}", "selector") == ["closed-selector"]


def test_must_be_stratified_through_negation() -> None:
    """No predicate depends on itself through a negated atom, however long the way."""
    assert errors("A() :- not B().\nB() :- C().\nC() :- A().") == ["unstratified"]
    assert errors("A() :- B().\nB() :- C().\nC() :- A().") == []


def test_must_be_stratified_through_cardinality() -> None:
    """Nor through a counted one."""
    assert errors("A() :- Cardinality(B(),'<','1').\nB() :- A().") == ["unstratified"]


def test_the_counted_predicate_is_in_a_lower_stratum() -> None:
    """And so is the negated one."""
    module = compiled(
        "A() :- Cardinality(B(_),'<','1').\nB(P) :- Have(P), not C(P).\nC('a') :- true."
    )
    assert module.strata == ((Predicate("C", 1),), (Predicate("B", 1),), (Predicate("A", 0),))


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_op_is_one_of_four(operator: str) -> None:
    """For both comparisons and for Cardinality."""
    for atom in (
        "IntCompare('1','{}','2')",
        "LexCompare('1','{}','2')",
        "Cardinality(B(),'{}','2')",
    ):
        assert errors(f"A() :- {atom.format(operator)}.") == []
        assert errors(f"A() :- {atom.format(operator + '!')}.") == ["bad-operator"]


def test_delims_must_be_a_quoted_constant() -> None:
    """Not even a variable that is bound."""
    assert errors("A() :- Have(D), TextShape('a','b',D,'c').") == ["delims-not-constant"]


EQUALITY = "A(X) :- Have(X), Have(Y), X = Y."


def test_parsers_must_reject_equality() -> None:
    """The line has a problem, whatever it is read as."""
    assert [problem.name for problem in parse_line(EQUALITY).problems] == ["equality-atom"]


def test_canonicalizers_must_reject_equality() -> None:
    """There is no module."""
    with pytest.raises(CompileError):
        lacec.compile(EQUALITY)


def test_annotated_source_readers_must_reject_equality() -> None:
    """Neither checking nor formatting lets it pass."""
    assert has_errors(check_sources([("a", "#:json {}\n" + EQUALITY)], Facet.PLAIN))
    with pytest.raises(CompileError):
        lacec.format(EQUALITY)


@pytest.mark.parametrize("facet", list(Facet))
def test_resource_validators_must_reject_equality(facet: Facet) -> None:
    """In no kind of module is it accepted."""
    assert "equality-atom" in errors(EQUALITY + REST[facet], facet)


@pytest.mark.parametrize("atom", ["X = Y", "X='a'", "'a' = 'a'", "X == Y", "_ = X"])
def test_must_not_normalize_equality_into_canonical_text(atom: str) -> None:
    """No form of it leaves a module behind."""
    outcome = compile_sources([("a", f"A(X) :- Have(X), Have(Y), {atom}.")])
    assert outcome.module is None
    assert "equality-atom" in [d.name for d in outcome.diagnostics]


def test_inequality_remains() -> None:
    """`!=` is a test like the others."""
    assert errors("A(X) :- Have(X), Have(Y), X != Y.") == []


def test_lacegrams_identified_by_hash_must_use_canonical_text() -> None:
    """One identity for every way to write the same rules."""
    one = compiled("B(X):-Have(X).\n# c\nA( ) :- true.\n")
    two = compiled("A() :- true.\nB(X) :- Have(X).")
    assert (one.id, one.canonical) == (two.id, two.canonical)
    assert one.canonical == "A() :- true.\nB(X) :- Have(X)."


def test_lacegram_identifiers_must_not_be_used_as_record_identifiers() -> None:
    """Their letter is `R`, a rule's is `U`, and neither has the suffix of a record hash."""
    module = compiled(LINKS)
    letter, payload = module.id.split(".")
    assert (letter, len(payload)) == ("R", 43)
    assert [rule.id.split(".")[0] for rule in module.rules] == ["U"]


def test_annotations_must_not_change_identifiers() -> None:
    """They are metadata of a rule."""
    assert compiled(f'#:json {{"a":1}}\n{LINKS}').id == compiled(LINKS).id


def test_must_enforce_configurable_limits() -> None:
    """Each limit of the language can be set, and holds."""
    assert errors("A() :- true.\nB() :- true.", limits=Limits(rules=1)) == ["too-many-rules"]
    assert errors("A(X,X) :- Have(X).", limits=Limits(arity=1)) == ["too-many-arguments"]
    assert errors("A('ab') :- true.", limits=Limits(value_bytes=1)) == ["constant-too-long"]


def test_default_limits_must_be_at_least_those_of_the_table() -> None:
    """256 rules, arity 8, values of 1024 bytes."""
    assert DEFAULT_LIMITS.rules >= 256
    assert DEFAULT_LIMITS.selector_rules >= 256
    assert DEFAULT_LIMITS.arity >= 8
    assert DEFAULT_LIMITS.value_bytes >= 1024
    rules = [f"A('{n}{'x' * (1024 - len(str(n)))}') :- true." for n in range(256)]
    assert errors(lines(*rules)) == []
    assert errors(f"A({','.join(['X'] * 8)}) :- Have(X).") == []


def test_must_stop_with_an_error_rather_than_exceed_a_limit() -> None:
    """Over a limit there is no module."""
    assert (
        compile_sources([("a", "A() :- true.\nB() :- true.")], limits=Limits(rules=1)).module
        is None
    )
