"""What `import lacec` offers: compile, diagnose and format, and the values they give and raise."""

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import lacec
from lacec import CompileError, Diagnostic, LacecError, Limits, Module, ModuleRule
from lacec.core.diagnostics import Place, quote
from lacec.core.facets import Facet
from lacec.core.predicates import Predicate
from lacec.syntax.ast import Rule
from tests.helpers import REST, lines

POLICY = lines(
    "# Links that nobody blocked.",
    '#:json {"label":"links"}',
    "Link(P) :- Have(P), not Blocked(P).",
    "Blocked('B.x.H3') :- true.",
)


# compile


def test_compile_gives_a_module() -> None:
    module = lacec.compile(POLICY, name="policy.lace")
    assert isinstance(module, Module)
    assert module.facet is Facet.PLAIN
    assert module.id.startswith("R.")
    assert module.canonical == lines(
        "Blocked('B.x.H3') :- true.", "Link(P) :- Have(P), not Blocked(P)."
    )
    assert module.strata == ((Predicate("Blocked", 1),), (Predicate("Link", 1),))
    assert module.diagnostics == ()
    assert {key: dict(value) for key, value in module.annotations.items()} == {
        module.rules[1].id: {"label": "links"}
    }


def test_a_module_lists_its_rules() -> None:
    blocked, link = lacec.compile(POLICY, name="policy.lace").rules
    assert isinstance(link, ModuleRule)
    assert (blocked.text, blocked.file, blocked.line) == (
        "Blocked('B.x.H3') :- true.",
        "policy.lace",
        4,
    )
    assert (link.line, dict(link.annotations)) == (3, {"label": "links"})
    assert link.id.startswith("U.")
    assert isinstance(link.node, Rule)
    assert link.node.head.predicate == Predicate("Link", 1)


def test_a_module_cannot_be_changed() -> None:
    module: Any = lacec.compile(POLICY)
    with pytest.raises(FrozenInstanceError):
        module.id = "R.other"


def test_text_and_bytes_compile_alike() -> None:
    text = "A('é') :- true."
    assert lacec.compile(text) == lacec.compile(text.encode())


def test_a_module_keeps_its_warnings() -> None:
    module = lacec.compile("A(P) :- Feild(P,_,_,_).")
    assert [(d.name, d.severity) for d in module.diagnostics] == [("misspelt-predicate", "warning")]


def test_linked_sources_are_joined() -> None:
    module = lacec.compile(
        "Link(P) :- Have(P), not Blocked(P).",
        name="a.lace",
        linked=[("b.lace", b"Blocked('x') :- true."), ("c.lace", "Blocked('x'):-true.")],
    )
    assert [(rule.file, rule.line) for rule in module.rules] == [("b.lace", 1), ("a.lace", 1)]
    assert module.id == lacec.compile(module.canonical).id


@pytest.mark.parametrize("facet", ["plain", "selector", "expose"])
def test_facets(facet: str) -> None:
    assert lacec.compile(f"A() :- true.{REST[facet]}", facet=facet).facet == facet


def test_a_facet_is_checked() -> None:
    with pytest.raises(CompileError, match="a selector must define `SelectHave/1`"):
        lacec.compile("A() :- true.", facet="selector")


def test_limits_can_be_set() -> None:
    source = "A() :- true.\nB() :- true."
    assert len(lacec.compile(source, limits=Limits(rules=2)).rules) == 2
    with pytest.raises(CompileError, match="the program has 2 rules, over the limit rules of 1"):
        lacec.compile(source, limits=Limits(rules=1))


def test_an_unknown_facet_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="'policy' is not a valid Facet"):
        lacec.compile("", facet="policy")


# CompileError


def test_a_compile_error_holds_every_diagnostic() -> None:
    with pytest.raises(CompileError) as caught:
        lacec.compile("A(X) :- Feild(Y)\nHave(X) :- Peer(X).", name="a.lace")
    assert [(d.name, d.severity, d.place.line) for d in caught.value.diagnostics] == [
        ("misspelt-predicate", "warning", 1),
        ("missing-full-stop", "error", 1),
        ("base-predicate", "error", 2),
    ]


def test_a_compile_error_reads_as_one_line_for_each_diagnostic() -> None:
    with pytest.raises(CompileError) as caught:
        lacec.compile("A(X) :- Have(X)\nB(X) :- true.", name="a.lace")
    assert str(caught.value) == lines(
        "a.lace:1:16: error[missing-full-stop]: this rule does not end with a full stop",
        "a.lace:2:3: error[unbound-variable]: "
        "`X` is in the head, but no positive atom of the body binds it",
    )


def test_a_compile_error_is_a_lacec_error_and_can_be_sent() -> None:
    with pytest.raises(LacecError) as caught:
        lacec.compile("A(X) :- true.")
    sent = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(sent, CompileError)
    assert str(sent) == str(caught.value)


def test_a_source_without_a_name() -> None:
    with pytest.raises(CompileError, match=r"^<text>:1:3: error\[unbound-variable\]"):
        lacec.compile("A(X) :- true.")


# Diagnostic


def test_a_diagnostic_as_json() -> None:
    (diagnostic,) = _diagnostics("A() :- not B().\nB() :- A().")
    assert isinstance(diagnostic, Diagnostic)
    assert diagnostic.place == Place("a.lace", 1, 12, 1, 15)
    edge = {"file": "a.lace", "line": 1, "column": 12, "end_line": 1, "end_column": 15}
    back = {"file": "a.lace", "line": 2, "column": 8, "end_line": 2, "end_column": 11}
    assert diagnostic.json() == {
        "name": "unstratified",
        "severity": "error",
        "message": "`A/0` depends on itself through a negated atom: A/0 -> B/0 -> A/0",
        **edge,
        "help": "`B/0` must be complete before it is negated: break the cycle in one rule",
        "related": [
            {"message": "`A/0` negates `B/0` here", **edge},
            {"message": "`B/0` uses `A/0` here", **back},
        ],
    }


def _diagnostics(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as caught:
        lacec.compile(text, name="a.lace")
    return caught.value.diagnostics


def test_columns_count_characters() -> None:
    (diagnostic,) = _diagnostics("A('é🙂',V) :- true.")
    assert (diagnostic.place.column, diagnostic.place.end_column) == (8, 9)


def test_text_of_a_source_cannot_steer_a_terminal_from_a_message() -> None:
    for text in ("A() :- IntCompare('\x1b[2J\u202e','<','1').", "#:json [\x1b]\nA() :- true."):
        for diagnostic in _diagnostics(text):
            assert diagnostic.message.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "`a b`"),
        ("é漢🙂", "`é漢🙂`"),
        ("\x00\t\x1b\x7f", "`␀␉␛␡`"),
        ("é\x1b\u202e\u200b", "`é␛\ufffd\ufffd`"),
        ("x" * 40, f"`{'x' * 40}`"),
        ("x" * 41, f"`{'x' * 39}…`"),
    ],
)
def test_source_text_in_messages_is_visible_and_short(text: str, shown: str) -> None:
    assert quote(text) == shown


# diagnose


def test_diagnose_gives_errors_and_warnings_in_order() -> None:
    outcome = lacec.diagnose("Have(X) :- Peer(X).\nA(P) :- Feild(P,_,_,_).", name="a.lace")
    assert [(d.name, d.severity, d.place.file, d.place.line) for d in outcome] == [
        ("base-predicate", "error", "a.lace", 1),
        ("misspelt-predicate", "warning", "a.lace", 2),
    ]


def test_diagnose_takes_what_compile_takes() -> None:
    assert lacec.diagnose(REST["selector"].encode(), facet="selector") == ()
    (found,) = lacec.diagnose(b"A() :- true." + REST["selector"].encode(), facet="selector")
    assert found.name == "unused-helper"
    assert lacec.diagnose("A() :- B().", linked=[("b", "B() :- true.")]) == ()
    (over,) = lacec.diagnose("A() :- true.\nB() :- true.", limits=Limits(rules=1))
    assert over.name == "too-many-rules"
    with pytest.raises(ValueError, match="'policy' is not a valid Facet"):
        lacec.diagnose("", facet="policy")


def test_diagnose_says_what_compile_raises() -> None:
    text = "A(X) :- Feild(Y)\nHave(X) :- Peer(X)."
    with pytest.raises(CompileError) as caught:
        lacec.compile(text)
    assert lacec.diagnose(text) == caught.value.diagnostics


def test_the_functions_are_not_hidden_by_modules_of_their_name() -> None:
    """Importing a submodule sets its name on the package."""
    program = (
        "import lacec, lacec.pipeline, lacec.cli\n"
        "print(callable(lacec.compile), callable(lacec.diagnose), callable(lacec.format))"
    )
    assert _run(program) == "True True True\n"


# format


def test_format() -> None:
    assert lacec.format("A( ):-true.") == "A() :- true.\n"
    assert lacec.format(b"A('\xc3\xa9'):-true.") == "A('é') :- true.\n"


def test_format_refuses_what_it_cannot_read() -> None:
    with pytest.raises(CompileError, match=r"^a.lace:1:12: error\[missing-full-stop\]"):
        lacec.format("A() :- true", name="a.lace")


# import


def _run(program: str) -> str:
    """What a program prints in a process of its own, where nothing is imported yet."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def _modules_after(statement: str) -> set[str]:
    return set(_run(f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')").split())


def test_import_is_light() -> None:
    loaded = _modules_after("import lacec")
    heavy = {"dataclasses", "inspect", "json", "blake3", "typer", "rich", "lark", "numpy"}
    assert loaded & heavy == set()
    assert {name for name in loaded if name.startswith("lacec")} == {"lacec"}


def test_compiling_needs_no_tools_of_other_parts() -> None:
    loaded = _modules_after("import lacec; lacec.compile('A() :- true.')")
    assert loaded & {"typer", "rich", "lark", "numpy"} == set()
    assert "blake3" in loaded


def test_every_public_name_can_be_imported() -> None:
    for name in lacec.__all__:
        assert getattr(lacec, name) is not None


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'lacec' has no attribute 'parse'"):
        lacec.parse  # noqa: B018


def test_derived_facts_cannot_be_given() -> None:
    """As on the command line (derived-fact): rules alone make them."""
    module = lacec.compile("Free(X) :- Known(X).")
    facts = {"Known": [("a",)], "Free": [("z",)]}
    with pytest.raises(lacec.FactError, match="Free/1 is derived by rules"):
        lacec.evaluate(module, facts)
    with pytest.raises(lacec.FactError, match="Free/1 is derived by rules"):
        lacec.why(module, facts, "Free('z')")
    other_arity = {"Known": [["a"]], "Free": [["y", "z"]]}
    assert lacec.evaluate(module, other_arity) == {"Free/1": [("a",)]}


def test_an_output_that_no_rule_derives() -> None:
    module = lacec.compile("Free(X) :- Known(X).")
    with pytest.raises(ValueError, match="no rule derives Known/1; derived are: Free/1"):
        lacec.evaluate(module, {"Known": [("a",)]}, outputs=["Known/1"])


def test_a_side_of_a_plan_is_0_or_1() -> None:
    selector = "SelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S)."
    plan = lacec.compile_plan(selector, selector)
    with pytest.raises(lacec.PlanError, match="0 or 1"):
        lacec.evaluate_plan(plan, 2, {})
