"""While an exchange runs: what it is at, for people, and whether somebody asked it to stop.

All of it goes to standard error. A terminal shows one line that changes; elsewhere a plain
line comes now and then. An exchange of a moment says nothing.
"""

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic, sleep
from types import FrameType
from typing import TYPE_CHECKING, Protocol

import typer

from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import write
from lacec.runtime.exchange.recording.recorder import NAMES
from lacec.runtime.interlace.driver import Pair
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.state import State

if TYPE_CHECKING:
    from rich.progress import Progress

A_MOMENT = 0.5  # seconds for which nothing is said
LOOKS = 0.1  # between two looks at how far it is
RARELY = 10.0  # between two plain lines
GRACE = 5.0  # for an exchange to come to rest when its time is over
STEP = 0.2  # between two looks at the stores of an open exchange

# What people call it when a machine is in a state.
PHASES = {
    State.NEW: "setup",
    State.SETUP: "setup",
    State.COMPILING: "setup",
    State.PROVING: "hello",
    State.HELLO: "hello",
    State.CHECKING_PROOF: "hello",
    State.RECALLING: "hello",
    State.SELECTING: "evaluate",
    State.DESCRIBING: "advertise",
    State.ADVERTISE: "advertise",
    State.ASK: "advertise",
    State.EVALUATING: "evaluate",
    State.REQUEST: "request",
    State.TRANSFER: "transfer",
    State.REMEMBERING: "close",
    State.REST: "rest",
    State.ENDING: "close",
    State.CLOSED: "close",
}


def how_far(pair: Pair) -> str:
    """The phase of each side, and what it has received so far."""
    sides = zip(NAMES, pair.seats, strict=True)
    return "; ".join(f"{name}: {how_far_one(seat.machine)}" for name, seat in sides)


def how_far_one(machine: Machine) -> str:
    totals = machine.link.totals
    # Those on their way to the store count as soon as they are there.
    records = counted(len(totals.received), "record")
    return f"{PHASES[machine.state]}, {records} and {totals.bytes_received} bytes in"


class Display(Protocol):
    def show(self, text: str) -> None:
        """Say how far it is."""

    def hide(self) -> None:
        """Nothing is going on."""


class Line:
    """On a terminal: one line that changes, and goes."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def show(self, text: str) -> None:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.add_task("")
            self._progress.start()
        self._progress.update(self._progress.task_ids[0], description=text)

    def hide(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class Lines:
    """Elsewhere: a line now and then."""

    def __init__(self) -> None:
        self._next = monotonic() + RARELY

    def show(self, text: str) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + RARELY
            write([(f"{text}\n", "")], sys.stderr)

    def hide(self) -> None:
        self._next = monotonic() + RARELY


class Silent:
    """Where programs read: nothing."""

    def show(self, text: str) -> None:
        pass

    def hide(self) -> None:
        pass


def make_display(silent: bool = False) -> Display:
    if silent:
        return Silent()
    return Line() if sys.stderr.isatty() else Lines()


@dataclass(frozen=True)
class Staying:
    """How an open exchange stays: for how long, and how often its time moves."""

    seconds: float | None
    tick_interval: int  # in nanoseconds


def read_staying(open: bool, dry: bool, length: str | None, tick: str | None) -> Staying | None:
    if open and dry:
        raise typer.BadParameter("a dry run ends: it cannot be --open")
    if not open and (length is not None or tick is not None):
        raise typer.BadParameter("only an exchange that is --open has --for and --tick")
    if not open:
        return None
    seconds = None if length is None else read_time("--for", length)
    return Staying(seconds, int(read_time("--tick", tick or "10s") * 10**9))


def read_time(option: str, text: str) -> float:
    """Seconds, of a number and the unit s, m or h."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smh]?)", text, re.ASCII)
    if match is None or float(match[1]) == 0:
        raise typer.BadParameter(f"{text!r} is no time: write 90s, 15m or 2h", param_hint=option)
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


class Attention:
    """Asked between events whether to go on; it says how far the exchange is meanwhile.

    Who asks an open exchange to stop gets it at its next fixed point; who asks again, or asks
    a bounded one, gets what there is; and who asks yet again waits for nothing.
    """

    def __init__(self, pair: Pair, display: Display, staying: Staying | None) -> None:
        self._pair, self._display, self._open = pair, display, staying is not None
        self._next = monotonic() + A_MOMENT
        self._ends = inf if staying is None or staying.seconds is None else staying.seconds
        self._ends += monotonic()
        self._said: list[int] | None = None
        self._asked: list[int] = []  # the signals that asked to stop

    def __call__(self) -> bool:
        now = monotonic()
        if now >= self._next:
            self._next = now + LOOKS
            self._display.show(how_far(self._pair))
        return len(self._asked) <= self._open and now <= self._ends + GRACE

    def wait(self) -> bool:
        """At a fixed point of an open exchange: let time pass; False when it is enough."""
        self._say_rest()
        if not self._enough():
            sleep(max(0.0, min(STEP, self._ends - monotonic())))
        self._next = monotonic() + A_MOMENT
        return not self._enough()

    def _enough(self) -> bool:
        return bool(self._asked) or monotonic() >= self._ends

    def _say_rest(self) -> None:
        """Say what came in, when that is more than it was."""
        totals = [seat.machine.link.totals.bytes_received for seat in self._pair.seats]
        if totals != self._said:
            self._display.hide()
            first = "; Ctrl-C ends the exchange" if self._said is None else ""
            write([(f"at rest: {how_far(self._pair)}{first}\n", "dim")], sys.stderr)
            self._said = totals

    def on_signal(self, number: int, _: FrameType | None) -> None:
        self._asked.append(number)
        if len(self._asked) > 1 + self._open:
            raise KeyboardInterrupt

    @property
    def interrupted(self) -> bool:
        return signal.SIGINT in self._asked


@contextmanager
def attending(pair: Pair, staying: Staying | None = None) -> Iterator[Attention]:
    """Attend to an exchange: signals, and how far it is."""
    display = make_display()
    attention = Attention(pair, display, staying)
    pair.attend = attention
    with _signals(attention.on_signal):
        try:
            yield attention
        finally:
            display.hide()


@contextmanager
def _signals(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = {each: signal.signal(each, handle) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
