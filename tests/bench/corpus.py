"""The facts of the benchmark: records of a lace, already encoded as numbers for every engine.

A record has a hash, seven fields, a seal's Plex, and one link to an earlier
record. The same arrays and the same texts go to each engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lacec.core.predicates import Predicate
from lacec.records import b64a
from lacec.vm.database import Database
from lacec.vm.text import PADDING

Ids = npt.NDArray[np.int32]

HAVE, FIELD = Predicate("Have", 1), Predicate("Field", 4)
LINK, EDGE = Predicate("RecordLink", 5), Predicate("Edge", 2)
RECENT = Predicate("Recent", 1)
CANDIDATES = 20_000
FIELDS = ("Type", "Group", "App", "Name", "TAI", "Signed-By", "Data-Length")


@dataclass(frozen=True)
class Corpus:
    records: int
    texts: list[str]
    facts: dict[Predicate, list[Ids]]

    def id(self, text: str) -> int:
        return self.texts.index(text)

    def database(self) -> Database:
        """The facts as ours: symbols in bulk, columns as they are."""
        database = Database()
        encoded = [text.encode() for text in self.texts]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        data = np.frombuffer(b"\n".join(encoded) + bytes(PADDING + 1), np.uint8)
        starts = np.cumsum(lengths + 1) - lengths - 1
        ids = database.symbols.intern_slices(data, starts, starts + lengths)
        assert ids[-1] == len(self.texts) - 1
        for predicate, columns in self.facts.items():
            database.add(predicate, columns)
        return database

    def field(self, name: str) -> tuple[Ids, Ids]:
        """The records and values of one field."""
        record, names, _, value = self.facts[FIELD]
        rows = names == self.id(name)
        return record[rows], value[rows]


class _Texts:
    def __init__(self) -> None:
        self.all: list[str] = []
        self.known: dict[str, int] = {}

    def fresh(self, texts: Sequence[str]) -> Ids:
        """Ids for texts that are all new."""
        first = len(self.all)
        self.all.extend(texts)
        return np.arange(first, len(self.all), dtype=np.int32)

    def one(self, text: str) -> int:
        if text not in self.known:
            self.known[text] = len(self.all)
            self.all.append(text)
        return self.known[text]

    def some(self, texts: Sequence[str]) -> Ids:
        return np.array([self.one(text) for text in texts], np.int32)


def make_corpus(records: int, seed: int = 20) -> Corpus:
    """A lace of that many records; the same seed gives the same facts."""
    random = np.random.default_rng(seed)
    texts = _Texts()
    constants = texts.some([*FIELDS, "S", "0", "+Link", "evidence", "see"])
    names, zero = constants[: len(FIELDS)], int(constants[len(FIELDS) + 1])
    hashes = random.bytes(32 * records)
    record = texts.fresh(
        [f"S.{b64a.encode(hashes[i : i + 32])}.H3" for i in range(0, len(hashes), 32)]
    )
    people = texts.some([f"V.{b64a.encode(random.bytes(32))}.H3" for _ in range(1000)])
    groups = texts.some(["u", "keys", *(f"group{i}" for i in range(8))])
    apps = texts.some(["ding", "member", "blocked", "notes"])
    group = random.choice(10, records, p=[0.5, 0.02, *[0.06] * 8])
    app = np.where(group == 1, random.integers(1, 3, records), random.choice([0, 3], records))
    kinds = random.choice(["links/", "notes/", "files/"], records, p=[0.5, 0.3, 0.2])
    name = texts.fresh([f"{kind}{number:x}" for number, kind in enumerate(kinds.tolist())])
    member = people[random.integers(0, 700, records)]
    blocked = people[random.integers(650, 700, records)]
    name = np.where(group == 1, np.where(app == 1, member, blocked), name).astype(np.int32)
    seconds = 1_640_995_200 + random.permutation(records)
    tai = texts.fresh([f"{second}:{second % 997:09d}" for second in seconds.tolist()])
    signer = people[random.integers(0, 1000, records)]
    sizes = texts.some([str(size) for size in range(2000)])
    length = sizes[random.integers(0, 2000, records)]
    kind = np.full(records, texts.one("S"), np.int32)
    values = [kind, groups[group], apps[app], name, tai, signer, length]
    link, evidence, see = (texts.one(text) for text in ("+Link", "evidence", "see"))
    back = np.arange(records) - 1 - (random.random(records) ** 3 * records / 30).astype(int)
    why = np.where(random.random(records) < 0.5, evidence, see).astype(np.int32)
    filled = np.full(records, zero, np.int32)
    facts = {
        HAVE: [record],
        RECENT: [record[:CANDIDATES]],
        FIELD: [
            np.repeat(record, len(FIELDS)),
            np.tile(names, records),
            np.full(len(FIELDS) * records, zero, np.int32),
            np.stack(values, axis=1).reshape(-1).astype(np.int32),
        ],
        Predicate("PlexHash", 2): [record, record[random.permutation(records)]],
        LINK: [
            record,
            np.full(records, link, np.int32),
            filled,
            why,
            record[np.maximum(back, 0)],
        ],
        EDGE: make_edges(texts, random),
    }
    return Corpus(records, texts.all, facts)


def make_edges(texts: _Texts, random: np.random.Generator) -> list[Ids]:
    """A graph without cycles whose closure has about 210,000 pairs and takes 60 rounds."""
    nodes = texts.some([f"node{i}" for i in range(760)])
    start = np.repeat(np.arange(759), 2)
    step = np.where(np.arange(len(start)) % 2, random.integers(1, 16, len(start)), 1 + start % 12)
    end = np.minimum(start + step, 759)
    pairs = np.unique(start * 1000 + end)
    return [nodes[pairs // 1000], nodes[pairs % 1000]]
