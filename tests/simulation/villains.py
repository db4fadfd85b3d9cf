"""Hostile peers: an ordinary end of a connection that breaks the rules in one way each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from lacec.records import b64a
from lacec.records.record import Record
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.machine import MisuseError
from lacec.runtime.interlace.state import State
from tests.simulation.invariants import Witness
from tests.simulation.policies import library
from tests.simulation.world import End

Said = list[m.Message | bytes]


class Unwatched(Witness):
    """Nobody checks what a villain does: it is the other side that must hold."""

    def note(self, _: e.Question, answer: e.Answer) -> e.Answer:
        return answer

    def before(self, _: e.Event) -> None:
        pass

    def after(self, _: Sequence[e.Effect]) -> None:
        pass


class Villain(End):
    """What it says and answers goes through its trick first."""

    watched_by = Unwatched
    trick = "none"
    said = 0
    lies: frozenset[str] = frozenset()

    def tell(self, event: e.Event) -> None:
        try:
            super().tell(event)
        except MisuseError:
            self.vanish()  # tripped over its own lies

    def carry_out(self, effect: e.Effect) -> None:
        if not isinstance(effect, e.Send):
            super().carry_out(effect)
            return
        self.said += 1
        for message in TRICKS[self.trick](self, effect.message):
            data = message if isinstance(message, bytes) else self.writer.write(message)
            if self.trick == "trickle":
                self._trickle(data)
            else:
                self.say(data)

    def _trickle(self, data: bytes) -> None:
        for n in range(len(data)):
            self.world.after(
                (n + 1) * 20 * SECOND,
                partial(self.say, data[n : n + 1]),
            )

    def _answer(self, question: e.Question) -> None:
        if not self._gone:
            self.tell(self._lie(question, self.side.answer(question)))

    def _lie(self, question: e.Question, answer: e.Answer) -> e.Answer:
        random = self.world.random
        match answer:
            case e.Evaluated() if self.trick in ("lies", "flood", "wrong-bytes", "garbage-bytes"):
                if self.trick == "flood" or not self.lies:
                    self.lies |= {_made_up(random.randbytes(32)) for _ in range(5)}
                return replace(answer, send=answer.send | self.lies)
            case e.Described(records) if isinstance(question, e.Describe):
                made_up = [
                    _claim(hash, question.source, random.choice(library()), question)
                    for hash in question.hashes
                    if hash in self.lies
                ]
                return e.Described((*records, *made_up))
            case e.Loaded(records) if self.trick == "deny":
                return e.Loaded(tuple(e.LoadedRecord(r.hash, None) for r in records))
            case e.Loaded(records) if self.lies:
                return e.Loaded(
                    tuple(
                        e.LoadedRecord(r.hash, r.data or self._bytes_for(r.hash)) for r in records
                    )
                )
        return answer

    def _bytes_for(self, hash: str) -> bytes | None:
        record = self.world.random.choice(library())
        if self.trick == "wrong-bytes":
            return record.data.replace(record.hash.encode(), f"{record.type}{hash[1:]}".encode())
        if self.trick == "garbage-bytes":
            return b"\xf0\x9f\x96\xa7: " + self.world.random.randbytes(200)
        return None


def _made_up(digest: bytes) -> str:
    return f"P.{b64a.encode(digest)}.H3"


def _claim(hash: str, source: str, like: Record, question: e.Describe) -> Advertisement:
    fields = [("App", like.app), ("Group", like.group), ("Type", "P")]
    return Advertisement(
        hash,
        source,
        tuple(
            ClaimedField(name, 0, value)
            for name, value in fields
            if value is not None and name in question.schema
        ),
    )


# Tricks with what is said: a message into what goes out in its place.


def _honest(_: Villain, message: m.Message) -> Said:
    return [message]


def _unrequested(villain: Villain, message: m.Message) -> Said:
    if isinstance(message, m.BatchEnd):
        record = villain.world.random.choice(library())
        return [m.SentRecord(record.hash, record.data), message]
    return [message]


def _early_record(villain: Villain, message: m.Message) -> Said:
    if villain.machine.state is State.REQUEST:
        record = villain.world.random.choice(library())
        return [m.SentRecord(record.hash, record.data), message]
    return [message]


def _oversized(villain: Villain, message: m.Message) -> Said:
    if villain.said == 3:
        return [b"MayRequest('" + b"x" * 6000 + b"')\n" * 20]
    return [message]


def _endless_block(villain: Villain, message: m.Message) -> Said:
    if villain.said == 3:
        line = "".join(f"MayRequest('{_made_up(bytes([n]) * 32)}')\n" for n in range(200))
        return [line.encode()] * 20
    return [message]


def _wrong_phase(villain: Villain, message: m.Message) -> Said:
    if villain.said > 2 and villain.world.random.random() < 0.3:
        wrong: list[m.Message] = [m.Request(("x",)), m.Ask(("0",)), m.BatchEnd()]
        return [villain.world.random.choice(wrong)]
    return [message]


def _garbage(villain: Villain, message: m.Message) -> Said:
    if villain.world.random.random() < 0.2:
        return [villain.world.random.randbytes(40) + b"\n\n"]
    return [message]


def _twice(villain: Villain, message: m.Message) -> Said:
    return [message, message] if villain.said > 2 else [message]


def _wrong_root(villain: Villain, message: m.Message) -> Said:
    if isinstance(message, m.Offer) and message.summaries:
        wrong = [s._replace(root=villain.world.random.randbytes(32)) for s in message.summaries]
        return [replace(message, summaries=tuple(wrong))]
    return [message]


def _wrong_size(villain: Villain, message: m.Message) -> Said:
    if isinstance(message, m.Offer) and message.summaries:
        more = villain.world.random.choice([1, 1000, 2**40])
        wrong = [s._replace(size=s.size + more) for s in message.summaries]
        return [replace(message, summaries=tuple(wrong))]
    return [message]


def _changed(message: m.Message, change: Callable[[Advertisement], Advertisement]) -> Said:
    if isinstance(message, m.Offer):
        return [replace(message, records=tuple(change(record) for record in message.records))]
    return [message]


def _wrong_source(_: Villain, message: m.Message) -> Said:
    return _changed(message, lambda record: replace(record, source="V.somebody.H3"))


def _wrong_field(_: Villain, message: m.Message) -> Said:
    field = ClaimedField("Secret", 0, "x")
    return _changed(message, lambda record: replace(record, fields=(*record.fields, field)))


def _far_tick(_: Villain, message: m.Message) -> Said:
    if isinstance(message, m.Offer | m.Request):
        return [replace(message, tick="1800000000:000000000")]
    return [message]


def _greedy(villain: Villain, message: m.Message) -> Said:
    if isinstance(message, m.Request):
        known = sorted(villain.machine.link.epoch.peer)
        villain.machine.link.loop.requested = set(known)
        return [replace(message, hashes=tuple(known))]
    return [message]


def _silence(villain: Villain, message: m.Message) -> Said:
    return [] if villain.said > 4 else [message]


def _defer(_: Villain, message: m.Message) -> Said:
    return [] if isinstance(message, m.SentRecord) else [message]


def _impostor(villain: Villain, message: m.Message) -> Said:
    if isinstance(message, m.Setup):
        return [replace(message, origin=villain.world.random.choice(["V.x.H3", "local"]))]
    return [message]


def _bad_hello(villain: Villain, message: m.Message) -> Said:
    if not isinstance(message, m.Hello):
        return [message]
    wrong: list[m.Message] = [
        replace(message, plan="E.other"),
        replace(message, interval=0),
        replace(message, formats=frozenset(("H9",))),
        replace(message, limits=(("max_loop_iterations", "many"),)),
        replace(message, limits=(("max_fact_block_bytes", "1"),)),
        replace(message, signer="V.x.H3"),
    ]
    return [villain.world.random.choice(wrong)]


def _odd_asks(_: Villain, message: m.Message) -> Said:
    if isinstance(message, m.Ask):
        return [replace(message, lists=("zzzz",), narrows=("",))]
    return [message]


TRICKS: dict[str, Callable[[Villain, m.Message], Said]] = {
    "lies": _honest,
    "flood": _honest,
    "wrong-bytes": _honest,
    "garbage-bytes": _honest,
    "deny": _honest,
    "trickle": _honest,
    "unrequested": _unrequested,
    "early-record": _early_record,
    "oversized-line": _oversized,
    "endless-block": _endless_block,
    "wrong-phase": _wrong_phase,
    "garbage": _garbage,
    "twice": _twice,
    "wrong-root": _wrong_root,
    "wrong-size": _wrong_size,
    "wrong-source": _wrong_source,
    "wrong-field": _wrong_field,
    "far-tick": _far_tick,
    "greedy": _greedy,
    "silence": _silence,
    "defer": _defer,
    "impostor": _impostor,
    "bad-hello": _bad_hello,
    "odd-asks": _odd_asks,
}
