"""run-interlace --connect: one side, that goes to another."""

import asyncio
import ssl
from dataclasses import replace

import typer

from lacec.cli.commands.run_interlace import Exchanging
from lacec.cli.exchange import read_operation
from lacec.cli.link_options import LinkOptions
from lacec.cli.linking import (
    TermsMaker,
    read_address,
    read_store,
    report_one,
    say_exposure,
    threaded_store,
)
from lacec.cli.live import Stopping, beside, show_progress
from lacec.cli.options import needs_listen
from lacec.cli.progress import GRACE, how_far_one, read_staying, read_time
from lacec.cli.render.log import Log, libraries_heard, make_log
from lacec.runtime.exchange.cursors import FileCursors
from lacec.runtime.iltp.channel import ChannelError
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.result import Result
from lacec.runtime.serve.reconnect import Dialler
from lacec.runtime.serve.store_watch import watch_store


def run_connect(link: LinkOptions, options: Exchanging, json: bool) -> None:
    """Connect, exchange, and print what came of it."""
    address = read_address("--connect", link.connect or "")
    needs_listen(tls_cert=link.tls_cert, tls_key=link.tls_key)
    staying = read_staying(options.open, False, options.length, options.tick)
    timeout = None if link.timeout is None else read_time("--timeout", link.timeout)
    context = _context(link, address)
    maker = TermsMaker(link, options, staying, json)
    generated = read_operation(options.operation)
    if options.policy is None and generated is None:
        raise typer.BadParameter("this side has no selector: give --policy FILE")
    terms = maker.terms(
        0, options.policy, options.expose or (), options.advertise, generated=generated
    )
    maker.reader.finish()
    assert terms is not None
    log, display = make_log(link.log_format)
    say_exposure(terms, log, json)

    async def run() -> tuple[Result, Stopping]:
        lace = Lace(store, FileCursors(store.folder), executor)
        dialler = _make_dialler(lace, address, terms, context, log)

        async def stop(times: int) -> None:
            await dialler.stop(e.Finish() if terms.open and times == 1 else e.Cancel())

        stopping = Stopping(stop)
        seconds = None if staying is None else staying.seconds
        stopping.end_after(seconds, 1)
        stopping.end_after(None if seconds is None else seconds + GRACE, 2)
        stopping.end_after(timeout, 2)
        work = [show_progress(lace, display, _how_far)]
        if terms.open:
            work.append(watch_store(lace, store, executor))
        with stopping.heard(), beside(*work):
            return await dialler.run(), stopping

    with (
        libraries_heard(log),
        threaded_store(read_store(link), log, json) as (store, executor),
    ):
        result, stopping = asyncio.run(run())
    late = stopping.late and not result.converged
    if late and result.aborted in (None, "cancelled"):
        result = replace(result, aborted="cancelled", detail="its time was over")
    report_one(result, stopping.interrupted, late, json)


def _context(link: LinkOptions, address: Address) -> ssl.SSLContext | None:
    if address.scheme != "wss":
        if link.tls_ca is not None:
            raise typer.BadParameter("only wss has certificates", param_hint="--tls-ca")
        return None
    from lacec.runtime.iltp.transports.tls import client_context

    try:
        return client_context(link.tls_ca)
    except ChannelError as error:
        raise typer.BadParameter(str(error), param_hint="--tls-ca") from None


def _how_far(lace: Lace) -> str:
    return "; ".join(how_far_one(pump.machine) for pump in lace.links)


def _make_dialler(
    lace: Lace, address: Address, terms: Terms, context: ssl.SSLContext | None, log: Log
) -> Dialler:
    """Says why it waits, and what came in whenever an open exchange comes to rest."""
    said: list[int] = []

    def on_wait(why: str, seconds: float) -> None:
        log.say("retrying", "warning", why=why, seconds=f"{seconds:.1f}")

    def on_rest(result: Result) -> None:
        if result.bytes_received + result.bytes_sent not in said:
            said[:] = [result.bytes_received + result.bytes_sent]
            received = len(result.received_hashes)
            log.say("at-rest", received=received, bytes_in=result.bytes_received)

    return Dialler(lace, address, terms, context, on_wait=on_wait, on_rest=on_rest)
