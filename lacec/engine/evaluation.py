"""Evaluation of a module over facts: emit, verify, run.

In: a module and a database. Out: the relations of the outputs, as text when
asked. Small inputs run code that was ordered from the rule text alone; for large
ones the code is emitted again from the sizes of the facts, which then pays.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lacec.bytecode.code import Code
from lacec.bytecode.order import Sizes
from lacec.canonical.module import Module
from lacec.core.errors import FactError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import FULL_VIEW, PLAIN, Reading, Resolution
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.pipeline import make_code
from lacec.vm.database import Database
from lacec.vm.machine import Machine, Profile
from lacec.vm.relation import Relation
from lacec.vm.view import View, Viewed

# From this many facts on, ordering joins by their sizes costs less than it saves.
MANY_FACTS = 20_000


@dataclass(frozen=True)
class Evaluation:
    """The outputs of one evaluation, and what each rule cost."""

    database: Database = field(repr=False)
    code: Code = field(repr=False)
    relations: dict[Predicate, Relation] = field(repr=False)
    profile: dict[int, Profile] = field(repr=False)

    def count(self, predicate: Predicate) -> int:
        return self.relations[predicate].size

    def facts(self, predicate: Predicate) -> list[tuple[str, ...]]:
        """The tuples of an output, in code point order."""
        return self.database.tuples(self.relations[predicate])


def evaluate(
    module: Module,
    database: Database,
    outputs: Iterable[Predicate] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancelled: Callable[[], bool] | None = None,
    *,
    given: Mapping[Predicate, Relation] | None = None,
    started: float | None = None,
) -> Evaluation:
    """Evaluate a module; LimitError without a result when a limit would be exceeded.

    `given` are base facts beside those of the database; the clock runs from `started`.
    """
    machine = machine_of(module, database, outputs, limits, cancelled, given=given, started=started)
    return Evaluation(database, machine.code, machine.run(), machine.profile)


def machine_of(
    module: Module,
    database: Database,
    outputs: Iterable[Predicate] | None,
    limits: Limits,
    cancelled: Callable[[], bool] | None = None,
    *,
    given: Mapping[Predicate, Relation] | None = None,
    started: float | None = None,
) -> Machine:
    """The machine that evaluates a module, before it runs."""
    facts = database.check_limits(limits)
    wanted = None if outputs is None else tuple(outputs)
    if facts < MANY_FACTS:
        code = code_of_text(module, wanted, limits)
    else:
        code = make_code(module, wanted, sizes_of(module, database), limits=limits)
    return Machine(code, database, limits, cancelled, given=given, started=started)


def check_given(module: Module, predicates: Iterable[Predicate]) -> None:
    """FactError for facts of a predicate that rules derive: nobody may give them."""
    derived = {predicate for group in module.groups for predicate in group}
    for predicate in predicates:
        if predicate in derived:
            raise FactError(f"{predicate} is derived by rules, so it cannot be given as a fact")


def check_outputs(module: Module, outputs: Iterable[Predicate] | None) -> None:
    """ValueError for an output that no rule derives."""
    derived = {predicate for group in module.groups for predicate in group}
    for predicate in outputs or ():
        if predicate not in derived:
            listed = ", ".join(str(known) for known in sorted(derived)) or "none"
            raise ValueError(f"no rule derives {predicate}; derived are: {listed}")


@lru_cache(maxsize=16)
def code_of_text(
    module: Module,
    outputs: tuple[Predicate, ...] | None,
    limits: Limits,
    resolution: Resolution = PLAIN,
) -> Code:
    """Code ordered from the rule text alone, kept: a policy often meets small inputs again."""
    return make_code(module, outputs, None, resolution, limits)


def sizes_of(module: Module, database: Database, views: Sequence[View] = ()) -> Sizes:
    """The sizes of base facts, as rules with a given reading see them."""
    derived = {predicate for group in module.groups for predicate in group}

    def sizes(
        predicate: Predicate, constants: tuple[tuple[int, str], ...], reading: Reading
    ) -> int | None:
        if predicate in derived or predicate.name.startswith("+"):
            return None
        relation = database.relation(predicate)
        if reading.view != FULL_VIEW and predicate in RECORD_FACTS:
            relation = Viewed(relation, views[reading.view - 1])
        ids = [(column, database.symbols.find(value)) for column, value in constants]
        return 0 if any(id < 0 for _, id in ids) else relation.part(ids, ()).size

    return sizes
