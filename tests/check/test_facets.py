"""What a module must define: a selector both exports (040), any module a rule (D6)."""

import pytest

from lacec.core.facets import Facet
from lacec.pipeline import check_sources
from tests.helpers import FACETS, REST, Found, cases, diagnose, found, lines, only

HAVE = "SelectHave(P) :- Have(P)."
ADVERTISED = "SelectAdvertised(P,S) :- Advertised(P,S)."
EXPOSE = "AllowQueryRecord(V,P) :- _Viewer(V), Have(P)."
BOTH_MISSING: Found = [("missing-export", 1, 1), ("missing-export", 1, 1)]


@cases(
    ("a selector with both exports", lines(HAVE, ADVERTISED), "selector", []),
    ("a selector without SelectAdvertised", HAVE, "selector", [("missing-export", 1, 1)]),
    ("a selector without SelectHave", ADVERTISED, "selector", [("missing-export", 1, 1)]),
    ("a selector with neither", "A() :- true.", "selector", BOTH_MISSING),
    (
        "exports of another arity",
        "SelectHave(P,Q) :- Advertised(P,Q).\nSelectAdvertised(P) :- Have(P).",
        "selector",
        BOTH_MISSING,
    ),
    (
        "exports in small letters",
        "selectHave(P) :- Have(P).\nselectAdvertised(P,S) :- Advertised(P,S).",
        "selector",
        BOTH_MISSING,
    ),
    ("an exposure module", EXPOSE, "expose", []),
    (
        "an exposure module that exposes nothing",
        "A() :- true.",
        "expose",
        [("exposes-nothing", 1, 1)],
    ),
    ("a plain lacegram needs no export", "A() :- true.", "plain", []),
    # empty sources
    ("nothing", "", "plain", [("empty-source", 1, 1)]),
    ("blank lines", "\n \t\n", "plain", [("empty-source", 1, 1)]),
    ("comments only", "# one\n# two", "plain", [("empty-source", 1, 1)]),
    ("an empty selector", "", "selector", [("empty-source", 1, 1), *BOTH_MISSING]),
    ("an empty exposure module", "", "expose", [("empty-source", 1, 1), ("exposes-nothing", 1, 1)]),
    ("one rule", "A() :- true.", "plain", []),
    # what may be on a line that could not be read
    (
        "a line that could not be read",
        "SelectHave('open :- true.",
        "selector",
        [("unterminated-constant", 1, 12)],
    ),
    (
        "an export on a repaired line",
        f"{HAVE}\nSelectAdvertised(P,S) :- Advertised(P,S)",
        "selector",
        [("missing-full-stop", 2, 41)],
    ),
)
def test_facets(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected


@pytest.mark.parametrize("facet", FACETS)
def test_an_empty_source_is_valid_where_nothing_must_be_defined(facet: str) -> None:
    severities = {d.name: d.severity for d in diagnose("# nothing" + REST[facet], facet)}
    assert severities == ({"empty-source": "warning"} if facet == "plain" else {})


def test_the_message_names_the_export_and_the_help_says_what_it_means() -> None:
    diagnostic = only(HAVE, "selector")
    assert diagnostic.message == "a selector must define `SelectAdvertised/2`"
    assert diagnostic.help == "SelectAdvertised(P,S): P, offered by S, is selected"


def test_the_help_points_to_another_arity() -> None:
    diagnostic = only(lines(HAVE, "SelectAdvertised(P) :- Advertised(P,_)."), "selector")
    assert str(diagnostic.help).endswith("; here `SelectAdvertised` has 1 argument")


def test_the_help_points_to_a_near_miss() -> None:
    diagnostic = only(lines(HAVE, "SelectAdvertized(P,S) :- Advertised(P,S)."), "selector")
    assert str(diagnostic.help).endswith("; did you mean it by `SelectAdvertized`?")


def test_exports_may_come_from_a_linked_source() -> None:
    assert check_sources([("a", HAVE), ("b", ADVERTISED)], Facet.SELECTOR) == ()


def test_each_empty_source_is_reported() -> None:
    outcome = check_sources([("a", ""), ("b", HAVE), ("c", "#")])
    assert [(d.name, d.place.file) for d in outcome] == [
        ("empty-source", "a"),
        ("empty-source", "c"),
    ]
