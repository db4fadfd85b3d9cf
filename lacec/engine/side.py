"""Evaluation of one side of an exchange plan (020, 040): what it may send and request.

In: the program of a side and the facts of one snapshot. Out: MaySend, MayRequest and
the records that the peer's viewer may query. First the gates, local rules over all
facts, decide the views; then the main program runs, in which the peer's rules load
record facts through theirs.

What the peer's rules do must not depend on facts outside their view: not their results,
the order of their joins, nor the limits they meet. So their joins are ordered by the
sizes of what they see, whether sizes are looked at depends on how much they see, and
they run before the local rules of the main program, under their own limits. What is
left: the limits on stored facts, which no rule has a part in; the limits that local
rules meet, which are local policy; and the wall clock. Each fails under one public name.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from lacec.bytecode.code import Code
from lacec.bytecode.order import Sizes
from lacec.core.errors import FactError, LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import FULL_VIEW, Origin, Reading
from lacec.core.predicates import ADVERTISEMENT_FACTS, RECORD_FACTS, RUNTIME_FACTS, Predicate
from lacec.engine import evaluation
from lacec.engine.evaluation import Evaluation, sizes_of
from lacec.pipeline import make_code
from lacec.plan.lower import (
    CAN_QUERY,
    MAY_REQUEST,
    MAY_SEND,
    OWN_VIEWER,
    VIEWER,
    SideProgram,
    scope_of,
)
from lacec.vm.arrays import members
from lacec.vm.database import Database
from lacec.vm.machine import Machine
from lacec.vm.relation import Ids, Relation
from lacec.vm.view import View

HAVE = Predicate("Have", 1)
OUTPUTS = (MAY_SEND, MAY_REQUEST)
# A record has about so many: its type, four fields of a Plex, two of a Seal, hashes, a link.
FACTS_OF_A_RECORD = 10
PUBLIC_FACTS = RUNTIME_FACTS.keys() | ADVERTISEMENT_FACTS.keys()
# The facts that an exchange supplies (D16a: the viewer comes from the plan).
PROFILE_FACTS = RECORD_FACTS.keys() | PUBLIC_FACTS


@dataclass(frozen=True)
class SideEvaluation:
    """What one side found over one snapshot."""

    program: SideProgram = field(repr=False)
    views: tuple[View, ...] = field(repr=False)
    main: Evaluation = field(repr=False)

    @property
    def may_send(self) -> list[str]:
        return self._records(self.main.relations[MAY_SEND].columns[0])

    @property
    def may_request(self) -> list[str]:
        return self._records(self.main.relations[MAY_REQUEST].columns[0])

    @property
    def can_query(self) -> list[str]:
        """The records that the rules of the peer may query."""
        database = self.main.database
        if self.program.policy.trust_peer:
            return self._records(database.relation(HAVE).columns[0])
        # An exposure may allow any text; a record is what has facts. Of a store, all have Have.
        found, rest = [], self.views[0].records
        for predicate in (HAVE, *RECORD_FACTS):
            if not len(rest):
                break
            has = members(rest, database.relation(predicate).columns[0])
            found += self._records(rest[has])
            rest = rest[~has]
        return sorted(found)

    def _records(self, ids: Ids) -> list[str]:
        return sorted(self.main.database.symbols.texts(ids))


def evaluate_side(
    program: SideProgram,
    database: Database,
    limits: Limits = DEFAULT_LIMITS,
    cancelled: Callable[[], bool] | None = None,
    outputs: Iterable[Predicate] = (),
) -> SideEvaluation:
    """Evaluate a side; further outputs may be asked for by their lowered names."""
    machine, views = side_machine(program, database, limits, cancelled, (*OUTPUTS, *outputs))
    main = Evaluation(database, machine.code, machine.run(), machine.profile)
    return SideEvaluation(program, views, main)


def side_machine(
    program: SideProgram,
    database: Database,
    limits: Limits,
    cancelled: Callable[[], bool] | None = None,
    outputs: tuple[Predicate, ...] = (),
) -> tuple[Machine, tuple[View, ...]]:
    """The machine that evaluates the main program, before it runs, and its views."""
    started = monotonic()
    check_program(program, limits)
    check_facts(database)
    facts = database.check_limits(limits)
    views = make_views(program, database, limits, cancelled, started)
    code = main_code(program, database, views, facts, limits, outputs)
    return Machine(code, database, limits, cancelled, views=views, started=started), views


def check_program(program: SideProgram, limits: Limits) -> None:
    """LimitError for a peer's operand with more rules than a peer may have (D12)."""
    scope = scope_of(program.peer)
    count = sum(rule.node.head.name.startswith(scope) for rule in program.main.rules)
    most = limits.of(Origin.PEER).rules
    if count > most:
        what = "rules of the peer's operand"
        raise LimitError("selector_rules", most, count, what, Origin.PEER)


def check_facts(database: Database) -> None:
    """FactError for facts that no exchange supplies."""
    check_predicates(database.predicates())


def check_predicates(predicates: Iterable[Predicate]) -> None:
    for predicate in predicates:
        if predicate not in PROFILE_FACTS:
            raise FactError(f"{predicate} is no fact of an exchange")


def make_views(
    program: SideProgram,
    database: Database,
    limits: Limits = DEFAULT_LIMITS,
    cancelled: Callable[[], bool] | None = None,
    started: float | None = None,
) -> tuple[View, ...]:
    """The views of the program; one that no exposure decides is empty."""
    symbols, given = database.symbols, given_viewers(program, database)
    gates = {rule.node.head.predicate for rule in program.gates.rules}
    asked = [view.gate for view in program.resolution.views if view.gate in gates]
    found = evaluation.evaluate(
        program.gates, database, asked, limits, cancelled, given=given, started=started
    )
    empty = Relation([symbols.intern_all([])] * CAN_QUERY.arity)
    views = []
    for view in program.resolution.views:
        allowed = found.relations.get(view.gate, empty)
        records = allowed.part([(0, symbols.intern(view.viewer))], ()).columns[1]
        views.append(View(records, database.universe()))
    return tuple(views)


def given_viewers(program: SideProgram, database: Database) -> dict[Predicate, Relation]:
    """The base facts that the gates have beside those of the database (D16a)."""
    return {
        predicate: Relation([database.symbols.intern_all([viewer])])
        for predicate, viewer in ((VIEWER, program.viewer), (OWN_VIEWER, program.own_viewer))
    }


def main_code(
    program: SideProgram,
    database: Database,
    views: tuple[View, ...],
    facts: int,
    limits: Limits,
    outputs: tuple[Predicate, ...],
) -> Code:
    """The code of the main program, verified; its joins are ordered by what each rule sees."""
    sizes = visible_sizes(program, database, views, facts)
    if sizes is None:
        return evaluation.code_of_text(program.main, outputs, limits, program.resolution)
    return make_code(program.main, outputs, sizes, program.resolution, limits)


def visible_sizes(
    program: SideProgram, database: Database, views: tuple[View, ...], facts: int
) -> Sizes | None:
    """Sizes where there are many facts: of those that the rules of a reading see."""
    many = {FULL_VIEW: facts >= evaluation.MANY_FACTS}
    for number, view in enumerate(views, 1):
        many[number] = visible_facts(database, view) >= evaluation.MANY_FACTS
    if not any(many.values()):
        return None
    sizes = sizes_of(program.main, database, views)

    def seen(
        predicate: Predicate, constants: tuple[tuple[int, str], ...], reading: Reading
    ) -> int | None:
        return sizes(predicate, constants, reading) if many[reading.view] else None

    return seen


def visible_facts(database: Database, view: View) -> int:
    """About how many facts rules see through a view, without reading more than Have."""
    records = view.count(database.relation(HAVE)) * FACTS_OF_A_RECORD
    return records + sum(database.relation(predicate).size for predicate in PUBLIC_FACTS)
