"""A field that no record has: close to the name of one, or of a form that no header has.

    Field(P,'Signed-by',_,V)          did you mean `Signed-By`?
    RecordLink(P,'Evidence',_,_,T)    links have names that end in `+Link`

Extra headers may have any name; a `lace.toml` that lists them makes others unknown.
"""

import re
from collections.abc import Iterator

from lacec.check.spelling import Spelling
from lacec.core.diagnostics import Diagnostic, Edit, Fix, quote
from lacec.core.predicates import FIELDS
from lacec.lint.subject import Subject
from lacec.records.links import LINK_SUFFIX
from lacec.syntax.ast import Atom, Constant
from lacec.syntax.show import show_constant
from lacec.syntax.source import SourceRule

_NO_HEADER = re.compile(r"[\x00-\x20\x7f:]")


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    declared = subject.context.fields
    known = {*FIELDS, *declared}
    folded = {name.casefold(): name for name in known}
    spelling: Spelling | None = None
    for rule, anatomy in subject.own:
        for atom, name in anatomy.odd_fields:
            link = atom.name == "RecordLink"
            if name.value in known and not (link and name.value in FIELDS):
                continue
            if _NO_HEADER.search(name.value) or not name.value:
                help = "a name has no space, no colon and no control character, and is not empty"
                yield _unknown(rule, name, "no header can have this name", help)
            elif link and not name.value.endswith(LINK_SUFFIX):
                yield _no_link(rule, name)
            elif not link or declared:
                spelling = spelling or Spelling(known)
                close = folded.get(name.value.casefold()) or spelling.nearest(name.value)
                if close is not None and not (link and close in FIELDS):
                    yield _close(rule, atom, name, close)
                elif declared:
                    help = "add it to `fields` in lace.toml, or mend the name"
                    yield _unknown(rule, name, "lace.toml lists no such header", help)


def _unknown(rule: SourceRule, name: Constant, why: str, help: str) -> Diagnostic:
    message = f"no record has the field {quote(name.value)}: {why}"
    return rule.diagnostic("unknown-field", name.span, message, help)


def _no_link(rule: SourceRule, name: Constant) -> Diagnostic:
    other = show_constant(name.value + LINK_SUFFIX)
    message = f"no link has the name {quote(name.value)}: the names of links end in `+Link`"
    fix = Fix(f"write {other}", (Edit(rule.place(name.span), other),))
    place = rule.place(name.span)
    return Diagnostic("unknown-field", message, place, f"did you mean {other}?", fix=fix)


def _close(rule: SourceRule, atom: Atom, name: Constant, close: str) -> Diagnostic:
    message = f"`{atom.name}` is asked for the field {quote(name.value)}, which is close to another"
    fix = Fix(f"write '{close}'", (Edit(rule.place(name.span), show_constant(close)),))
    help = f"did you mean `{close}`? it is {FIELDS.get(close, 'listed in lace.toml')}"
    return Diagnostic("unknown-field", message, rule.place(name.span), help, fix=fix)
