"""The base facts of one snapshot, encoded: symbols and a relation for each predicate."""

from collections.abc import Mapping, Sequence

from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import ADVERTISEMENT_FACTS, RUNTIME_FACTS, Predicate
from lacec.vm.kernels import concatenate, distinct
from lacec.vm.relation import Ids, Relation
from lacec.vm.symbols import Symbols

_RUNTIME = RUNTIME_FACTS.keys() | ADVERTISEMENT_FACTS.keys()


class Database:
    """Facts are added in bulk, and each predicate is made into a set once, when it is read."""

    def __init__(
        self,
        symbols: Symbols | None = None,
        relations: Mapping[Predicate, Relation] | None = None,
    ) -> None:
        """An empty database, or one that begins with sets of tuples over these symbols."""
        self.symbols = Symbols() if symbols is None else symbols
        self._added: dict[Predicate, list[Relation]] = {}
        self._relations: dict[Predicate, Relation] = dict(relations or {})
        self._absent: dict[Predicate, Relation] = {}  # empty, and no predicates of the database

    def add(self, predicate: Predicate, columns: Sequence[Ids], size: int | None = None) -> None:
        """Columns of ids of this database's symbols; equal rows are harmless."""
        relation = Relation(columns, size)
        self._absent.pop(predicate, None)
        if predicate in self._relations:
            self._added.setdefault(predicate, []).append(self._relations.pop(predicate))
        self._added.setdefault(predicate, []).append(relation)

    def add_set(self, predicate: Predicate, columns: Sequence[Ids]) -> None:
        """All facts of a predicate that has none yet; no two rows are equal."""
        assert predicate not in self._added
        assert predicate not in self._relations
        self._absent.pop(predicate, None)
        self._relations[predicate] = Relation(columns)

    def universe(self) -> int:
        """A number that ids stay below, which seldom changes, so that indexes stay valid."""
        return self.symbols.universe()

    def predicates(self) -> list[Predicate]:
        return sorted({*self._added, *self._relations})

    def relation(self, predicate: Predicate) -> Relation:
        """The tuples of a base predicate; none where no facts were added."""
        found = self._relations.get(predicate) or self._absent.get(predicate)
        if found is None:
            pieces = self._added.pop(predicate, [])
            found = distinct(concatenate(pieces, predicate.arity), self.universe())
            (self._relations if pieces else self._absent)[predicate] = found
        return found

    def replace(self, predicate: Predicate, relation: Relation) -> None:
        """Other tuples for a predicate, a set of them."""
        self._added.pop(predicate, None)
        self._absent.pop(predicate, None)
        self._relations[predicate] = relation

    def check_limits(self, limits: Limits) -> int:
        """How many facts there are. Base facts and runtime facts are limited apart (030 Limits)."""
        sizes = {predicate: self.relation(predicate).size for predicate in self.predicates()}
        return check_sizes(sizes, limits)

    def tuples(self, relation: Relation) -> list[tuple[str, ...]]:
        """The rows of a relation as text, in code point order."""
        if not relation.columns:
            return [()] * relation.size
        columns = [self.symbols.texts(column) for column in relation.columns]
        return sorted(zip(*columns, strict=True))


def check_sizes(sizes: Mapping[Predicate, int], limits: Limits) -> int:
    """How many facts that are in all; LimitError when they are too many."""
    runtime = sum(size for predicate, size in sizes.items() if predicate in _RUNTIME)
    base = sum(sizes.values()) - runtime
    if base > limits.base_facts:
        raise LimitError("base_facts", limits.base_facts, base, "base facts")
    if runtime > limits.runtime_facts:
        raise LimitError("runtime_facts", limits.runtime_facts, runtime, "runtime facts")
    return base + runtime
