"""While connections are up: signals, time, and how far they are, in the loop of asyncio."""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from lacec.cli.progress import A_MOMENT, LOOKS, Display
from lacec.runtime.iltp.session import Lace

Stop = Callable[[int], Awaitable[None]]
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """Hears who asks to stop, and asks in turn: the first time gently, then less so.

    `stop` is told how often it was asked. Who asks a third time waits for nothing: what the
    store has said it keeps is kept.
    """

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._asked: list[int] = []
        self._tasks: set[asyncio.Future[None]] = set()
        self.late = False  # time was over before it was done

    @contextmanager
    def heard(self) -> Iterator[None]:
        """While signals are heard; only the main thread can."""
        loop = asyncio.get_running_loop()
        hears = threading.current_thread() is threading.main_thread()
        before = {}
        for number in _SIGNALS if hears else ():
            before[number] = signal.getsignal(number)
            _hear(loop, number, self._on_signal)
        try:
            yield
        finally:
            for number, handler in before.items():
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
                if handler is not None:  # one that Python has not set cannot be set again
                    signal.signal(number, handler)

    def _on_signal(self, number: int) -> None:
        self._asked.append(number)
        if len(self._asked) > 2:
            os._exit(130)
        self.ask(len(self._asked))

    def ask(self, times: int) -> None:
        task = asyncio.ensure_future(self._stop(times))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def end_after(self, seconds: float | None, times: int) -> None:
        """Ask so many times at once when time is over."""
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self._on_time, times)

    def _on_time(self, times: int) -> None:
        self.late = True
        self.ask(times)

    @property
    def interrupted(self) -> bool:
        return signal.SIGINT in self._asked


def _hear(loop: asyncio.AbstractEventLoop, number: int, on_signal: Callable[[int], None]) -> None:
    try:
        loop.add_signal_handler(number, on_signal, number)
    except NotImplementedError:  # the loop of Windows has no signals of its own
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(on_signal, number))


async def show_progress(lace: Lace, display: Display, how_far: Callable[[Lace], str]) -> None:
    """Say how far the links are, after a moment, until cancelled."""
    try:
        await asyncio.sleep(A_MOMENT)
        while True:
            text = how_far(lace)
            if text:
                display.show(text)
            else:
                display.hide()
            await asyncio.sleep(LOOKS)
    finally:
        display.hide()


@contextmanager
def beside(*work: Awaitable[None]) -> Iterator[None]:
    """Let something go on meanwhile."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
