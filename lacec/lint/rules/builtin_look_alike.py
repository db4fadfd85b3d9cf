"""A predicate with the name that other languages give to a builtin, and that nothing defines.

    Selected(P) :- Field(P,'Name',_,K), Suffix(K,'.json').

It is an ordinary predicate here, and empty.
"""

from collections.abc import Callable, Iterator

from lacec.core.diagnostics import Diagnostic, Edit, Fix
from lacec.lint.subject import Subject
from lacec.syntax.ast import Atom, Negated
from lacec.syntax.show import show_term

Rewrite = Callable[[str, str], str]
_PREFIX: Rewrite = "TextShape({0},{1},'','')".format
_SUFFIX: Rewrite = "TextShape({0},'','',{1})".format
_UNEQUAL: Rewrite = "{0} != {1}".format

# What to do instead, and where there is one, the test of two arguments that was meant.
LOOK_ALIKES: dict[str, tuple[str, Rewrite | None]] = {
    **dict.fromkeys(
        ("StartsWith", "HasPrefix", "BeginsWith"),
        ("write TextShape(K,'links/','','') for a prefix", _PREFIX),
    ),
    **dict.fromkeys(
        ("Suffix", "EndsWith", "HasSuffix"),
        ("write TextShape(K,'','','.json') for a suffix", _SUFFIX),
    ),
    **dict.fromkeys(
        ("Contains", "Includes", "Matches", "Regex"),
        ("there is no such test; TextShape looks at the beginning, one segment and the end", None),
    ),
    **dict.fromkeys(
        ("Equals", "Equal", "Eq"),
        ("use the same variable twice, or write the constant in its place", None),
    ),
    **dict.fromkeys(("NotEquals", "NotEqual", "Unequal", "Neq"), ("write X != Y", _UNEQUAL)),
    **dict.fromkeys(
        ("Less", "LessThan", "Greater", "GreaterThan"),
        ("write IntCompare(A,'<',B) for numbers, LexCompare(A,'<',B) for text", None),
    ),
    "Count": ("write Cardinality(Link(P),'<','100')", None),
}


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    defined = {predicate.name for predicate in subject.by_head}
    suspects = {each for each in subject.strangers if each.name in LOOK_ALIKES.keys() - defined}
    if not suspects:
        return
    for rule, anatomy in subject.own:
        for position, literal in enumerate(rule.rule.body):
            atom = literal.atom if isinstance(literal, Negated) else literal
            if not isinstance(atom, Atom) or atom.predicate not in suspects:
                continue
            help, rewrite = LOOK_ALIKES[atom.name]
            fix = None
            if rewrite is not None and literal is atom and len(atom.terms) == 2:
                text = rewrite(*(show_term(term) for term in atom.terms))
                span = anatomy.literal_spans[position]
                fix = Fix(f"write {text}", (Edit(rule.place(span), text),))
            yield Diagnostic(
                "builtin-look-alike",
                f"`{atom.name}` is not a builtin, and nothing defines it, so it is empty",
                rule.place(atom.name_span),
                help,
                fix=fix,
            )
