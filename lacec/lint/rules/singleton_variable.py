"""A variable that stands once in its rule: it binds what nobody looks at.

    Selected(P) :- Have(P), Field(P,'Signed-By',_,V).     V: no more than `_`

In a counted atom such a name is only a wildcard with a name, as in 030, and is left alone.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Mend, Problem
from lacec.lint.rule_facts import Anatomy


def lint_rule(anatomy: Anatomy) -> Iterator[Problem]:
    for atom in anatomy.positive:
        for variable in atom.variables:
            if anatomy.times[variable.name] == 1:
                yield Problem(
                    "singleton-variable",
                    variable.span,
                    f"`{variable.name}` stands once in this rule, so it says no more than `_`",
                    f"write `_`, or use `{variable.name}` where it was meant",
                    Mend("write `_`", ((variable.span, "_"),), True),
                )
