"""The invariants of 050, checked around every event of a machine, and fixed points by brute force.

A witness knows the machine and the store of its side, and evaluates again, from nothing,
whatever a claim rests on.
"""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from copy import copy

from lacec.core.predicates import Predicate
from lacec.plan.lower import MAY_REQUEST, MAY_SEND
from lacec.records.facts import HAVE
from lacec.runtime.exchange.side import Side
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.state import State
from tests.plan.rewriting import slowly
from tests.simulation.shelf import FrozenShelf

MOST_STEPS = 10**7


class Witness:
    def __init__(self, machine: Machine, side: Side) -> None:
        self.machine, self.side = machine, side
        self.peer: Witness | None = None
        self.received: set[str] = set()
        self.checked = 0  # fixed points
        self.requested: set[str] = set()  # in this loop, not answered
        self.in_vain: set[str] = set()  # answered in vain while they stayed advertised
        self.evaluated: e.Evaluated | None = None
        self.offered: AbstractSet[str] = frozenset()
        self.sendable: AbstractSet[str] = frozenset()
        self.shared = 0
        self.epoch: object = None
        self.moment: object = None
        self.fixed: tuple[int, object, object] | None = None  # loops, store, epoch

    def evaluate(self, question: e.Evaluate | None = None) -> e.Evaluated:
        """What holds on this side now, evaluated from nothing."""
        link = self.machine.link
        fresh = copy(self.side)
        fresh.forget()
        found = fresh.answer(question or e.Evaluate(link.runtime_facts(), link.epoch.peer))
        assert isinstance(found, e.Evaluated), found
        return found

    def evaluate_slowly(self) -> tuple[set[str], set[str]]:
        """MaySend and Have, MayRequest and not Have, by an evaluator that shares no code."""
        link, program = self.machine.link, self.side.program
        moment = self.side.shelf.snapshot()
        assert program is not None
        assert isinstance(moment, FrozenShelf)
        facts = {predicate: list(rows) for predicate, rows in moment.rows.items()}
        claims = [fact for record in link.epoch.peer.values() for fact in record.facts()]
        for name, *values in (*link.runtime_facts(), *claims):
            facts.setdefault(Predicate(name, len(values)), []).append(tuple(values))
        found = slowly(program, facts, MOST_STEPS)
        have = {hash for (hash,) in moment.rows[HAVE]}
        send = {hash for (hash,) in found[MAY_SEND]} & have
        return send, {hash for (hash,) in found[MAY_REQUEST]} - have

    def note(self, question: e.Question, answer: e.Answer) -> e.Answer:
        if isinstance(answer, e.Evaluated):
            self.evaluated, self.moment = answer, self.side.shelf.snapshot()
            assert isinstance(question, e.Evaluate)
            assert answer == self.evaluate(question), "not what a full evaluation finds"
            if self.machine.state is State.SELECTING:
                self.offered = answer.send
        if isinstance(question, e.Store):
            hashes = {record.hash for record in question.records}
            assert hashes <= self.received, "stored what did not arrive"
        return answer

    def before(self, event: e.Event) -> None:
        match event:
            case e.Loaded():
                # After the event a new epoch may have begun.
                self.sendable = self.evaluate().send
            case m.Arrived(record):
                self.received.add(record.hash)
                self.requested.discard(record.hash)
            case m.Invalid(hash, _) | m.NotAvailable(hash):
                if hash in self.requested:
                    self.in_vain.add(hash)

    def after(self, effects: Sequence[e.Effect]) -> None:
        link = self.machine.link
        if link.epoch is not self.epoch:
            self.epoch, self.shared = link.epoch, 0
            self.in_vain.clear()
        self.in_vain &= link.epoch.peer.keys()
        if link.epoch.ticks is not None:
            assert link.epoch.ticks.shared >= self.shared, "TickTAI went back"
            self.shared = link.epoch.ticks.shared
        own = link.config.own_limits
        assert len(link.loop.arrived) <= own.stored_at_once
        for effect in effects:
            self._check(effect)

    def _check(self, effect: e.Effect) -> None:
        link = self.machine.link
        match effect:
            case e.Send(m.SentRecord(hash, data)):
                assert hash in self.sendable, "sent what may not be sent"
                assert self.side.shelf.get(hash) == data
            case e.Send(m.Offer(records, _, _)):
                offered = {record.hash for record in records}
                assert offered <= self.offered, "advertised what may not be sent"
            case e.Send(m.Request(hashes, _)):
                self._check_request(hashes)
            case e.Closed(result) | e.Rested(result):
                assert not (result.converged and result.aborted)
                # Something new may have ended the rest at once.
                if result.converged and self.machine.state in (State.REST, State.CLOSED):
                    self.fixed = (result.loops, self.side.shelf.snapshot(), link.epoch)
                    self._check_fixed_point()

    def _check_request(self, hashes: Collection[str]) -> None:
        link = self.machine.link
        assert self.evaluated is not None
        for hash in hashes:
            assert hash in self.evaluated.request, "requested what is not MayRequest"
            assert hash in link.epoch.peer, "requested what is not advertised"
            assert self.side.shelf.get(hash) is None, "requested what is here"
            assert hash.endswith(".H3"), "requested what the store does not accept"
            assert hash not in self.in_vain, "requested the same bad record again"
        self.requested = set(hashes)

    @property
    def _changed(self) -> bool:
        """Whether the store changed since the evaluation."""
        return self.side.shelf.snapshot() is not self.moment

    def _check_fixed_point(self) -> None:
        """050: no record is requestable here, advertised, missing, and sendable there."""
        peer = self.peer
        if peer is None or peer.fixed is None or self.fixed is None:
            return
        if peer.fixed[0] != self.fixed[0] or not (self._still and peer._still):
            return  # another task wrote meanwhile, and the final evaluation was before
        self.checked += 1
        here, there = self.evaluate_slowly(), peer.evaluate_slowly()
        for one, (_, request), (send, _) in ((self, here, there), (peer, there, here)):
            left = request & one.machine.link.epoch.peer.keys() & send
            rejected = one.machine.link.totals.rejected.keys()
            assert left <= rejected, f"no fixed point: {left}"

    @property
    def _still(self) -> bool:
        assert self.fixed is not None
        loops, moment, epoch = self.fixed
        link = self.machine.link
        at_rest = link.epoch is epoch and link.totals.loops == loops
        return at_rest and moment is self.moment and not self._changed
