"""A rule that derives nothing which another does not derive already.

    Selected(P) :- Have(P), Field(P,'Group',_,'u').
    Selected(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'App',_,'ding').

Rules that are equal but for the names of variables are told by `duplicate-rule`.
"""

from collections import Counter
from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Related
from lacec.lint.subject import Own, Subject
from lacec.lint.subsumption import subsumes
from lacec.syntax.source import SourceRule

# For all rules together: whoever writes more rules of one form has other worries.
MOST_PAIRS = 2000


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    for rule, anatomy in subject.own:
        if anatomy.is_circular:
            yield rule.diagnostic(
                "subsumed-rule",
                rule.rule.head.span,
                "this rule derives only what its own body has",
                "leave it out, or change its head",
            )
    pairs = MOST_PAIRS
    for rules in subject.by_head.values():
        if len(rules) > 1:
            for special, general in _candidates(rules, subject):
                pairs -= 1
                if pairs < 0:
                    return
                if subsumes(general[1], special[1]) and not _told(special, general):
                    yield _diagnostic(special[0], general[0])


def _candidates(rules: list[Own], subject: Subject) -> Iterator[tuple[Own, Own]]:
    """The pairs in which the second has nothing that the first has not.

    Rules are found by the feature that fewest of them have, so that few pairs are tried.
    """
    rules = [each for each in rules if not each[1].is_large]
    often = Counter(feature for _, anatomy in rules for feature in anatomy.features)
    by_rarest: dict[str, list[Own]] = {}
    anyhow: list[Own] = []
    for each in rules:
        rarest = min(each[1].features, key=lambda feature: (often[feature], feature), default=None)
        if rarest is None:
            anyhow.append(each)
        else:
            by_rarest.setdefault(rarest, []).append(each)
    for special in rules:
        if not subject.is_own(special[0]) or special[0].repaired:
            continue
        near = (general for f in sorted(special[1].features) for general in by_rarest.get(f, ()))
        for general in (*anyhow, *near):
            if (
                general[0] is not special[0]
                and not general[0].repaired
                and general[1].features <= special[1].features
                and general[1].shape != special[1].shape
            ):
                yield special, general


def _told(special: Own, general: Own) -> bool:
    """Whether the two are equal, and the other one is told: the later."""
    return subsumes(special[1], general[1]) and (
        special[0].source is general[0].source and special[0].line < general[0].line
    )


def _diagnostic(special: SourceRule, general: SourceRule) -> Diagnostic:
    return Diagnostic(
        "subsumed-rule",
        "another rule derives whatever this one does",
        special.place(special.rule.head.span),
        "leave this rule out, or make the other one ask for more",
        (Related("this rule asks for less", general.place(general.rule.head.span)),),
    )
