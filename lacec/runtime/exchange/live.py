"""Live links: what an open exchange has evaluated, changed as records and claims come and go.

In: moments of a store, runtime facts, and what a peer advertises. Out: what may be sent and
requested, the same as a full evaluation finds, at the cost of what changed. The links of a
store share its record facts, which change once for all; each has the facts of its own peer.

A link turns live when little has changed since its last evaluation, so that a first
exchange does not pay for what it may never use. When much has changed, a limit is met, or
what changed is not known, it is live no more, and all is evaluated. So a link can be
dropped at any time, and is: when it was not used for long, or too many are live.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import NamedTuple

from lacec.core.errors import FactError, LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.engine.live import LiveSide
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, SideProgram
from lacec.records.facts import HAVE
from lacec.runtime.exchange.advertisement_columns import (
    ADVERTISED,
    ADVERTISED_FIELD,
    HashSet,
    columns_of,
    flattened,
)
from lacec.runtime.interlace.advertisements import Altered, Claims, alteration
from lacec.runtime.interlace.events import Evaluated
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.hashes import Grounded, are_few
from lacec.store.protocol import Moment, Rows, Shelf
from lacec.vm.arrays import members
from lacec.vm.database import Database
from lacec.vm.live.live_facts import Base, Changes
from lacec.vm.sources import add_rows

# More records, or advertisements, than these are not little.
MOST_RECORDS = 1024
MOST_CLAIMS = 1024
# Links that are live at once; changes, and facts in them, kept for links that were not told yet.
MOST_LINKS = 64
MOST_CHANGES = 1024
MOST_FACTS = 2**17
# Values that facts no longer have stay in memory until there are as many as others, and these.
SPARE_VALUES = 2**16

# The values of a store are checked by each link, with its own limits.
_NO_LIMIT = replace(DEFAULT_LIMITS, value_bytes=2**62)


class LiveStore:
    """The record facts of one store, and the links that are live on them."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.lock = Lock()  # a link is evaluated in any thread, but one at a time
        self.base: Base | None = None
        self.count = 0  # of changes, ever
        self._moment: Moment | None = None
        self._changes: deque[tuple[int, Changes]] = deque()  # with how many facts each has
        self._facts = 0
        self._values = 0  # when the base was made
        self._links: dict[LiveLink, int] = {}  # the last one used last; the values of each

    def bring_to(self, moment: Moment) -> Base:
        """The record facts of a moment, all or what changed of them."""
        base = self.base
        if base is None or self._moment is None or self._is_bloated(base):
            return self._renew(moment)
        if moment is self._moment:
            return base
        change = self.shelf.changes(self._moment, moment, MOST_RECORDS)
        if change is None:
            return self._renew(moment)
        made = base.apply(change.added, change.removed, _NO_LIMIT)
        size = sum(len(each.added) + len(each.removed) for each in made.values())
        self._changes.append((size, made))
        self._facts += size
        while len(self._changes) > MOST_CHANGES or self._facts > MOST_FACTS:
            self._facts -= self._changes.popleft()[0]
        self.count += 1
        self._moment = moment
        return base

    def _renew(self, moment: Moment) -> Base:
        self.base = Base(moment.database(_NO_LIMIT), RECORD_FACTS)
        self._moment, self._facts = moment, 0
        self._changes.clear()
        self._values = len(self.base.symbols)
        return self.base

    def _is_bloated(self, base: Base) -> bool:
        needed = self._values + sum(self._links.values())
        return len(base.symbols) > 2 * needed + SPARE_VALUES

    def missed(self, since: int) -> list[Changes] | None:
        """The changes after so many; None if they are not kept."""
        count = self.count - since
        if count > len(self._changes):
            return None
        return [made for _, made in islice(self._changes, len(self._changes) - count, None)]

    def used(self, link: "LiveLink", values: int) -> None:
        """A link is live, and its own facts brought so many values."""
        self._links[link] = self._links.pop(link, 0) + values
        if len(self._links) > MOST_LINKS:
            next(iter(self._links)).drop()

    def dropped(self, link: "LiveLink") -> None:
        self._links.pop(link, None)
        if not self._links:
            self.base = self._moment = None
            self._changes.clear()

    def is_near(self, before: Moment, now: Moment) -> bool:
        """Whether little has changed between two moments."""
        return before is now or self.shelf.changes(before, now, MOST_RECORDS) is not None


class Given(NamedTuple):
    """What a side is evaluated over."""

    program: SideProgram
    moment: Moment
    runtime: Sequence[Fact]
    claims: Claims


@dataclass
class _State:
    """What a live link has found, over which facts, after how many changes of the store."""

    given: Given
    shared: Base
    own: Base
    side: LiveSide
    found: dict[Predicate, Grounded]
    count: int


class LiveLink:
    """One side of one link."""

    def __init__(
        self, store: LiveStore, limits: Limits, cancelled: Callable[[], bool] | None = None
    ) -> None:
        self._store, self._limits, self._cancelled = store, limits, cancelled
        self._last: Given | None = None
        self._failures = self._waits = 0  # to begin, and evaluations until the next try
        self._state: _State | None = None

    @property
    def is_live(self) -> bool:
        return self._state is not None

    def drop(self) -> None:
        """Forget what was found; it is found again when it is needed."""
        self._state = None
        self._store.dropped(self)

    def close(self) -> None:
        """The link has ended."""
        with self._store.lock:
            self.drop()

    def evaluate(self, given: Given) -> Evaluated | None:
        """What a full evaluation finds; None if there has to be one."""
        with self._store.lock:
            last, self._last = self._last, given
            try:
                state = self._changed(given) or self._begun(given, last)
            except (LimitError, FactError):
                state = None  # a full evaluation decides
            except BaseException:
                self.drop()
                raise
            if state is None:
                self.drop()
                return None
            self._state = state
            send, request = state.found[MAY_SEND], state.found[MAY_REQUEST]
            return Evaluated(send, request, given.moment.last)

    def _begun(self, given: Given, last: Given | None) -> _State | None:
        """A state from nothing, if little has changed since the last evaluation."""
        if last is None or last.program is not given.program:
            self._failures = self._waits = 0
            return None
        if self._waits:
            self._waits -= 1
            return None
        if _little(last.claims, given.claims) is None:
            return None
        if not self._store.is_near(last.moment, given.moment):
            return None
        # If it meets a limit, it is not tried each time.
        self._failures, self._waits = self._failures + 1, 2 ** min(self._failures, 10)
        self._store.used(self, 0)
        shared = self._store.bring_to(given.moment)
        given.moment.check_values(self._limits)
        values = len(shared.symbols)
        facts = Database(shared.symbols)
        for name, *row in given.runtime:
            add_rows(facts, Predicate(name, len(row)), [row], self._limits)
        columns_of(given.claims, self._limits).add_to(facts, self._limits)
        own = Base(facts)
        side = LiveSide(given.program, [shared, own], self._limits, self._cancelled)
        self._store.used(self, len(shared.symbols) - values)
        self._failures = self._waits = 0
        found: dict[Predicate, Grounded] = {
            output: _whole(side, shared, output) for output in (MAY_SEND, MAY_REQUEST)
        }
        return _State(given, shared, own, side, found, self._store.count)

    def _changed(self, given: Given) -> _State | None:
        """The state after what has changed, if that is known and little."""
        state = self._state
        if state is None or state.given.program is not given.program:
            return None
        altered = _little(state.given.claims, given.claims)
        shared = self._store.bring_to(given.moment)
        missed = self._store.missed(state.count)
        if altered is None or missed is None or shared is not state.shared:
            return None
        given.moment.check_values(self._limits)
        added, removed = _own_rows(state, given, altered)
        own = state.own.apply(added, removed, self._limits)
        changes = [*missed, *([own] if own else [])]
        if changes:
            found = state.side.apply(*changes)
            _update(state, found, changes)
        state.given, state.count = given, self._store.count
        self._store.used(self, 0)
        return state


def _little(old: Claims, new: Claims) -> Altered | None:
    found = alteration(old, new)
    if found is None or len(found.gone) + len(found.come) > MOST_CLAIMS:
        return None
    return found


def _own_rows(state: _State, given: Given, altered: Altered) -> tuple[Rows, Rows]:
    """The facts of a link that come and go: advertisements and runtime facts."""
    added: Rows = {}
    removed: Rows = {}
    for hash in altered.gone:
        for predicate, rows in state.own.facts_of(hash, (ADVERTISED, ADVERTISED_FIELD)).items():
            removed.setdefault(predicate, []).extend(rows)
    old, new = set(state.given.runtime), set(given.runtime)
    come = [fact for record in altered.come for fact in record.facts()]
    for into, facts in ((removed, old - new), (added, [*(new - old), *come])):
        for name, *values in facts:
            into.setdefault(Predicate(name, len(values)), []).append(tuple(values))
    return added, removed


def _whole(side: LiveSide, shared: Base, output: Predicate) -> HashSet:
    """MaySend and Have, or MayRequest and not Have."""
    have = shared.relation(HAVE).snapshot().columns[0]
    ids = side.relation(output).columns[0]
    return HashSet(shared.symbols, ids[members(ids, have) == (output == MAY_SEND)])


def _update(state: _State, found: Changes, facts: Iterable[Changes]) -> None:
    """Bring what may be sent and requested up to date."""
    having = [each[HAVE] for each in facts if HAVE in each]
    have = state.shared.relation(HAVE)
    for output, old in state.found.items():
        changes = (*having, *([found[output]] if output in found else []))
        touched = {row for each in changes for row in (*each.added, *each.removed)}
        added: list[str] = []
        removed: list[str] = []
        for row in touched:
            hash = state.shared.symbols.text(row[0])
            here = state.side.holds(output, row) and (row in have) == (output == MAY_SEND)
            if here != (hash in old):
                (added if here else removed).append(hash)
        if added or removed:
            new = old.changed(added, removed)
            few = are_few(len(new.gone) + len(new.more), len(new.ground.hashes))
            state.found[output] = new if few else flattened(new)
