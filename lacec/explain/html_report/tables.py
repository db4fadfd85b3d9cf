"""Tables of facts on a page; where a row speaks of a record, with its fields; each with its proof.

In: what explains an evaluation, and predicates. Out: a table for each predicate.
"""

from collections.abc import Mapping, Sequence

from lacec.core.predicates import Predicate
from lacec.explain.html_report.html import Budget, Html, join, tag
from lacec.explain.html_report.proofs import explanation
from lacec.explain.html_report.rules import lace
from lacec.explain.proof_tree import Proof
from lacec.explain.provenance import Why
from lacec.vm.database import Database

# So many rows of a predicate, and so many predicates, are shown.
MOST_ROWS = 200
MOST_TABLES = 60
FIELD = Predicate("Field", 4)
SHOWN_FIELDS = ("Group", "App", "Name", "TAI", "Signed-By")


def fields_of(database: Database, records: Sequence[str]) -> dict[str, dict[str, str]]:
    """What is known of records by their coordinates, time and signer."""
    found: dict[str, dict[str, str]] = {record: {} for record in records}
    symbols, every = database.symbols, database.relation(FIELD)
    for name in SHOWN_FIELDS:
        part = every.part([(1, symbols.intern(name))], ())
        if not part.size:
            continue
        lookup = part.lookup(0, database.universe())
        for record, fields in found.items():
            begin, end = lookup.span(symbols.intern(record))
            if begin < end:
                values = symbols.texts(part.columns[3][lookup.rows(begin, end)])
                fields[name] = ", ".join(sorted(values))
    return found


def facts_part(why: Why, predicates: Sequence[Predicate], prefix: str, budget: Budget) -> Html:
    """A table for each predicate that has facts; the others are named."""
    counts = {predicate: why.count(predicate) for predicate in predicates}
    full = [predicate for predicate, count in counts.items() if count]
    parts: list[Html] = []
    for number, predicate in enumerate(full):
        table = None
        if number < MOST_TABLES:
            table = _table(why, predicate, counts[predicate], prefix, budget, unfold=not parts)
        if table is None:
            left = f"The facts of {len(full) - number:,} more predicates are left out."
            parts.append(tag("p", left, class_="left-out"))
            break
        parts.append(table)
    empty = [tag("code", str(predicate)) for predicate, count in counts.items() if not count]
    if empty:
        parts.append(tag("p", "Nothing is derived of ", join(empty, ", "), ".", class_="empty"))
    return join(parts)


def _table(
    why: Why, predicate: Predicate, count: int, prefix: str, budget: Budget, unfold: bool
) -> Html | None:
    """None if not one row fits the page any more."""
    proofs = why.all(predicate, MOST_ROWS)
    named = [proof.fact.values[-1] for proof in proofs if proof.fact.values]
    known = fields_of(why.database, named)
    rows: list[Html] = []
    for proof in proofs:
        record = proof.fact.values[-1] if proof.fact.values else ""
        row = fact_row(proof, known.get(record, {}), prefix, unfold and not rows)
        if not budget.take(row):
            break
        rows.append(row)
    if not rows:
        return None
    some = f"{len(rows):,} of {count:,}" if len(rows) < count else f"{count:,}"
    number = tag("span", f"{some} {'fact' if count == 1 else 'facts'}", class_="count")
    heading = tag("h3", tag("code", str(predicate)), number)
    left = f"{count - len(rows):,} more are left out; lacec eval lists them all."
    more = tag("p", left, class_="left-out") if len(rows) < count else None
    body = tag("div", *rows, class_="rows")
    return tag("section", heading, body, more, class_="facts", id=table_anchor(prefix, predicate))


def table_anchor(prefix: str, predicate: Predicate) -> str:
    return f"{prefix}facts-{predicate.name}-{predicate.arity}"


def fact_row(proof: Proof, fields: Mapping[str, str], prefix: str, unfold: bool) -> Html:
    """One fact, unfolding into its proof."""
    head = tag("summary", tag("code", lace(str(proof.fact))), fields_line(fields))
    is_open = "" if unfold else None
    return tag("details", head, explanation(proof, prefix), class_="row", data_s="", open=is_open)


def fields_line(fields: Mapping[str, str]) -> Html | None:
    """What a record is, in one line: its coordinates, its time and its signer."""
    shown = [
        tag("span", tag("b", name), value, class_="field")
        for name, value in fields.items()
        if value
    ]
    return tag("span", *shown, class_="fields") if shown else None
