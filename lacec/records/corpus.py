"""A corpus: valid records made from a seed, for examples, tests and measurements.

In: a seed and a few numbers. Out: an iterator over records, the same bytes for the same
arguments everywhere. It keeps a window of hashes to link to, and so needs no memory for a
million records.

First come the keys: a Seal in the group `keys`, app `member`, for each member, named by
its verifier, and one in the app `blocked` for each blocked member; a key of its own, the
authority's, signs them. Then members write links (app `ding`) and notes (app `notes`)
into groups, with headers that repeat, text in several scripts, and links to what came
before, a few of them broken.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from blake3 import blake3

from lacec.records.record import Record, build_blob, build_plex, build_seal
from lacec.records.signature import Secret
from lacec.records.tai import write_tai

T = TypeVar("T")

START = 1640995200
WINDOW = 1024

_GROUPS = ("u", "team/red", "team/blue", "überall")
_WORDS = (
    *("river", "lamp", "seven", "north", "paper", "quiet", "orbit", "copper", "garden", "late"),
    *("Straße", "naïve", "køb", "žába", "вода", "ψυχή", "水", "山道", "नमस्ते", "🌱"),
)
_LINK_NAMES = ("+Link", "+Link", "Reply+Link", "Chunk+Link")
_LINK_DATA = ("evidence", "see also", "0..512")


def corpus(
    records: int,
    *,
    seed: int = 0,
    groups: int = 4,
    members: int = 8,
    blocked: int = 2,
    seals: float = 0.6,
    plexes: float = 0.3,
) -> Iterator[Record]:
    """Valid records made from a seed: keys of members, then what they write into groups.

    The same arguments give the same bytes. After the keys, these shares are Seals and
    Plexes, the rest Blobs; the last `blocked` of the members are blocked. Nothing is kept,
    so a million records need no memory. Signing is what takes most of the time.
    """
    if records < 0 or groups < 1 or members < 1 or not 0 <= blocked <= members:
        raise ValueError("a corpus has groups and members, and blocks some of the members")
    if not (seals >= 0 and plexes >= 0 and seals + plexes <= 1):
        raise ValueError("seals and plexes are shares, and together at most 1")
    return _Corpus(seed, groups, members, blocked).make(records, seals, plexes)


class _Corpus:
    def __init__(self, seed: int, groups: int, members: int, blocked: int) -> None:
        self._seed = seed
        self._random = Random(seed)
        self._authority = Secret(self._bytes("authority"))
        self._members = [Secret(self._bytes(f"member {number}")) for number in range(members)]
        self._blocked = self._members[members - blocked :]
        self._groups = [*_GROUPS[:groups], *(f"group/{n}" for n in range(len(_GROUPS), groups))]
        self._recent: deque[str] = deque(maxlen=WINDOW)
        self._made = 0
        self._seconds = START

    def make(self, records: int, seals: float, plexes: float) -> Iterator[Record]:
        keys = self._keys()
        while self._made < records:
            record = next(keys, None) or self._content(seals, plexes)
            self._made += 1
            self._recent.append(record.hash)
            yield record

    def _keys(self) -> Iterator[Record]:
        for app, secrets in (("member", self._members), ("blocked", self._blocked)):
            for secret in secrets:
                plex = build_plex("keys", app, secret.verifier, self._time(), [], b"")
                yield self._seal(plex, self._authority)

    def _content(self, seals: float, plexes: float) -> Record:
        share = self._random.random()
        data = self._data()
        if share >= seals + plexes:
            # Nothing is written once only: all records are different.
            return build_blob(data or f"{self._made}".encode())
        plex = build_plex(
            self._pick(self._groups), *self._place(), self._time(), self._extras(), data
        )
        return self._seal(plex, self._pick(self._members)) if share < seals else plex

    def _seal(self, plex: Record, secret: Secret) -> Record:
        return build_seal(plex, secret, self._bytes(f"aux {self._made}"))

    def _place(self) -> tuple[str, str]:
        """An app and a name in it; names are written again now and then."""
        number = self._below(2 * self._made + 1)
        if self._below(3):
            return "ding", f"links/{self._pick(_WORDS)}/{number}"
        return "notes", f"{self._pick(_WORDS)}-{number}"

    def _extras(self) -> list[tuple[str, str]]:
        extras = [("Note", self._text(6)) for _ in range(self._below(4))]
        extras += [("Topic", self._pick(_WORDS)) for _ in range(self._below(3))]
        if self._recent:
            extras += [self._link() for _ in range(self._below(3))]
        return extras

    def _link(self) -> tuple[str, str]:
        name = self._pick(_LINK_NAMES)
        if self._below(50) == 0:
            return name, "nowhere at all"
        return name, f"{self._pick(_LINK_DATA)} {self._pick(self._recent)}"

    def _data(self) -> bytes:
        """Mostly text, each its own; sometimes bytes that are no text, sometimes nothing."""
        kind = self._below(20)
        if kind == 0:
            return b""
        if kind == 1:
            return self._bytes(f"data {self._made}")
        return f"{self._made}: {self._text(30)}\n".encode()

    def _text(self, most: int) -> str:
        return " ".join(self._pick(_WORDS) for _ in range(1 + self._below(most)))

    def _time(self) -> str:
        self._seconds += self._below(600)
        return write_tai(self._seconds, self._below(10**9))

    # Only `random` itself is promised to give the same numbers in every version of Python.

    def _below(self, number: int) -> int:
        return int(self._random.random() * number)

    def _pick(self, choices: Sequence[T]) -> T:
        return choices[self._below(len(choices))]

    def _bytes(self, what: str) -> bytes:
        return blake3(f"corpus {self._seed} {what}".encode()).digest()
