"""The answers to the questions of a machine, as facts and back.

An evaluation is written as its difference to the one before. Of records that were loaded
only hashes and sizes are written: the bytes stand where the peer hears them. An answer that
was read is checked against its question, because a machine trusts its answers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lacec.records.limits import DEFAULT_RECORD_LIMITS
from lacec.records.links import is_typed_hash
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisement import Advertisement, Schema
from lacec.runtime.interlace.advertisements import claims_of
from lacec.runtime.interlace.codec import Reading, read_message
from lacec.runtime.interlace.facts import OFFER, Fact, write_block
from lacec.runtime.interlace.messages import Offer
from lacec.runtime.interlace.reasons import Abort

NOTHING = e.Evaluated(frozenset(), frozenset(), 0)
_MOST_BYTES = DEFAULT_RECORD_LIMITS.blob_bytes + DEFAULT_RECORD_LIMITS.head_bytes

# What may be answered to what, by name.
ANSWERS: Mapping[type, tuple[str, ...]] = {
    e.Compile: ("Compiled", "NotCompiled"),
    e.Prove: ("Proof",),
    e.CheckProof: ("ProofChecked",),
    e.Recall: ("Recalled",),
    e.Remember: ("Remembered",),
    e.Evaluate: ("Evaluated", "NotEvaluated"),
    e.Describe: ("Described",),
    e.Load: ("Loaded", "NotEvaluated"),
    e.Store: ("Stored", "NotStored"),
}
PREDICATES: Mapping[str, int] = {
    "Plan": 1,
    "Labels": 2,
    "Field": 1,
    "AllFields": 0,
    "Reason": 1,
    "Yes": 0,
    "Signature": 1,
    "Send": 1,
    "NoSend": 1,
    "Request": 1,
    "NoRequest": 1,
    "Cursor": 1,
    "Loaded": 2,
    "NotLoaded": 1,
    "New": 1,
    **OFFER,
}


class BadAnswerError(Exception):
    """Facts that are no answer to the question."""


class Absent(bytes):
    """The bytes of a record that are not at hand: only how many there are."""

    size: int

    def __new__(cls, size: int) -> "Absent":
        made = super().__new__(cls)
        made.size = size
        return made

    def __len__(self) -> int:
        return self.size


def answer_facts(answer: e.Answer, before: e.Evaluated) -> Iterator[Fact]:
    """`before` is the last evaluation of the side."""
    match answer:
        case e.Compiled(plan, labels, required):
            yield "Plan", plan
            yield "Labels", *labels
            yield from _schema_facts(required)
        case e.NotCompiled(reason):
            yield "Reason", reason
        case e.Proof(proven, signature):
            yield from [("Yes",)] if proven else []
            yield from [] if signature is None else [("Signature", signature)]
        case e.ProofChecked(yes) | e.Remembered(yes):
            yield from [("Yes",)] if yes else []
        case e.Recalled(cursor):
            if cursor is not None:
                yield ("Yes",)
                yield from _schema_facts(cursor.schema)
                yield from _records(cursor.records.values())
        case e.Evaluated():
            yield "Cursor", str(answer.cursor)
            for name, old, new in (
                ("Send", before.send, answer.send),
                ("Request", before.request, answer.request),
            ):
                yield from ((f"No{name}", hash) for hash in sorted(old - new))
                yield from ((name, hash) for hash in sorted(new - old))
        case e.Described(records):
            yield from _records(records)
        case e.Loaded(loaded):
            for hash, data in loaded:
                yield ("NotLoaded", hash) if data is None else ("Loaded", hash, str(len(data)))
        case e.Stored(new):
            yield from (("New", hash) for hash in sorted(new))
        case e.NotEvaluated() | e.NotStored():
            pass


def _schema_facts(schema: Schema) -> Iterator[Fact]:
    yield from (("Field", name) for name in sorted(schema.names))
    yield from [("AllFields",)] if schema.every else []


def _records(records: Iterable[Advertisement]) -> Iterator[Fact]:
    for record in records:
        yield from record.facts()


class _Read:
    """The facts of an answer, by name."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = list(facts)

    def all(self, name: str) -> list[tuple[str, ...]]:
        return [fact[1:] for fact in self.facts if fact[0] == name]

    def one(self, name: str) -> tuple[str, ...]:
        found = self.all(name)
        if len(found) != 1:
            raise BadAnswerError(f"it has {len(found)} facts {name}")
        return found[0]

    def hashes(self, name: str) -> frozenset[str]:
        found = frozenset(hash for (hash,) in self.all(name))
        if not all(map(is_typed_hash, found)):
            raise BadAnswerError("a hash is not a typed hash text")
        return found

    @property
    def yes(self) -> bool:
        return bool(self.all("Yes"))

    def schema(self) -> Schema:
        return Schema(frozenset(name for (name,) in self.all("Field")), bool(self.all("AllFields")))

    def records(self) -> Sequence[Advertisement]:
        lines = write_block(fact for fact in self.facts if fact[0] in OFFER)
        try:
            offer = read_message(Reading.OFFER, lines)
        except Abort as abort:
            raise BadAnswerError(abort.detail) from None
        assert isinstance(offer, Offer)
        return offer.records


def read_number(text: str) -> int:
    """A decimal that fits."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 20):
        raise BadAnswerError(f"{text[:40]!r} is not a number")
    return int(text)


def read_answer(
    kind: str, facts: Iterable[Fact], question: e.Question, before: e.Evaluated
) -> e.Answer:
    """The answer of this kind, which is one to the question."""
    found = _Read(facts)
    match kind, question:
        case "Compiled", _:
            first, last = found.one("Labels")
            return e.Compiled(found.one("Plan")[0], (first, last), found.schema())
        case "NotCompiled", _:
            (reason,) = found.one("Reason")
            if reason not in e.COMPILE_REASONS:
                raise BadAnswerError("there is no such reason")
            return e.NotCompiled(reason)
        case "Proof", _:
            return e.Proof(found.yes, found.one("Signature")[0] if found.all("Signature") else None)
        case "ProofChecked", _:
            return e.ProofChecked(found.yes)
        case "Remembered", _:
            return e.Remembered(found.yes)
        case "Recalled", _:
            records = claims_of(found.records())
            return e.Recalled(e.Cursor(found.schema(), records) if found.yes else None)
        case "Evaluated", _:
            return _read_evaluated(found, before)
        case "Described", e.Describe(hashes, source, _):
            described = found.records()
            if not {record.hash for record in described} <= set(hashes) or any(
                record.source != source for record in described
            ):
                raise BadAnswerError("it describes what was not asked for")
            return e.Described(described)
        case "Loaded", e.Load(hashes):
            return _read_loaded(found, hashes)
        case "Stored", e.Store(stored):
            new = found.hashes("New")
            if not new <= {record.hash for record in stored}:
                raise BadAnswerError("it stores what was not given")
            return e.Stored(new)
        case "NotStored", _:
            return e.NotStored()
        case _:
            return e.NotEvaluated()


def _read_evaluated(found: _Read, before: e.Evaluated) -> e.Evaluated:
    sets = []
    for name, old in (("Send", before.send), ("Request", before.request)):
        less, more = found.hashes(f"No{name}"), found.hashes(name)
        if not less <= old or more & old:
            raise BadAnswerError("it is no difference to the evaluation before")
        sets.append(old - less | more)
    return e.Evaluated(sets[0], sets[1], read_number(*found.one("Cursor")))


def _read_loaded(found: _Read, hashes: Sequence[str]) -> e.Loaded:
    loaded = []
    for name, hash, *size in found.facts:
        count = read_number(size[0]) if name == "Loaded" else None
        if count is not None and count > _MOST_BYTES:
            raise BadAnswerError(f"no record has {count} bytes")
        loaded.append(e.LoadedRecord(hash, None if count is None else Absent(count)))
    given = tuple(record.hash for record in loaded)
    if not given or given != tuple(hashes[: len(given)]):
        raise BadAnswerError("it loads what was not asked for")
    return e.Loaded(tuple(loaded))
