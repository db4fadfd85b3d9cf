"""run-interlace --listen: one side, to which any number of others come."""

import asyncio
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import NoReturn

import typer

from lacec.cli.commands.run_interlace import Exchanging
from lacec.cli.link_options import LinkOptions, ListenOptions
from lacec.cli.linking import (
    TermsMaker,
    read_address,
    read_store,
    report_one,
    say_exposure,
    threaded_store,
)
from lacec.cli.options import needs_connect
from lacec.cli.peers import PeersError, read_peers
from lacec.cli.progress import read_staying, read_time
from lacec.cli.render.log import Log, libraries_heard, make_log
from lacec.cli.render.output import write, write_json
from lacec.cli.serving import Server, Serving
from lacec.runtime.exchange.executor import Aside
from lacec.runtime.iltp.channel import ChannelError
from lacec.runtime.iltp.endpoints import MOST_LINKS
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.memory_budget import DEFAULT_BYTES
from lacec.runtime.iltp.transports.tls import ServerTls, server_tls
from lacec.runtime.serve.admission import Guest, Guests
from lacec.store.store import Store

LEAST_MEMORY = 2**20
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def run_listen(link: LinkOptions, listen: ListenOptions, options: Exchanging, json: bool) -> None:
    """Listen until told to stop; print what came of it."""
    log, display = make_log(link.log_format)
    serving = _read(link, listen, options, log, json)
    try:
        with (
            libraries_heard(log),
            threaded_store(read_store(link), log, json) as (store, executor),
            Aside(partial(Store.open, store.folder, read_only=True)) as aside,
        ):
            server = Server(serving, store, executor, aside, log)
            asyncio.run(server.run(display))
    except ChannelError as error:
        _refuse([str(error)], json)
    _report(server, json)


def _read(
    link: LinkOptions, listen: ListenOptions, options: Exchanging, log: Log, json: bool
) -> Serving:
    address = read_address("--listen", link.listen or "")
    needs_connect(get=options.get, list=options.below, put=options.put, tls_ca=link.tls_ca)
    once = listen.once or address.scheme == "stdio"
    if link.timeout is not None and not once:
        raise typer.BadParameter("needs --connect or --once", param_hint="--timeout")
    # Who comes decides whether to stay; but --once is for one exchange, open or not.
    opens = options.open or not once
    staying = read_staying(opens, False, options.length, options.tick)
    maker = TermsMaker(link, options, staying, json)
    anyone = None
    if options.policy is not None:
        anyone = maker.terms(1, options.policy, options.expose or (), options.advertise)
    elif listen.peers is None:
        raise typer.BadParameter("this side has no selector: give --policy FILE, or --peers FILE")
    guests = {} if listen.peers is None else _guests(maker, listen, options, json)
    maker.reader.finish()
    if anyone is not None:
        say_exposure(anyone, log, json)
    return Serving(
        address,
        Guests(anyone, guests),
        _tls(link, address),
        once,
        1 if once else _links(listen.links),
        _memory(listen.memory),
        None if listen.metrics is None else _metrics(listen.metrics),
        None if staying is None else staying.seconds,
        None if link.timeout is None else read_time("--timeout", link.timeout),
        maker.limits.phase_timeout_seconds,
    )


def _guests(
    maker: TermsMaker, listen: ListenOptions, options: Exchanging, json: bool
) -> dict[str, Guest]:
    assert listen.peers is not None
    try:
        peers = read_peers(listen.peers)
    except PeersError as error:
        _refuse(error.problems, json)
    lost = [p.name for p in peers if p.policy is None and options.policy is None]
    if lost:
        _refuse([f"{listen.peers}: [{lost[0]}] has no policy, and there is no --policy"], json)
    guests = {}
    for peer in peers:
        terms = maker.terms(
            1,
            peer.policy or options.policy,
            (options.expose or ()) if peer.expose is None else peer.expose,
            options.advertise if peer.advertise is None else peer.advertise,
            peer.limits,
        )
        if terms is not None:
            guests[peer.verifier] = Guest(terms, peer.links)
    return guests


def _tls(link: LinkOptions, address: Address) -> ServerTls | None:
    if address.scheme != "wss":
        if link.tls_cert is not None or link.tls_key is not None:
            raise typer.BadParameter("only wss has certificates", param_hint="--tls-cert")
        return None
    if link.tls_cert is None:
        raise typer.BadParameter("to listen on wss takes a certificate", param_hint="--tls-cert")
    try:
        return server_tls(link.tls_cert, link.tls_key)
    except ChannelError as error:
        raise typer.BadParameter(str(error), param_hint="--tls-cert") from None


def _links(given: int | None) -> int:
    if given is None:
        return MOST_LINKS
    if given < 1:
        raise typer.BadParameter("serves at least one", param_hint="--links")
    return given


def _memory(text: str | None) -> int:
    """Bytes, of a number and the unit K, M or G."""
    if text is None:
        return DEFAULT_BYTES
    match = re.fullmatch(r"([0-9]{1,9})([KMG]?)", text, re.ASCII)
    size = 0 if match is None else int(match[1]) * _UNITS[match[2]]
    if size < LEAST_MEMORY:
        message = f"{text!r} is no size of at least 1M: write 64M, 512M or 2G"
        raise typer.BadParameter(message, param_hint="--memory")
    return size


def _metrics(text: str) -> tuple[str, int]:
    """A port on loopback, or of a host."""
    address = read_address(
        "--metrics", f"tcp:127.0.0.1:{text}" if text.isdecimal() else f"tcp:{text}"
    )
    return address.host, address.port


def _refuse(problems: Sequence[str], json: bool) -> NoReturn:
    """The input is wrong, or the address cannot be had: exit code 1."""
    if json:
        write_json({"error": "\n".join(problems)})
    else:
        for problem in problems:
            write([("error", "bold red"), (f": {problem}\n", "")], sys.stderr)
    raise typer.Exit(1)


def _report(server: Server, json: bool) -> None:
    """The result of the one exchange; or what all came to."""
    interrupted = server.stopping.interrupted
    if server.result is not None:
        report_one(server.result, interrupted, server.late, json)
        return
    if json:
        totals = vars(server.tally.totals)
        write_json({"links": dict(sorted(server.tally.outcomes.items())), **totals})
    if interrupted:
        raise typer.Exit(130)
