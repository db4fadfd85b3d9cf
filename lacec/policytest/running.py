"""Tests run: each case over its own facts, what differs explained, and which rules derived.

In: a test file. Out: what came of each of its tests.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from time import perf_counter

from lacec.check.spelling import nearest
from lacec.core.diagnostics import Diagnostic, Place, quote
from lacec.core.errors import CompileError, FactError, LimitError, PlanError
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import LOCAL_FACTS, Predicate, read_predicate
from lacec.core.resources import LIBRARY
from lacec.engine.evaluation import check_given
from lacec.engine.side import check_facts
from lacec.explain.proof_tree import Fact
from lacec.explain.provenance import Why, explain_module, explain_plan
from lacec.facts.bulk_reader import read_facts
from lacec.plan.exchange import make_plan
from lacec.plan.lower import CAN_QUERY, MAY_REQUEST, MAY_SEND, SideProgram, scope_of
from lacec.plan.operands import Operand
from lacec.plan.origins import Party
from lacec.policytest.cases import OF_A_SIDE, Case, ExchangeCase, Expected, GivenFacts, TestFile
from lacec.policytest.exchanges import run_exchange
from lacec.policytest.materials import MOST_BYTES, CaseError, FileError, Materials
from lacec.policytest.outcomes import (
    MOST_EXPLAINED,
    Failure,
    FileOutcome,
    Outcome,
    RulePlace,
    Wrong,
    differences,
)
from lacec.policytest.policies import Policies, problems_of
from lacec.policytest.reading import read_tests
from lacec.records.facts import FIELD, HAVE, record_facts
from lacec.records.record import Record
from lacec.runtime.exchange.advertisement_columns import ADVERTISED, ADVERTISED_FIELD
from lacec.runtime.exchange.side import EXCHANGE_LIMITS
from lacec.store.protocol import Rows, rows_of
from lacec.vm.database import Database
from lacec.vm.sources import add_rows

SELECT_HAVE, SELECTED = Predicate("SelectHave", 1), Predicate("Selected", 1)
ALLOW = Predicate("AllowQueryRecord", 2)


def run_file(
    name: str,
    content: bytes,
    limits: Limits = DEFAULT_LIMITS,
    in_exchanges: Limits = EXCHANGE_LIMITS,
) -> FileOutcome:
    """All tests of a file; none where something keeps each of them from running."""
    file, problems = read_tests(name, content)
    sources: dict[str, str | bytes] = {name: content}
    if file is None:
        return FileOutcome(name, problems=problems, sources=sources)
    running = _Running(file, limits)
    given = (running.materials, running.policies, running.fired, in_exchanges)
    try:
        outcomes = [running.outcome(each, partial(running.case, each)) for each in file.cases]
        outcomes += [running.outcome(e, partial(run_exchange, e, *given)) for e in file.exchanges]
    except (CompileError, FileError) as error:
        sources |= running.policies.sources
        found = problems_of(error, name)
        return FileOutcome(name, problems=found, sources=sources, read=running.read)
    return FileOutcome(
        name,
        tuple(outcomes),
        sources=sources | running.policies.sources | running.sources,
        names=running.materials.names,
        rules=running.rules(),
        fired=frozenset(running.fired),
        read=running.read,
    )


class _Problems(Exception):  # noqa: N818
    """Facts that cannot be read, told by their own diagnostics."""

    def __init__(
        self, diagnostics: tuple[Diagnostic, ...], sources: dict[str, str | bytes]
    ) -> None:
        self.diagnostics, self.sources = diagnostics, sources
        super().__init__(diagnostics)


class _Running:
    def __init__(self, file: TestFile, limits: Limits) -> None:
        self.file, self.limits = file, limits
        self.materials = Materials(file)
        self.policies = Policies(file, limits)
        self.fired: set[RulePlace] = set()
        self.sources: dict[str, str | bytes] = {}  # of facts that cannot be read

    def outcome(
        self, case: Case | ExchangeCase, run: Callable[[], Iterable[Failure | Diagnostic]]
    ) -> Outcome:
        started = perf_counter()
        found: list[Failure | Diagnostic] = []
        stopped = None
        try:
            found.extend(run())  # what comes before it stops stays
        except LimitError as error:
            stopped = str(error)
        except FileError:
            raise
        except CaseError as error:
            found += problems_of(error, self.file.name)
        except _Problems as error:
            found += error.diagnostics
            self.sources |= error.sources
        failures = tuple(each for each in found if isinstance(each, Failure))
        problems = tuple(each for each in found if isinstance(each, Diagnostic))
        seconds = perf_counter() - started
        return Outcome(case.name, case.line, seconds, failures, stopped, problems)

    @property
    def read(self) -> tuple[str, ...]:
        """The files that the tests depend on, as far as they are known."""
        cases, exchanges = self.file.cases, self.file.exchanges
        facts = (name for case in cases for name in case.fact_files)
        stored = [case.record_files for case in cases]
        stored += [side.record_files for each in exchanges for side in (each.left, each.right)]
        return (self.file.policy, *self.policies.sources, *facts, *chain(*stored))

    def rules(self) -> dict[RulePlace, str]:
        """The rules that the tests of this file are about: not those of what it links by name."""
        return {
            (rule.file, rule.line): rule.text
            for name, module in self.policies.under_test.items()
            for rule in module.rules
            if rule.file == name or not rule.file.startswith(LIBRARY)
        }

    def case(self, case: Case) -> Iterable[Failure | Diagnostic]:
        view = self._module(case) if case.peer is None else self._side(case)
        self.fired.update((rule.file, rule.line) for rule in view.why.fired())
        for expected in case.expected:
            try:
                failure = self._judge(view, expected)
            except CaseError as error:
                yield from problems_of(error, self.file.name)
                continue
            if failure is not None:
                yield failure

    # What is evaluated.

    def _module(self, case: Case) -> "_View":
        facet = self.policies.own_facet()
        module = self.policies.module(self.file.policy, facet, case.line)
        viewer = self.materials.fill(case.viewer or "peer", case.line)
        database = self._database(case, case.source or "peer")
        if facet is Facet.EXPOSE:
            add_rows(database, next(iter(LOCAL_FACTS)), [(viewer,)], self.limits)
        try:
            check_given(module, database.predicates())
        except FactError as error:
            help = "give the facts under another name, and derive from that"
            raise CaseError(case.line, str(error), help) from None
        return _View(explain_module(module, database, self.limits), facet, viewer, "")

    def _side(self, case: Case) -> "_View":
        assert case.peer is not None
        own = self.policies.module(self.file.policy, Facet.SELECTOR, case.line)
        theirs = self.policies.module(case.peer, Facet.SELECTOR, case.line, tested=False)
        operands = [Operand(case.side, own), Operand(1 - case.side, theirs)]
        runtime = {name: values for name, values in case.runtime if name in ("Here", "Peer")}
        parties = [self._party(runtime.get(name), case.line) for name in ("Here", "Peer")]
        if case.side:
            operands.reverse()
            parties.reverse()
        try:
            plan = make_plan(operands, (parties[0], parties[1]))
        except PlanError as error:
            raise CaseError(case.line, str(error)) from None
        program = plan.side(case.side, self.policies.local(case, plan.operand(case.side)))
        database = self._database(case, case.source or program.viewer)
        try:
            check_facts(database)
        except FactError as error:
            help = "a side has record, runtime and advertisement facts"
            raise CaseError(case.line, str(error), help) from None
        why = explain_plan(program, database, self.limits)
        return _View(why, Facet.SELECTOR, program.viewer, scope_of(case.side), program)

    def _party(self, values: tuple[str, ...] | None, line: int) -> Party:
        return Party(None if values is None else self.materials.fill(values[0], line))

    # Facts.

    def _database(self, case: Case, source: str) -> Database:
        database = Database()
        for given in case.facts:
            self._add_text(database, given)
        for name in case.fact_files:
            self._add_file(database, name, case.line)
        rows = rows_of(
            fact
            for record in self.materials.stored(case, case.line)
            for fact in record_facts(record)
        )
        offered = self.materials.records(case.offered, case.line)
        for predicate, more in _offers(offered, self.materials.fill(source, case.line)).items():
            rows.setdefault(predicate, []).extend(more)
        for name, values in case.runtime:
            filled = tuple(self.materials.fill(value, case.line) for value in values)
            rows.setdefault(Predicate(name, len(values)), []).append(filled)
        try:
            for predicate, facts in rows.items():
                add_rows(database, predicate, facts, self.limits)
        except FactError as error:
            raise CaseError(case.line, str(error)) from None
        return database

    def _add_text(self, database: Database, given: GivenFacts) -> None:
        text = self.materials.fill(given.text, given.line)
        problems = read_facts(self.file.name, text.encode("utf-8"), database, self.limits)
        by = given.line - 1
        moved = (replace(d, place=_moved(d, by)) for d in problems)
        if problems:
            raise _Problems(tuple(moved), {})

    def _add_file(self, database: Database, name: str, line: int) -> None:
        try:
            with open(name, "rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CaseError(line, f"cannot read {name}: {reason}") from None
        if len(content) > MOST_BYTES:
            raise CaseError(line, f"{name} has more than {MOST_BYTES} bytes", "give less")
        if problems := read_facts(name, content, database, self.limits):
            raise _Problems(problems, {name: content})

    # What is expected.

    def _judge(self, view: "_View", expected: Expected) -> Failure | None:
        line = expected.line
        predicate, records = view.meant(expected)
        there = view.rows(predicate, records)
        wanted = [tuple(self.materials.fill(v, line) for v in row) for row in expected.rows]
        arity = 1 if records else predicate.arity
        for row in wanted:
            if len(row) != arity:
                said = f"{expected.what} has {arity} values a row, not {len(row)}"
                raise CaseError(line, said, 'write rows as [["one", "two"], …]')
        missing, extra = differences(expected.how, wanted, there)
        if not missing and not extra:
            return None
        return Failure(
            expected.how,
            expected.what,
            line,
            tuple(view.wrong(predicate, row, records, n) for n, row in enumerate(missing)),
            tuple(view.wrong(predicate, row, records, n) for n, row in enumerate(extra)),
        )


class _View:
    """What a case derived, by the words in which tests speak of it."""

    def __init__(
        self, why: Why, facet: Facet, viewer: str, scope: str, program: SideProgram | None = None
    ) -> None:
        self.why, self._facet, self._viewer = why, facet, viewer
        self._scope, self._program = scope, program

    def meant(self, expected: Expected) -> tuple[Predicate, bool]:
        """The predicate of an expectation, and whether it is of a viewer and a record."""
        what, line = expected.what, expected.line
        if what == "selected":
            return self._selected(line), False
        if what == "queryable":
            if self._program is not None:
                return CAN_QUERY, True
            if self._facet is Facet.EXPOSE:
                return ALLOW, True
        elif self._program is not None and what in ("sent", "requested"):
            return (MAY_SEND if what == "sent" else MAY_REQUEST), False
        if what in OF_A_SIDE:
            raise CaseError(line, f"`{what}` needs a peer", 'add peer = "theirs.lace" to the test')
        return self._named(what, line), False

    def _selected(self, line: int) -> Predicate:
        own = Predicate(self._scope + SELECT_HAVE.name, 1)
        for predicate in (own, SELECTED):
            if self.why.is_derived(predicate):
                return predicate
        said = "the policy derives neither SelectHave/1 nor Selected/1"
        raise CaseError(line, said, 'name a predicate of it, as in is."Wanted/1"')

    def _named(self, what: str, line: int) -> Predicate:
        """A predicate by its name, with or without its arity."""
        derived = [each for each in sorted(self.why.known()) if self.why.is_derived(each)]
        own: dict[str, list[Predicate]] = {}
        for each in derived:
            own.setdefault(each.name.removeprefix(self._scope), []).append(each)
        try:
            name, arity = read_predicate(what) if "/" in what else (what, None)
        except ValueError as error:
            raise CaseError(line, str(error), "as in Blocked/1") from None
        found = [each for each in own.get(name, []) if arity in (None, each.arity)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = " or ".join(f'"{name}/{each.arity}"' for each in found)
            raise CaseError(line, f"there is more than one {name}", f"write {listed}")
        close = nearest(name, OF_A_SIDE) or nearest(name, own)
        listed = ", ".join((*OF_A_SIDE, *own))
        help = f"did you mean `{close}`?" if close else f"there are {listed}"
        raise CaseError(line, f"the policy derives no {quote(what)}", help)

    def rows(self, predicate: Predicate, records: bool) -> set[tuple[str, ...]]:
        if not records:
            return set(self.why.facts(predicate))
        if self._program is not None and self._program.policy.trust_peer:
            return set(self.why.facts(HAVE))
        pairs = self.why.facts(predicate) if self.why.is_derived(predicate) else []
        return {(record,) for viewer, record in pairs if viewer == self._viewer}

    def wrong(
        self, predicate: Predicate, row: tuple[str, ...], records: bool, number: int
    ) -> Wrong:
        values = (self._viewer, *row) if records else row
        fact = Fact(predicate.name, values)
        shown = Fact(predicate.name.removeprefix(self._scope), values)
        if number >= MOST_EXPLAINED:
            return Wrong(str(shown))
        return Wrong(str(shown), self.why.why(fact) or self.why.why_not(fact))


def _offers(records: Sequence[Record], source: str) -> Rows:
    """What a source says of its records: all fields of each."""
    rows: Rows = {ADVERTISED: [], ADVERTISED_FIELD: []}
    for record in records:
        rows[ADVERTISED].append((record.hash, source))
        for predicate, values in record_facts(record):
            if predicate == FIELD:
                rows[ADVERTISED_FIELD].append((values[0], source, *values[1:]))
    return {predicate: facts for predicate, facts in rows.items() if facts}


def _moved(diagnostic: Diagnostic, by: int) -> Place:
    place = diagnostic.place
    return replace(place, line=place.line + by, end_line=place.end_line + by)
