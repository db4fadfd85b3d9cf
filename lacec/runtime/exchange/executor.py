"""Who answers what the machine of a link asks: a costly peer must not hold up the others.

The store belongs to one thread, which answers one link after the other; so each gets a turn
of a second there. A link whose evaluation takes longer goes aside: from then on it is
evaluated in another thread, over the same store, opened there for reading alone. Whoever goes
aside waits for the others there. To compile an operand takes no store, and has a thread of
its own meanwhile.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Self, TypeVar

from lacec.core.errors import LimitError, StoreError
from lacec.core.limits import Limits
from lacec.runtime.exchange.live import LiveStore
from lacec.runtime.exchange.side import Side
from lacec.runtime.interlace import events as e
from lacec.store.protocol import Shelf
from lacec.store.store import Store

TURN_SECONDS = 1

_T = TypeVar("_T")
_R = TypeVar("_R")

MakeSide = Callable[[Shelf, LiveStore, Limits, Callable[[], bool]], Side]
"""The last tells whether anybody still waits for what is evaluated."""


async def in_thread(executor: Executor | None, work: Callable[[_T], _R], argument: _T) -> _R:
    """Do some work in a thread to which something belongs; without one, at once."""
    if executor is None:
        return work(argument)
    return await asyncio.get_running_loop().run_in_executor(executor, work, argument)


class Aside:
    """The store once more, for those who need long; it is opened when somebody does."""

    def __init__(self, open: Callable[[], Store]) -> None:
        self._open = open
        self._live: LiveStore | None = None
        self._store: Store | None = None
        self.executor = ThreadPoolExecutor(1)

    def live(self) -> LiveStore:
        """In the thread; StoreError if it cannot be opened."""
        if self._live is None:
            self._store = self._open()
            self._live = LiveStore(self._store)
        return self._live

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.executor:
            self.executor.submit(self._close).result()

    def _close(self) -> None:
        """In the thread, where it may just have been opened."""
        if self._store is not None:
            self._store.close()


class Answering:
    """Answers for one link. `make` makes its side, over the store or over the one aside."""

    def __init__(
        self,
        make: MakeSide,
        live: LiveStore,
        limits: Limits,
        executor: Executor | None,
        aside: Aside | None,
    ) -> None:
        self._make, self._limits, self._executor, self._aside = make, limits, executor, aside
        self._has_turns = aside is not None and limits.seconds > TURN_SECONDS
        turn = replace(limits, seconds=TURN_SECONDS) if self._has_turns else limits
        self._closed = False
        self._side = make(live.shelf, live, turn, self._is_closed)
        self._slow: Side | None = None

    @property
    def exceeded(self) -> LimitError | None:
        """The limit that ended an evaluation."""
        return (self._slow or self._side).exceeded

    async def answer(self, question: e.Question) -> e.Answer:
        if isinstance(question, e.Compile) and self._executor is not None:
            return await asyncio.to_thread(self._side.answer, question)
        reads = isinstance(question, e.Evaluate | e.Describe | e.Load)
        if self._slow is not None and reads:
            return await self._answer_aside(question)
        answer = await in_thread(self._executor, self._side.answer, question)
        if isinstance(answer, e.NotEvaluated) and self._took_long():
            self._side.exceeded = None  # it was its turn that ended
            return await self._answer_aside(question)
        return answer

    def _took_long(self) -> bool:
        exceeded = self._side.exceeded
        return self._has_turns and exceeded is not None and exceeded.name == "seconds"

    async def _answer_aside(self, question: e.Question) -> e.Answer:
        assert self._aside is not None
        return await in_thread(self._aside.executor, self._ask_aside, question)

    def _ask_aside(self, question: e.Question) -> e.Answer:
        assert self._aside is not None
        if self._slow is None:
            try:
                live = self._aside.live()
            except StoreError as error:
                return e.NotEvaluated(str(error))
            self._slow = self._make(live.shelf, live, self._limits, self._is_closed)
        self._slow.program = self._side.program
        return self._slow.answer(question)

    def _is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """The link has ended, and so does its evaluation. What it kept goes in the threads where
        it is: they may be busy."""
        self._closed = True
        if self._executor is None:
            self._side.close()
            return
        self._executor.submit(self._side.close)
        if self._slow is not None and self._aside is not None:
            self._aside.executor.submit(self._slow.close)
