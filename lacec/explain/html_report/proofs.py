"""Proofs on a page: trees that unfold, and for what is not there how far each rule got.

In: proofs (lacec/explain/proof_tree.py). Out: elements that a browser folds without a script.
"""

from collections.abc import Iterator

from lacec.explain.html_report.html import Html, tag
from lacec.explain.html_report.rules import lace, rule_link
from lacec.explain.proof_tree import Check, Fact, Fails, Proof, WhyNot

# A proof is shown to this depth, and with this many facts; a page says what it leaves out.
MOST_DEEP = 24
MOST_FACTS = 300
# Steps above this depth are unfolded from the start.
UNFOLDED = 2


def explanation(found: Proof | WhyNot, prefix: str = "") -> Html:
    """A tree for a fact, or a list of failures for one that is not there."""
    if isinstance(found, WhyNot):
        return _why_not(found, prefix)
    return tag("ul", *_Tree(found, prefix).node(found.fact, 0), class_="proof")


class _Tree:
    """What a fact rests on is shown where it first stands."""

    def __init__(self, proof: Proof, prefix: str) -> None:
        self._proof, self._prefix = proof, prefix
        self._shown: set[Fact] = set()
        self._left = MOST_FACTS

    def node(self, met: Fact | Check, depth: int) -> Iterator[Html]:
        if self._left <= 0:
            if self._left == 0:
                self._left = -1
                yield tag("li", "… and more: the tree is too long to show", class_="left-out")
            return
        self._left -= 1
        if isinstance(met, Check):
            number = "" if met.number is None else f" there are {met.number}"
            yield tag("li", tag("code", lace(met.text)), number, class_=f"check {met.kind}")
            return
        step = self._proof.steps.get(met)
        fact = tag("code", lace(str(met)))
        if step is None:
            yield tag("li", fact, class_="given")
            return
        by = tag("span", "by ", rule_link(step.rule, self._prefix), class_="by")
        if step.round is not None:
            by += tag("span", f"round {step.round}", class_="by")
        if met in self._shown or depth == MOST_DEEP:
            why = "as above" if met in self._shown else "… its proof goes deeper"
            yield tag("li", fact, by, tag("span", why, class_="by"), class_="derived")
            return
        self._shown.add(met)
        below = [each for because in step.because for each in self.node(because, depth + 1)]
        yield tag(
            "li",
            tag(
                "details",
                tag("summary", fact, by),
                tag("ul", *below),
                open="" if depth < UNFOLDED else None,
            ),
            class_="derived",
        )


def _why_not(found: WhyNot, prefix: str) -> Html:
    items = []
    for wanted, fails in found.goals.items():
        why = "is not derived" if fails else "is not there, and no rule could make it"
        if not fails and found.is_base:
            why = "is not given"
        below = [_fails(each, prefix) for each in fails]
        items.append(
            tag("li", tag("code", lace(str(wanted))), f" {why}", tag("ul", *below), class_="absent")
        )
    if found.left_out:
        count = len(found.left_out)
        items.append(tag("li", f"{count:,} more were not looked into", class_="left-out"))
    return tag("ul", *items, class_="proof")


def _fails(fails: Fails, prefix: str) -> Html:
    met = [tag("li", tag("code", lace(str(fact))), class_="given") for fact in fails.with_facts]
    failing = tag("li", tag("code", lace(fails.text)), f" {fails.reason}", class_="failing")
    return tag(
        "li",
        tag("span", "by ", rule_link(fails.rule, prefix), class_="by"),
        tag("ul", *met, failing),
        class_="attempt",
    )
