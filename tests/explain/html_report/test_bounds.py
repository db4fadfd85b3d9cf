"""A page has a largest size, and says what it leaves out."""

import re

from lacec import compile, explanations
from lacec.core.predicates import Predicate
from lacec.explain.html_report.exchange import exchange_page
from lacec.explain.html_report.html import Budget
from lacec.explain.html_report.proofs import MOST_FACTS, explanation
from lacec.explain.html_report.rules import policy_cards, rules_part
from lacec.explain.html_report.tables import facts_part
from lacec.explain.query_plan import explain_program
from lacec.runtime.exchange.explaining import MOST_MOVES, MOST_STAYS, explain_all
from tests.explain.html_report.reading import Page
from tests.runtime.exchange.test_in_process import participant
from tests.runtime.interlace.solo import plex
from tests.runtime.interlace.test_driver import clock
from tests.simulation.shelf import MemoryShelf

RULES = "A(X) :- Q(X).\nB(X) :- Q(X).\nC(X) :- Q(X).\nD(X) :- Q(X), R(X).\n"
FACTS = {"Q": [(f"{n}{'x' * 100}",) for n in range(20)]}


def test_facts_end_where_the_page_is_full() -> None:
    why = explanations(compile(RULES), FACTS)
    budget = Budget(25_000)
    predicates = [Predicate(name, 1) for name in "ABCD"]
    page = Page(facts_part(why, predicates, "", budget).text)
    assert re.search(r"B/1\d+ of 20 facts", page.text)
    assert "The facts of 1 more predicates are left out." in page.text
    assert "Nothing is derived of D/1." in page.text
    assert 0 <= budget.left < 1500


def test_rules_end_where_the_page_is_full() -> None:
    module = compile(RULES)
    cards = policy_cards(module, explain_program(module).plans)
    page = Page(rules_part(cards, "", Budget(2000)).text)
    assert re.search(r"[1-4] of 4 rules are left out: the page is full\.", page.text)


def test_a_proof_ends_where_it_is_too_long() -> None:
    steps = "".join(f"T{n}(X) :- Q(X), R(X), S(X).\n" for n in range(MOST_FACTS // 4 + 2))
    body = ", ".join(f"T{n}(X)" for n in range(MOST_FACTS // 4 + 2))
    module = compile(f"{steps}All(X) :- {body}.\n")
    proof = explanations(module, {name: [("1",)] for name in "QRS"}).why("All('1')")
    assert proof is not None
    page = Page(explanation(proof).text)
    assert page.text.count("… and more: the tree is too long to show") == 1
    assert len(page.tags("li")) == MOST_FACTS + 1


def test_of_many_records_some_are_shown() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add(plex(f"n{n}") for n in range(MOST_MOVES + 3))
    sides = [participant(n, shelf) for n, shelf in enumerate((left, right))]
    overview = explain_all(sides[0], sides[1], clock)
    assert (len(overview.moves), overview.more_moves) == (MOST_MOVES, 3)
    page = Page(exchange_page("a and b", overview, [None, None]))
    assert "3 more are left out." in page.text
    assert f"{MOST_MOVES + 3}records move" in page.text


NOBODY = """\
SelectHave(P) :- Have(P), Field(P,'Group',_,'nobody').
SelectAdvertised(P,S) :- Advertised(P,S).
"""


def test_of_many_records_that_stay_some_are_shown() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add(plex(f"n{n}") for n in range(MOST_STAYS + 2))
    sides = [participant(n, shelf, NOBODY) for n, shelf in enumerate((left, right))]
    overview = explain_all(sides[0], sides[1], clock)
    assert (len(overview.stays), overview.more_stays) == (MOST_STAYS, 2)
    page = Page(exchange_page("a and b", overview, [None, None]))
    assert "2 more are left out." in page.text
    assert page.text.count("left → right") == MOST_STAYS
