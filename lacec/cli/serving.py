"""A listener at work: who comes and goes is said, counted, and ended when it is enough."""

import asyncio
from collections import Counter
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from lacec.cli.live import Stopping, beside, show_progress
from lacec.cli.progress import PHASES, Display
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.log import Log
from lacec.runtime.exchange.cursors import FileCursors
from lacec.runtime.exchange.executor import Aside
from lacec.runtime.iltp.channel import About
from lacec.runtime.iltp.endpoints import GRACE_SECONDS, serve
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.memory_budget import Memory
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.iltp.transports.tls import ServerTls
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.result import Result
from lacec.runtime.serve.admission import Guests
from lacec.runtime.serve.counters import Tally, outcome
from lacec.runtime.serve.metrics import MetricsServer
from lacec.runtime.serve.store_watch import watch_store
from lacec.store.store import Store


@dataclass(frozen=True)
class Serving:
    """All that a listener goes by."""

    address: Address
    guests: Guests
    tls: ServerTls | None
    once: bool
    links: int
    memory: int
    metrics: tuple[str, int] | None
    seconds: float | None  # after which it ends
    timeout: float | None  # within which its one peer is to be done
    patience: int  # seconds for which one may be silent who has not said who it is


class Server:
    """`result` is that of the one peer, if it is for one."""

    def __init__(
        self, serving: Serving, store: Store, executor: Executor, aside: Aside, log: Log
    ) -> None:
        self._serving, self._store, self._executor, self._log = serving, store, executor, log
        cursors = FileCursors(store.folder)
        memory = Memory(serving.memory)
        self.lace = Lace(store, cursors, executor, memory, aside=aside)
        self.tally = Tally(self.lace)
        self.stopping = Stopping(self._stop)
        self.result: Result | None = None
        self.late = False
        self._enough = asyncio.Event()

    async def run(self, display: Display) -> None:
        """Serve until it is enough, and let the links there are come to their ends."""
        serving, log = self._serving, self._log
        metrics = MetricsServer(self.tally.page)
        listener = await serve(
            self.lace,
            str(serving.address),
            self._welcome,
            serving.tls,
            self._on_end,
            serving.links,
            self._on_begin,
            serving.patience,
        )
        try:
            if serving.metrics is not None:
                await metrics.open(*serving.metrics)
                log.say("metrics", address=f"http://{metrics.host}:{metrics.port}/metrics")
            log.say("listening", address=str(listener.address))
            self._set_times()
            watching = watch_store(self.lace, self._store, self._executor)
            showing = show_progress(self.lace, display, _how_far)
            with self.stopping.heard(), beside(watching, showing):
                await self._enough.wait()
                if self.lace.links:
                    log.say("stopping", links=len(self.lace.links))
                await listener.stop(GRACE_SECONDS)
        finally:
            await listener.stop(0)
            await metrics.close()
        if serving.once and self.result is None:
            self.result = Result(aborted="cancelled", detail="nobody came")
        self._say_end()

    def _set_times(self) -> None:
        serving, stopping = self._serving, self.stopping
        stopping.end_after(serving.seconds, 1)
        stopping.end_after(serving.timeout, 2)

    async def _stop(self, times: int) -> None:
        self._enough.set()
        if times > 1:
            await self.lace.tell(e.Cancel())

    def _welcome(self, verifier: str | None) -> Terms | None:
        return self._serving.guests.welcome(self.lace, verifier)

    def _on_begin(self, about: About) -> None:
        self.tally.accepted += 1
        self._log.say("connected", peer=about.address)

    def _on_end(self, about: About, result: Result) -> None:
        self.tally.end(result)
        self._log.say(
            "ended",
            "info" if result.aborted is None else "warning",
            peer=about.address,
            verifier=result.peer_verifier,
            outcome=outcome(result),
            received=len(result.received_hashes),
            rejected=len(result.rejected_hashes) or None,
            bytes_in=result.bytes_received,
            bytes_out=result.bytes_sent,
            loops=result.loops,
            detail=(result.detail or None) if result.aborted is not None else None,
        )
        if self._serving.once and self.result is None and self._counts(result):
            self.result = result
            self._enough.set()

    def _counts(self, result: Result) -> bool:
        """Whether it is the one: not one who was turned away, or never said who it is."""
        if self._serving.address.scheme == "stdio" or result.aborted == "internal-error":
            return True
        return result.heard and result.aborted != "turned-away"

    def _say_end(self) -> None:
        if self.result is not None:
            if self.stopping.late and not self.result.converged:
                detail = "its time was over"
                self.result = replace(self.result, detail=detail)
                self.late = True
            return
        totals = self.tally.totals
        self._log.say(
            "stopped",
            links=self.tally.outcomes.total(),
            received=totals.received,
            bytes_in=totals.bytes_received,
            bytes_out=totals.bytes_sent,
        )


def _how_far(lace: Lace) -> str:
    """How many links are in which phase."""
    phases = Counter(PHASES[pump.machine.state] for pump in lace.links)
    if not phases:
        return ""
    listed = ", ".join(f"{number} {phase}" for phase, number in sorted(phases.items()))
    return f"{counted(phases.total(), 'link')}: {listed}"
