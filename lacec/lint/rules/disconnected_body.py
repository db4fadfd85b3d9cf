"""A body of parts that share no variable: every match of one goes with every match of the other.

    Pair(P,Q) :- Link(P), Note(Q).                            all pairs
    Selected(P) :- Link(P), Have(Q), Field(Q,'App',_,'on').   a switch for all links

Runtime facts, lists of constants and the viewers of an exposure are few, and are left alone.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Related
from lacec.core.predicates import EXPOSE_EXPORTS, LOCAL_FACTS, RUNTIME_FACTS
from lacec.lint.rule_facts import Anatomy
from lacec.lint.subject import Subject
from lacec.syntax.ast import Atom, Variable


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    small = {*RUNTIME_FACTS, *LOCAL_FACTS}
    for rule, anatomy in subject.own:
        if len(anatomy.islands) < 2:
            continue
        viewer = _viewer(anatomy)
        islands = [
            island
            for island in anatomy.islands
            if not all(a.predicate in small or a.predicate in subject.tables for a in island)
            and not any(variable == viewer for atom in island for variable in atom.variables)
        ]
        head = {variable.name for variable in rule.rule.head.variables}
        # What the head asks for comes first: the rest is the part that is not joined to it.
        islands.sort(key=lambda island: head.isdisjoint(_names(island)))
        for island in islands[1:]:
            apart = f"`{'`, `'.join(sorted(_names(island)))}`"
            what = "every pair is made" if _names(island) & head else "it decides for all or none"
            yield Diagnostic(
                "disconnected-body",
                f"{apart} and the rest of the body share no variable, so {what}",
                rule.place(island[0].span),
                "join the parts by a variable; or make this part a predicate without arguments",
                (Related("not joined with this", rule.place(islands[0][0].span)),),
            )


def _viewer(anatomy: Anatomy) -> Variable | None:
    """The viewer of an exposure, who has nothing to do with a record by its nature."""
    term = anatomy.rule.head.terms[0] if anatomy.head in EXPOSE_EXPORTS else None
    return term if isinstance(term, Variable) else None


def _names(island: tuple[Atom, ...]) -> set[str]:
    return {variable.name for atom in island for variable in atom.variables}
