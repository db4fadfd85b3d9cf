"""Which names a module may define and read (030 Shadowing, D11), for every facet."""

import pytest

from tests.helpers import FACETS, REST, Found, cases, errors, found, only

OK: Found = []
BASE: Found = [("base-predicate", 1, 1)]
RESERVED: Found = [("reserved-name", 1, 1)]

# A predicate by its arguments, and what a rule that defines it draws in each facet.
DEFINED: dict[str, tuple[Found, Found, Found]] = {
    # base predicates: nobody
    "Have('a')": (BASE, BASE, BASE),
    "Field('a','b','c','d')": (BASE, BASE, BASE),
    "RecordLink('a','b','c','d','e')": (BASE, BASE, BASE),
    "BlobHash('a','b')": (BASE, BASE, BASE),
    "PlexHash('a','b')": (BASE, BASE, BASE),
    "Here('a')": (BASE, BASE, BASE),
    "Peer('a')": (BASE, BASE, BASE),
    "Transport('a')": (BASE, BASE, BASE),
    "TransportEncrypted()": (BASE, BASE, BASE),
    "StartTAI('a')": (BASE, BASE, BASE),
    "TickTAI('a')": (BASE, BASE, BASE),
    "ClockSkewSeconds('a')": (BASE, BASE, BASE),
    "Advertised('a','b')": (BASE, BASE, BASE),
    "AdvertisedField('a','b','c','d','e')": (BASE, BASE, BASE),
    "_Viewer('a')": (BASE, BASE, BASE),
    # generated prefixes: nobody
    "o0_X('a')": (RESERVED, RESERVED, RESERVED),
    "o1_X('a')": (RESERVED, RESERVED, RESERVED),
    "o0_()": (RESERVED, RESERVED, RESERVED),
    "m0_X('a')": (RESERVED, RESERVED, RESERVED),
    "m1_X('a')": (RESERVED, RESERVED, RESERVED),
    "m12_X('a')": (RESERVED, RESERVED, RESERVED),
    # what lowering generates: plain lacegrams only
    "MaySend('a')": (OK, RESERVED, RESERVED),
    "MayRequest('a')": (OK, RESERVED, RESERVED),
    "CanQueryRecord('a','b')": (OK, RESERVED, RESERVED),
    # names that a selector leaves alone
    "Merged('a')": (OK, RESERVED, OK),
    "MergedSelectHave('a')": (OK, RESERVED, OK),
    "Allow('a')": (OK, RESERVED, OK),
    "AllowQueryRecord('a','b')": (OK, RESERVED, OK),
    "AllowAnything('a')": (OK, RESERVED, OK),
    "_local('a')": (OK, RESERVED, OK),
    "_Local()": (OK, RESERVED, OK),
    # exports
    "SelectHave('a')": (OK, OK, OK),
    "SelectAdvertised('a','b')": (OK, OK, OK),
    # arity tells predicates apart
    "Have('a','b')": (OK, OK, OK),
    "Have()": (OK, OK, OK),
    "Field('a')": (OK, OK, OK),
    "TransportEncrypted('a')": (OK, OK, OK),
    "_Viewer('a','b')": (OK, RESERVED, OK),
    "MaySend('a','b')": (OK, OK, OK),
    "MayRequest()": (OK, OK, OK),
    "CanQueryRecord('a')": (OK, OK, OK),
    # near to reserved names, and free
    "o2_X('a')": (OK, OK, OK),
    "o0X('a')": (OK, OK, OK),
    "O0_X('a')": (OK, OK, OK),
    "m_X('a')": (OK, OK, OK),
    "mx_X('a')": (OK, OK, OK),
    "Xo0_('a')": (OK, OK, OK),
    "allow('a')": (OK, OK, OK),
    "merged('a')": (OK, OK, OK),
    "NotAllow('a')": (OK, OK, OK),
    "have('a')": (OK, OK, OK),
}


@pytest.mark.parametrize("facet", FACETS)
@pytest.mark.parametrize("head", DEFINED)
def test_defining(head: str, facet: str) -> None:
    assert found(f"{head} :- true.{REST[facet]}", facet) == DEFINED[head][FACETS.index(facet)]


# A predicate by its arguments, and whether a selector may read it; other facets may read all.
READ: dict[str, bool] = {
    "CanQueryRecord(_,_)": False,
    "AllowQueryRecord(_,_)": False,
    "MaySend(_)": False,
    "MayRequest(_)": False,
    "_Viewer(_)": False,
    "_local(_)": False,
    "_Local()": False,
    "Merged(_)": False,
    "MergedSelectHave(_)": False,
    "o0_SelectHave(_)": False,
    "o1_X()": False,
    "m1_X(_)": False,
    "Have(_)": True,
    "Field(_,_,_,_)": True,
    "RecordLink(_,_,_,_,_)": True,
    "BlobHash(_,_)": True,
    "PlexHash(_,_)": True,
    "Here(_)": True,
    "Peer(_)": True,
    "Transport(_)": True,
    "TransportEncrypted()": True,
    "StartTAI(_)": True,
    "TickTAI(_)": True,
    "ClockSkewSeconds(_)": True,
    "Advertised(_,_)": True,
    "AdvertisedField(_,_,_,_,_)": True,
    "SelectHave(_)": True,
    "SelectAdvertised(_,_)": True,
    "Own(_)": True,
    "CanQueryRecord(_)": True,
    "AllowQueryRecord(_)": True,
    "AllowOther(_)": True,
    "MaySend(_,_)": True,
    "o2_X(_)": True,
}
FORMS = {
    "positive": ("A() :- {}.", 8),
    "negated": ("A() :- not {}.", 12),
    "counted": ("A() :- Cardinality({},'<','1').", 20),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("atom", READ)
def test_a_selector_is_closed(atom: str, form: str) -> None:
    text, column = FORMS[form]
    expected: Found = [] if READ[atom] else [("closed-selector", 1, column)]
    assert found(text.format(atom) + REST["selector"], "selector") == expected


@pytest.mark.parametrize("facet", ["plain", "expose"])
@pytest.mark.parametrize("atom", READ)
def test_other_modules_may_read_every_name(atom: str, facet: str) -> None:
    assert errors(f"A() :- {atom}.{REST[facet]}", facet) == []


@cases(
    (
        "every rule that defines a base predicate",
        "Have(X) :- Peer(X).\nHave(X) :- Here(X).",
        "plain",
        [("base-predicate", 1, 1), ("base-predicate", 2, 1)],
    ),
    (
        "a head and two atoms of one rule",
        f"_a(X) :- _b(X), not _c(X).{REST['selector']}",
        "selector",
        [("reserved-name", 1, 1), ("closed-selector", 1, 10), ("closed-selector", 1, 21)],
    ),
    (
        "a base predicate with a reserved name is reported once",
        f"_Viewer(X) :- Have(X).{REST['selector']}",
        "selector",
        [("base-predicate", 1, 1)],
    ),
    ("an indented head", "  Have(X) :- Peer(X).", "plain", [("base-predicate", 1, 3)]),
)
def test_names(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected


@pytest.mark.parametrize(
    ("facet", "module"),
    [("plain", "a lacegram"), ("selector", "a selector"), ("expose", "an exposure module")],
)
def test_the_message_says_which_module_and_why(facet: str, module: str) -> None:
    diagnostic = only(f"o0_X() :- true.{REST[facet]}", facet)
    assert diagnostic.message == (
        f"{module} may not define `o0_X/0`: its prefix is for generated rules"
    )


def test_the_help_says_what_a_base_predicate_means() -> None:
    diagnostic = only("Have(P) :- Peer(P).")
    assert diagnostic.message == "`Have/1` is a base predicate, so no rule may define it"
    assert str(diagnostic.help).endswith("Have(P): the record P is stored here")
