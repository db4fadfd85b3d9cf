"""Exchanges in tests: two stores in memory, the exchange itself, and what it moved.

In: a case, its records and policies. Out: what it moved and should not have, or the other way
around, each explained on both sides.
"""

from collections.abc import Iterable
from time import monotonic_ns

from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.explain.proof_tree import Authored
from lacec.explain.provenance import explain_plan
from lacec.plan.expose import LocalPolicy
from lacec.plan.operands import Operand
from lacec.policytest.cases import ExchangeCase, Expected, PartySpec
from lacec.policytest.materials import Materials, secret_of
from lacec.policytest.outcomes import MOST_EXPLAINED, Failure, RulePlace, Wrong, differences
from lacec.policytest.policies import Policies
from lacec.runtime.exchange.explaining import explain_exchange
from lacec.runtime.exchange.in_process import Layer, Participant, make_pair, system_clock
from lacec.runtime.exchange.side import Policy, Side
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.tick import nanoseconds
from lacec.store.protocol import Moment
from lacec.vm.database import Database

TO = {"to_left": 0, "to_right": 1}


class _Empty:
    """A store without records, below the layer that has them."""

    last = 0

    def snapshot(self) -> Moment:
        return self

    def database(self, *_: object) -> Database:
        return Database()

    def check_values(self, *_: object) -> None:
        """There are none."""

    def get(self, *_: object) -> bytes | None:
        return None


class _Noting:
    """Answers for a side, and notes which rules derive something."""

    def __init__(self, side: Side, authored: Authored, fired: set[RulePlace]) -> None:
        self.side, self._authored, self._fired = side, authored, fired

    def answer(self, question: e.Question) -> e.Answer:
        answer = self.side.answer(question)
        if isinstance(question, e.Evaluate) and isinstance(answer, e.Evaluated):
            assert self.side.program is not None
            _, database = self.side.facts(question.runtime, question.advertised)
            why = explain_plan(self.side.program, database, self.side.limits, self._authored)
            self._fired.update((rule.file, rule.line) for rule in why.fired())
        return answer


class _Exchange:
    def __init__(
        self, case: ExchangeCase, materials: Materials, policies: Policies, limits: Limits
    ) -> None:
        self._case, self._materials, self._policies = case, materials, policies
        self._limits = limits
        sides = (case.left, case.right)
        self._own = [self._policy(index, side) for index, side in enumerate(sides)]

    def _policy(self, index: int, spec: PartySpec) -> Policy:
        line, policies = self._case.line, self._policies
        name = spec.policy or policies.file.policy
        own = Operand(index, policies.module(name, Facet.SELECTOR, line))
        exposures = tuple(policies.exposure(each, own, line) for each in spec.expose)
        return Policy(own, LocalPolicy(exposures))

    def participants(self) -> tuple[Participant, Participant]:
        """Both sides, with stores as they are before the exchange."""
        found = []
        for policy, spec in zip(self._own, (self._case.left, self._case.right), strict=True):
            layer = Layer(_Empty())
            layer.add(self._materials.stored(spec, self._case.line))
            verifier = None if spec.key is None else secret_of(spec.key).verifier
            found.append(Participant(layer, policy, verifier))
        return found[0], found[1]

    def clock(self) -> tuple[int, int]:
        at = self._case.at
        return system_clock() if at is None else (monotonic_ns(), nanoseconds(at))

    def run(self, fired: set[RulePlace]) -> tuple[list[set[str]], str | None]:
        """What came to each side; and why it did not converge, if it did not."""
        both = self.participants()
        shelves = [each.shelf for each in both]
        assert all(isinstance(shelf, Layer) for shelf in shelves)
        before = [set(shelf.records) for shelf in shelves if isinstance(shelf, Layer)]
        pair = make_pair(*both, self.clock, self._limits)
        authored = {
            (index, rule.id): rule
            for index, each in enumerate(both)
            for rule in each.policy.operand.module.rules
        }
        sides = []
        for seat in pair.seats:
            assert isinstance(seat.answers, Side)
            sides.append(seat.answers)
            seat.answers = _Noting(seat.answers, authored, fired)
        pair.run()
        for side in sides:
            if side.exceeded is not None:
                raise side.exceeded
        after = [set(shelf.records) for shelf in shelves if isinstance(shelf, Layer)]
        came = [now - then for now, then in zip(after, before, strict=True)]
        results = [seat.result for seat in pair.seats]
        reasons = [r.aborted or r.detail for r in results if r is not None and not r.converged]
        return came, (reasons[0] or "it ended early") if reasons else None

    def wrong(self, to: int, hash: str, number: int) -> Wrong:
        """Each that is explained takes the exchange once more."""
        if number >= MOST_EXPLAINED:
            return Wrong(hash)
        both = self.participants()
        _, directions = explain_exchange(*both, hash, self.clock, self._limits)
        return Wrong(hash, next(each for each in directions if each.to == to))


def run_exchange(
    case: ExchangeCase,
    materials: Materials,
    policies: Policies,
    fired: set[RulePlace],
    limits: Limits,
) -> Iterable[Failure]:
    """What does not hold; LimitError when an evaluation meets a limit."""
    exchange = _Exchange(case, materials, policies, limits)
    came, stopped = exchange.run(fired)
    if stopped is not None:
        said = f"the exchange did not converge: {stopped}"
        yield Failure("is", "converged", case.line, note=said)
    for expected in case.expected:
        failure = _judge(exchange, expected, came[TO[expected.what]], materials)
        if failure is not None:
            yield failure


def _judge(
    exchange: _Exchange, expected: Expected, came: set[str], materials: Materials
) -> Failure | None:
    wanted = [materials.fill(value, expected.line) for row in expected.rows for value in row]
    missing, extra = differences(expected.how, wanted, came)
    if not missing and not extra:
        return None
    to = TO[expected.what]
    return Failure(
        expected.how,
        expected.what,
        expected.line,
        tuple(exchange.wrong(to, hash, number) for number, hash in enumerate(missing)),
        tuple(exchange.wrong(to, hash, number) for number, hash in enumerate(extra)),
    )
