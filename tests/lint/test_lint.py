"""The lints together: each is complete, each costs little, and their fixes keep what is meant."""

import importlib
import time
from pathlib import Path

import pytest
from hypothesis import given

import lacec.lint.rules
from lacec.core.diagnostics import CATALOGUE
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import Predicate
from lacec.core.resources import rule_page_path, source_path, stdlib_names, stdlib_path
from lacec.lint import OF_A_MODULE, OF_A_RULE, lint
from lacec.lint.fixes import apply_fixes
from lacec.lint.rules.unused_suppression import lint_suppressions
from lacec.pipeline import Compilation, link_sources, lint_sources, parse_sources
from lacec.project.settings import settings_for
from tests import slow
from tests.bench.language import policy
from tests.helpers import FILE, examples, linted, lints, rule
from tests.strategies import sources
from tests.vm.strategies import FIELD, Sample, samples

ROOT = Path(__file__).parents[2]
RULES = sorted(
    {path.stem for path in Path(lacec.lint.rules.__path__[0]).glob("*.py")} - {"__init__"}
)


# Each rule is whole.


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_a_name_a_page_and_a_test(name: str) -> None:
    kebab = name.replace("_", "-")
    assert CATALOGUE[kebab] != "error"
    page = rule_page_path(kebab).read_text(encoding="utf-8")
    assert page.partition("\n## Fix\n\n")[2].strip()
    assert (ROOT / "tests" / "lint" / "rules" / f"test_{name}.py").is_file()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_run(name: str) -> None:
    module = importlib.import_module(f"lacec.lint.rules.{name}")
    own = {"lint_rule", "lint_module", "lint_suppressions"} & vars(module).keys()
    assert own
    run = {*OF_A_RULE, *OF_A_MODULE, lint_suppressions}
    assert {getattr(module, function) for function in own} <= run


def test_every_lint_of_the_catalogue_is_a_rule() -> None:
    """Warnings of checks have a check of their own; what is left are lints."""
    listed = list(CATALOGUE)[list(CATALOGUE).index("undefined-predicate") :]
    assert sorted(listed) == [name.replace("_", "-") for name in RULES]


# What is ours has none.

BROKEN_ON_PURPOSE = {"broken.lace"}
OURS = [
    *sorted(p for p in (ROOT / "examples").rglob("*.lace") if p.name not in BROKEN_ON_PURPOSE),
    *(stdlib_path(name) for name in stdlib_names()),
]


@pytest.mark.parametrize("path", OURS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_examples_and_the_standard_library_are_clean(path: Path) -> None:
    settings = settings_for(path)
    linked = [(name, source_path(name).read_bytes()) for name in settings.linked]
    inputs = [(path.name, path.read_bytes()), *linked]
    facet = settings.facet or Facet.PLAIN
    assert lint_sources(inputs, facet, DEFAULT_LIMITS, settings.context) == ()


# What holds for all of them.


@examples(150)
@given(sources)
def test_lints_never_fail_and_stay_within_the_source(text: str) -> None:
    lines = text.split("\n")
    for found in linted(text):
        assert found.place.file == FILE
        assert 1 <= found.place.column < found.place.end_column
        assert found.place.end_column <= len(lines[found.place.line - 1]) + 2


def test_a_line_with_an_error_draws_no_lint() -> None:
    assert lints("A(P,V) :- Field(P,'Name',_,K).") == [("unbound-variable", 1, 5)]


def test_a_rule_read_past_a_mistake_draws_no_lint() -> None:
    assert lints("A(P) :- Field(P,'Name',_,K), true") == [("missing-full-stop", 1, 34)]


def test_a_half_typed_line_does_not_break_the_rest() -> None:
    text = "A(P) :- Field(P,'Name',_,K).\nB(P) :- Field(P,"
    assert ("singleton-variable", 1, 26) in lints(text)


def test_equal_lines_are_told_at_each_place() -> None:
    found = lints("A(P) :- PlexHash(P,H).\n\nA(P) :- PlexHash(P,H).")
    assert found == [
        ("singleton-variable", 1, 20),
        ("duplicate-rule", 3, 1),
        ("singleton-variable", 3, 20),
    ]


def evaluated(text: str, sample: Sample) -> dict[Predicate, set[slow.Row]]:
    rules = [rule(line) for line in text.split("\n") if line]
    derived = slow.evaluate(rules, sample.facts).facts
    return {predicate: derived.get(predicate, set()) for predicate in sample.derived}


@examples(80)
@given(samples())
def test_fixes_that_keep_the_meaning_keep_it(sample: Sample) -> None:
    fixes = [d.fix for d in linted(sample.text) if d.fix and d.fix.keeps_meaning]
    text, made = apply_fixes(sample.text, fixes)
    assert (text != sample.text) == (made > 0)
    assert evaluated(text, sample) == evaluated(sample.text, sample)


@examples(80)
@given(samples())
def test_what_is_said_to_be_needless_is(sample: Sample) -> None:
    """Rules that never fire, and rules that others make needless, can be left out."""
    lines = sample.text.split("\n")
    # A record has each of its own fields once, at index 0 (020).
    once = {(row[0], row[1]): row for row in sample.facts[FIELD]}
    fields: list[slow.Row] = [(row[0], row[1], "0", row[3]) for row in once.values()]
    sample = Sample(sample.rules, {**sample.facts, FIELD: fields})
    for name in ("never-fires", "duplicate-rule", "subsumed-rule"):
        for found in linted(sample.text):
            if found.name == name:
                rest = lines[: found.place.line - 1] + lines[found.place.line :]
                assert evaluated("\n".join(rest), sample) == evaluated(sample.text, sample)


def test_a_large_module_is_linted_in_a_moment() -> None:
    """The lints of a line are kept: what is not changed is not looked at again."""
    work = Compilation((("bench", policy(4096)),), Facet.PLAIN, DEFAULT_LIMITS)
    program = link_sources(parse_sources(work)).program
    assert program is not None
    list(lint(program, ()))
    start = time.process_time()
    found = list(lint(program, ()))
    assert time.process_time() - start < 1  # some tens of milliseconds where nothing else runs
    assert found == []


@pytest.mark.parametrize(
    "body",
    [
        ", ".join(f"Have(P{n})" for n in range(5_000)),
        ", ".join(["Have(P)", *(f"not Have(P{n})" for n in range(5_000))]),
        ", ".join(f"PlexHash(P{n},P{n + 1})" for n in range(5_000)),
        ", ".join(f"P{n} != P{n + 1}" for n in range(5_000)),
        f"Cardinality(Q({','.join(f'X{n}' for n in range(5_000))}),'<','1')",
        ", ".join("true" for _ in range(5_000)),
    ],
    ids=["positive", "negated", "chained", "tests", "counted", "true"],
)
def test_a_hostile_rule_takes_no_time_squared(body: str) -> None:
    start = time.process_time()
    linted(f"A() :- {body}.\nA() :- {body}, Peer(_).\nB() :- Cardinality(A(),'<','1').")
    assert time.process_time() - start < 8


def test_more_rules_than_allowed_draw_no_lints() -> None:
    rules = "".join(f"A('{n}') :- Field(_,_,_,X).\n" for n in range(4097))
    assert {name for name, _, _ in lints(rules)} == {"too-many-rules"}
