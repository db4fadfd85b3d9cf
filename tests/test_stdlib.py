"""The standard library: each module is what its comment says."""

import pytest

from lacec.canonical.module import Module
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import BASE, BUILTIN_ARITY, Predicate
from lacec.core.resources import stdlib_names, stdlib_path
from lacec.pipeline import compile_module
from lacec.plan.operands import Operand, required_fields
from lacec.project.library import library_module
from lacec.project.settings import settings_for
from lacec.syntax.ast import body_atoms

NAMES = stdlib_names()


def compiled(name: str) -> Module:
    path = stdlib_path(name)
    facet = settings_for(path).facet or Facet.PLAIN
    return compile_module([(path.name, path.read_bytes())], facet, DEFAULT_LIMITS)


def reads(module: Module) -> set[Predicate]:
    return {atom.predicate for rule in module.rules for atom in body_atoms(rule.node)}


def derives(module: Module) -> set[Predicate]:
    return {predicate for group in module.groups for predicate in group}


@pytest.mark.parametrize("name", NAMES)
def test_the_comment_lists_what_is_defined_elsewhere(name: str) -> None:
    module = compiled(name)
    builtins = {Predicate(*each) for each in BUILTIN_ARITY.items()}
    open_ones = reads(module) - derives(module) - BASE.keys() - builtins
    described = {each.predicate for each in library_module(name).defined}
    assert described == open_ones == settings_for(stdlib_path(name)).inputs


@pytest.mark.parametrize("name", NAMES)
def test_the_comment_lists_what_is_given(name: str) -> None:
    assert {each.predicate for each in library_module(name).given} == derives(compiled(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_label_of_its_own(name: str) -> None:
    rules = compiled(name).rules
    assert len({rule.annotations["label"] for rule in rules}) == len(rules)


def test_modules_can_be_linked_together() -> None:
    """No name is given by two of them, and none is defined by the one and given by the other."""
    given: list[Predicate] = []
    defined: list[Predicate] = []
    for name in NAMES:
        given += [each.predicate for each in library_module(name).given]
        defined += [each.predicate for each in library_module(name).defined]
    assert len(set(given)) == len(given)
    assert len(set(defined)) == len(defined)
    assert set(given).isdisjoint(defined)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "expose"])
def test_a_selector_may_link_it(name: str) -> None:
    """D11: a selector is closed; and no module makes a peer advertise all of its fields."""
    own = ("own", "SelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S).\n")
    module = compile_module([own, (name, stdlib_path(name).read_bytes())], Facet.SELECTOR)
    assert not required_fields([Operand(0, module)]).all
