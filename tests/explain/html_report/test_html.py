"""Text on a page stays text, whatever it is."""

from hypothesis import example, given
from hypothesis import strategies as st

from lacec.core.diagnostics import visible
from lacec.explain.html_report.html import MOST_CHARACTERS, Budget, Html, lines, piece, tag
from lacec.explain.html_report.rules import lace
from tests.explain.html_report.reading import Page

HOSTILE = '</code><script>alert(\'1\')</script>" onload="x" &lt; <!--'


@given(st.text())
@example(HOSTILE)
def test_text_comes_back_as_it_was_and_as_nothing_else(text: str) -> None:
    page = Page(tag("p", text, title=text).text)
    assert page.elements == [("p", {"title": visible(text)})]
    assert page.text == visible(text)


@given(st.text(alphabet=st.sampled_from("ab'\\<>&\"(),:- not_ABé\u202e\x00\n")))
@example(HOSTILE)
def test_a_rule_in_colours_has_the_same_text(text: str) -> None:
    page = Page(lace(text).text)
    assert page.text == visible(text)
    assert {name for name, _ in page.elements} <= {"i"}


def test_pieces_are_not_escaped_twice() -> None:
    assert tag("p", tag("b", "<"), Html("&amp;")).text == "<p><b>&lt;</b>&amp;</p>"


def test_attributes_that_are_none_are_left_out() -> None:
    assert tag("a", href=None, class_="x", data_s="").text == '<a class="x" data-s=""></a>'


def test_long_text_is_cut_and_says_so() -> None:
    shown = piece("x" * (MOST_CHARACTERS + 12)).text
    assert shown == "x" * MOST_CHARACTERS + "… 12 more characters"


def test_lines_keep_their_line_feeds() -> None:
    assert lines("a<\nb").text == "a&lt;\nb"


def test_a_budget_takes_what_fits() -> None:
    budget = Budget(5)
    assert budget.take(Html("abc"))
    assert not budget.take(Html("abc"))
    assert budget.take(Html("ab"))
