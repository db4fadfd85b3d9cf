"""A suppression that suppresses nothing as it is written: no such name, an error, or no reason.

#:json {"allow":{"disconnected-body":""}}
"""

from collections.abc import Iterator

from lacec.check.spelling import nearest
from lacec.core.diagnostics import CATALOGUE, Diagnostic, quote
from lacec.lint.subject import Subject
from lacec.lint.suppressions import KEY, entries, is_good, place_of

_HELP = 'write #:json {"allow":{"NAME":"why it is meant"}}'


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    for rule, _ in subject.own:
        if not rule.annotations or KEY not in rule.annotations:
            continue
        source = subject.program.sources[0]
        if not isinstance(rule.annotations[KEY], dict):
            where = place_of(source, rule, KEY)
            message = "`allow` is not an object of names and reasons"
            yield Diagnostic("bad-suppression", message, where, _HELP)
        for name, reason in entries(rule):
            if not is_good(name, reason):
                message, help = _why(name)
                yield Diagnostic("bad-suppression", message, place_of(source, rule, name), help)


def _why(name: str) -> tuple[str, str]:
    if name not in CATALOGUE:
        close = nearest(name, CATALOGUE)
        help = f"did you mean `{close}`?" if close else "`lacec check` prints the names"
        return f"there is no warning {quote(name)}", help
    if CATALOGUE[name] == "error":
        return f"`{name}` is an error, and cannot be allowed", "mend the rule"
    return f"the reason for allowing `{name}` is missing", _HELP
