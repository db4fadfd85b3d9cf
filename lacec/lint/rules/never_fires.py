"""A rule whose body contradicts itself: it derives nothing, whatever the facts.

    Field(P,'Group',_,'u'), Field(P,'Group',_,'v')     a record has one group
    Link(P), not Link(P)
    IntCompare(N,'<','3'), IntCompare(N,'>','5')

Of each rule the first contradiction is told.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Problem, quote
from lacec.core.predicates import FIELDS, Predicate
from lacec.lint.constant_folding import always, compare, decimal
from lacec.lint.rule_facts import Anatomy, covers
from lacec.lint.subject import Subject
from lacec.syntax.ast import Atom, Cardinality, Constant, Span, Term, Unequal, Variable

FIELD = Predicate("Field", 4)
CLOCKS = (Predicate("StartTAI", 1), Predicate("TickTAI", 1))
# 020: which fields a record of a type has; a Seal has all of them.
OF_TYPE = {
    "B": frozenset({"Type", "Data-Length"}),
    "P": frozenset(FIELDS) - {"Signed-By", "Signature"},
    "S": frozenset(FIELDS),
}
Why = tuple[Span, str]


def lint_rule(anatomy: Anatomy) -> Iterator[Problem]:
    known = _Known()
    for why in _contradictions(anatomy, known):
        span, message = why
        help = "no fact can make all of the body true: mend the rule, or leave it out"
        yield Problem("never-fires", span, f"this rule never fires: {message}", help)
        return


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    """Constants that no rule of a predicate gives."""
    listed = _listed(subject)
    names = subject.reads.intersection(listed)
    for rule, anatomy in subject.own if names else ():
        if names.isdisjoint(anatomy.reads):
            continue
        for atom in anatomy.positive:
            for column, values in listed.get(atom.predicate, {}).items():
                term = atom.terms[column]
                if isinstance(term, Constant) and term.value not in values:
                    yield rule.diagnostic(
                        "never-fires",
                        term.span,
                        f"this rule never fires: no rule of `{atom.predicate}` gives "
                        f"{quote(term.value)} here",
                        f"the rules give {', '.join(quote(v) for v in sorted(values)[:5])}",
                    )


def _listed(subject: Subject) -> dict[Predicate, dict[int, set[str]]]:
    """The columns in which every rule of a predicate has a constant, with the constants."""
    found: dict[Predicate, dict[int, set[str]]] = {}
    for predicate in subject.reads.intersection(subject.by_head) - subject.context.inputs:
        rules = subject.by_head[predicate]
        for column in rules[0][1].constant_columns:
            if all(column in anatomy.constant_columns for _, anatomy in rules):
                terms = (rule.rule.head.terms[column] for rule, _ in rules)
                values = {term.value for term in terms if isinstance(term, Constant)}
                found.setdefault(predicate, {})[column] = values
    return found


class _Known:
    """What the atoms of a body say about its variables."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.fields: dict[tuple[Term, str], Constant] = {}
        self.clocks: set[str] = set()


def _contradictions(anatomy: Anatomy, known: _Known) -> Iterator[Why]:
    yield from _fields(anatomy, known)
    for negated in anatomy.negated:
        if any(covers(negated, atom) for atom in anatomy.positive):
            yield negated.span, "the body asks for this atom, and for its absence"
    for count in anatomy.counted:
        yield from _count(count)
    for test in anatomy.tests:
        if always(test, known.values) is False:
            yield _span(test), "this test is always false"
        if isinstance(test, Atom) and test.name == "IntCompare":
            for term in (test.terms[0], test.terms[2]):
                if isinstance(term, Variable) and term.name in known.clocks:
                    yield term.span, f"`{term.name}` is a TAI, no decimal; LexCompare compares TAI"
    yield from _ranges(anatomy)
    yield from _starts(anatomy)


def _fields(anatomy: Anatomy, known: _Known) -> Iterator[Why]:
    """Fields that a record has once, and those it cannot have."""
    for atom in anatomy.positive:
        if atom.predicate in CLOCKS and isinstance(atom.terms[0], Variable):
            known.clocks.add(atom.terms[0].name)
    variables: list[tuple[tuple[Term, str], Variable]] = []
    for atom in anatomy.positive:
        if atom.predicate != FIELD or not isinstance(atom.terms[1], Constant):
            continue
        record, name, index, value = atom.terms
        assert isinstance(name, Constant)
        if name.value not in FIELDS or not isinstance(record, Variable | Constant):
            continue
        if isinstance(index, Constant) and index.value != "0":
            yield index.span, f"a record has one `{name.value}`, and its index is '0'"
        if isinstance(value, Variable):
            variables.append(((record, name.value), value))
            if name.value == "TAI":
                known.clocks.add(value.name)
        elif isinstance(value, Constant):
            first = known.fields.setdefault((record, name.value), value)
            if first != value:
                both = f"{quote(first.value)} and {quote(value.value)}"
                yield value.span, f"a record has one `{name.value}`, not {both}"
    for key, variable in variables:
        if key in known.fields:
            known.values.setdefault(variable.name, known.fields[key].value)
    yield from _types(anatomy, known)


def _types(anatomy: Anatomy, known: _Known) -> Iterator[Why]:
    types = {record: value for (record, name), value in known.fields.items() if name == "Type"}
    for value in types.values():
        if value.value not in OF_TYPE:
            yield value.span, "the types of records are 'B', 'P' and 'S'"
    for atom in anatomy.positive:
        kind = types.get(atom.terms[0]) if atom.predicate == FIELD else None
        name = atom.terms[1] if kind is not None else None
        if kind is None or kind.value not in OF_TYPE or not isinstance(name, Constant):
            continue
        if name.value not in OF_TYPE[kind.value] and (name.value in FIELDS or kind.value == "B"):
            yield name.span, f"a record of type {quote(kind.value)} has no `{name.value}`"


def _count(count: Cardinality) -> Iterator[Why]:
    if isinstance(count.operator, Constant) and isinstance(count.bound, Constant):
        number = decimal(count.bound.value)
        operator = count.operator.value
        if number is not None and operator in ("<", "<=") and not compare(0, operator, number):
            yield count.bound.span, "no count is below 0"


def _span(test: Atom | Unequal) -> Span:
    return (test.left.span[0], test.right.span[1]) if isinstance(test, Unequal) else test.span


def _ranges(anatomy: Anatomy) -> Iterator[Why]:
    """Comparisons of one variable with constants that leave nothing between them."""
    limits: dict[tuple[str, str], list[tuple[str, int | bytes]]] = {}
    mirror = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    for test in anatomy.tests:
        if isinstance(test, Unequal) or test.name == "TextShape":
            continue
        left, operator, right = test.terms
        if not isinstance(operator, Constant) or operator.value not in mirror:
            continue
        sign = operator.value
        if isinstance(left, Constant) and isinstance(right, Variable):
            left, sign, right = right, mirror[sign], left
        if not isinstance(left, Variable) or not isinstance(right, Constant):
            continue
        value: int | bytes | None = right.value.encode()
        if test.name == "IntCompare":
            value = decimal(right.value)
        if value is None:
            continue
        before = limits.setdefault((left.name, test.name), [])
        if any(_apart(sign, value, *other, whole=test.name == "IntCompare") for other in before):
            yield test.span, f"no value of `{left.name}` passes all comparisons"
        before.append((sign, value))


def _apart(sign: str, value: int | bytes, other: str, limit: int | bytes, whole: bool) -> bool:
    """Whether `x sign value` and `x other limit` exclude each other."""
    if sign[0] == other[0]:
        return False
    low, high = (value, limit) if sign[0] == ">" else (limit, value)
    strict = (len(sign) == 1) + (len(other) == 1)
    if whole and isinstance(low, int) and isinstance(high, int):
        return high - low < strict
    return compare(low, ">=" if strict else ">", high)


def _starts(anatomy: Anatomy) -> Iterator[Why]:
    """Texts that would have to begin in two ways."""
    starts: dict[str, list[str]] = {}
    for test in anatomy.tests:
        if isinstance(test, Unequal) or test.name != "TextShape":
            continue
        text, start = test.terms[:2]
        if isinstance(text, Variable) and isinstance(start, Constant):
            for other in starts.setdefault(text.name, []):
                if not (other.startswith(start.value) or start.value.startswith(other)):
                    both = f"{quote(other)} and with {quote(start.value)}"
                    yield start.span, f"no text begins with {both}"
            starts[text.name].append(start.value)
