"""A store against a dict: whatever is done to it, its facts are those of the records it has."""

import random
import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import lacec
from lacec.engine.evaluation import evaluate
from lacec.records.record import Record
from lacec.store import store as store_module
from lacec.store.snapshot import Snapshot
from lacec.store.store import Store
from lacec.vm.sources import TupleSource, load
from tests.store.samples import facts_in, facts_of, samples

MODULE = lacec.compile(
    "Ding(P,K) :- Have(P), Field(P,'App',_,'ding'), Field(P,'Name',_,K), "
    "TextShape(K,'links/','','').\n"
    "Same(P,Q) :- Field(P,'X',I,V), Field(Q,'X',I,V), P != Q, Field(P,'Group',_,'keys').\n"
    "Lonely(P) :- Have(P), not Linked(P).\n"
    "Linked(T) :- RecordLink(_,'+Link',_,'evidence',T).\n"
    "Reached(T) :- BlobHash(P,H), Linked(P), BlobHash(T,H), not PlexHash(T,P)."
)
some = st.lists(st.integers(0, len(samples()) - 1), max_size=9)


class StoreMachine(RuleBasedStateMachine):
    @initialize()
    def create(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store.create(self.folder / "store")
        self.model: dict[str, Record] = {}
        self.last = 0
        self.cursor: dict[int, str] = {}
        self.held: list[tuple[Snapshot, dict[str, Record]]] = []
        self.compactions = 0

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    @rule(numbers=some, many=st.booleans())
    def add(self, numbers: list[int], many: bool) -> None:
        """As bytes, or as records that are encoded at once."""
        records = [samples()[number] for number in numbers]
        before = store_module.MANY
        store_module.MANY = 2 if many else before
        try:
            added = self.store.add(records if many else [record.data for record in records])
        finally:
            store_module.MANY = before
        new = [record.hash for record in dict.fromkeys(records) if record.hash not in self.model]
        assert added.admitted == new
        assert sorted(added.known) == sorted(_without([r.hash for r in records], new))
        self.model.update((record.hash, record) for record in records)
        for hash in new:
            self.last += 1
            self.cursor[self.last] = hash

    @rule(numbers=some)
    def remove(self, numbers: list[int]) -> None:
        hashes = [samples()[number].hash for number in numbers]
        present = list(dict.fromkeys(hash for hash in hashes if hash in self.model))
        assert self.store.remove(hashes) == present
        for hash in present:
            del self.model[hash]
        self.cursor = {id: hash for id, hash in self.cursor.items() if hash not in present}

    @rule()
    def settle(self) -> None:
        self.store.settle()

    @rule()
    def compact(self) -> None:
        self.store.compact()
        assert self.store.stats().removed == 0

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.folder / "store")

    @rule()
    def hold(self) -> None:
        self.held.append((self.store.snapshot(), dict(self.model)))

    @rule(how=st.sampled_from(["flip", "truncate", "delete"]), seed=st.integers(0, 2**32))
    def damage(self, how: str, seed: int) -> None:
        """A segment is damaged while nobody has it open; its strings keep their ids."""
        self.store.settle()
        ids = _string_ids(self.store)
        self.store.close()
        self.held.clear()
        files = sorted((self.folder / "store" / "segments").iterdir())
        chosen = random.Random(seed)
        for path in chosen.sample(files, min(len(files), 1)):
            data = bytearray(path.read_bytes())
            at = chosen.randrange(len(data))
            if how == "flip":
                data[at] ^= 1 << chosen.randrange(8)
                path.write_bytes(data)
            elif how == "truncate":
                path.write_bytes(data[:at])
            else:
                path.unlink()
        self.store = Store.open(self.folder / "store")
        assert _string_ids(self.store) == ids

    @invariant()
    def facts_are_those_of_the_records(self) -> None:
        if not hasattr(self, "store"):
            return
        snapshot = self.store.snapshot()
        expected = facts_of(self.model.values())
        assert facts_in(snapshot) == expected
        assert self.store.last_id() == self.last
        assert {id: hash for id, hash, _ in self.store.after(0)} == self.cursor
        result = evaluate(MODULE, snapshot.database())
        wanted = evaluate(MODULE, load(TupleSource(expected)))
        for predicate in result.relations:
            assert result.facts(predicate) == wanted.facts(predicate)

    @invariant()
    def snapshots_stay_as_they_were(self) -> None:
        for snapshot, model in getattr(self, "held", []):
            assert facts_in(snapshot) == facts_of(model.values())

    @rule()
    def verify(self) -> None:
        problems = {problem.name for problem in self.store.verify()}
        assert problems <= {"damaged-segment"}  # a damaged file is rebuilt when it is read
        for record in samples():
            expected = record.data if record.hash in self.model else None
            assert self.store.get(record.hash) == expected
            assert self.store.has(record.hash) == (expected is not None)


def _without(hashes: list[str], new: list[str]) -> list[str]:
    """What is known of a list: all but the first of each new one."""
    left = list(hashes)
    for hash in new:
        left.remove(hash)
    return left


def _string_ids(store: Store) -> list[str]:
    database = store.snapshot().database()
    return [database.symbols.text(id) for id in range(len(database.symbols))]


TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=40,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
