"""One side of a connection, from options: its terms, its store, and how it ends."""

import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import typer

from lacec.cli.commands.run_interlace import Exchanging
from lacec.cli.commands.store.common import refuse_store
from lacec.cli.exchange import (
    SideOptions,
    check_lowering,
    ending,
    finish,
    read_fields,
    read_policy,
    table,
)
from lacec.cli.keys import load_secret
from lacec.cli.link_options import LinkOptions
from lacec.cli.options import read_link_limits
from lacec.cli.plan import Reader
from lacec.cli.progress import Staying
from lacec.cli.render.log import Log
from lacec.cli.render.output import write, write_json
from lacec.core.errors import AddressError, StoreError
from lacec.core.facets import SHORTCUTS
from lacec.pipeline import Input
from lacec.records.signature import is_verifier
from lacec.runtime.iltp.channel import ChannelError
from lacec.runtime.iltp.framing.address import Address, parse_address
from lacec.runtime.iltp.session import Terms
from lacec.runtime.iltp.signer_proof import Identity, Trust
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.result import Result
from lacec.store.store import Store

HERE = ("here",)


def read_address(option: str, text: str) -> Address:
    try:
        address = parse_address(text)
        if address.scheme == "unix":
            from lacec.runtime.iltp.transports.unix import check_system

            check_system()
        return address
    except (AddressError, ChannelError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def read_verifier(option: str, text: str) -> str:
    if not is_verifier(text):
        message = f"{text!r} is no verifier; `lacec key show FILE` prints one"
        raise typer.BadParameter(message, param_hint=option)
    return text


def read_users(given: Sequence[str]) -> dict[int, str]:
    """Which verifier a user is: names or numbers of users."""
    if given and not hasattr(socket, "SO_PEERCRED"):
        message = "this system does not say whose process connects; let peers prove a key instead"
        raise typer.BadParameter(message, param_hint="--user")
    users = {}
    for text in given:
        user, _, verifier = text.partition("=")
        uid = _user_number(user)
        users[uid] = read_verifier("--user", verifier)
    return users


def _user_number(user: str) -> int:
    if user.isdecimal() and user.isascii():
        return int(user)
    try:
        import pwd

        return pwd.getpwnam(user).pw_uid
    except ImportError:
        message = "this system does not list its users: give the number of the user"
    except KeyError:
        message = f"there is no user {user!r} here; write USER=V, with a name or a number"
    raise typer.BadParameter(message, param_hint="--user")


def read_store(link: LinkOptions) -> Path:
    if link.store is None:
        raise typer.BadParameter("say which store: --store STORE")
    return link.store


@dataclass
class TermsMaker:
    """Makes the terms of links: what the options say of all, and policies by their files."""

    link: LinkOptions
    options: Exchanging
    staying: Staying | None
    json: bool
    reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        check_lowering(self.options.lowering)
        evaluation, self.limits = read_link_limits(self.options.limit)
        self.reader = Reader(evaluation, self.json)
        self._identity, self._trust = _identity(self.link), _trust(self.link)

    def terms(
        self,
        index: int,
        policy: str | None,
        expose: Sequence[str],
        advertise: Sequence[str] | None,
        limits: Mapping[str, int] | None = None,
        generated: Input | None = None,
    ) -> Terms | None:
        """None if the reader found something wrong, which it reports when all is read."""
        options, staying = self.options, self.staying
        side = SideOptions(HERE[0], read_store(self.link), policy, expose)
        made = read_policy(self.reader, side, index, generated, options.origins, options.lowering)
        if made is None:
            return None
        return Terms(
            made,
            self._identity,
            self._trust,
            read_fields(advertise),
            replace(self.limits, **(limits or {})),
            evaluation=self.reader.limits,
            partitions=not self.link.no_summaries,
            open=staying is not None,
            tick_interval=10 * SECOND if staying is None else staying.tick_interval,
            comments=self.link.comments,
        )


def _identity(link: LinkOptions) -> Identity | None:
    if link.key is not None and link.verifier is not None:
        raise typer.BadParameter(
            "a key has its verifier: give one of both", param_hint="--verifier"
        )
    if link.key is not None:
        return Identity.of(load_secret(link.key))
    return None if link.verifier is None else Identity(read_verifier("--verifier", link.verifier))


def _trust(link: LinkOptions) -> Trust:
    caller = None if link.peer is None else read_verifier("--peer", link.peer)
    users = read_users(link.user or ())
    return Trust(link.require_proof, link.trust_unencrypted, users, caller)


def say_exposure(terms: Terms, log: Log, json: bool) -> None:
    """In plain words, when nothing can be sent."""
    if not terms.policy.local.exposures and not json:
        said = (
            "this side exposes nothing: the selector of a peer sees no record here, so nothing is "
            "sent but what it names itself; "
            f"expose with --expose FILE, {' or '.join(SHORTCUTS)}"
        )
        log.say("exposure", "warning", message=said)


@contextmanager
def threaded_store(path: Path, log: Log, json: bool) -> Iterator[tuple[Store, ThreadPoolExecutor]]:
    """A store in a thread of its own, so that connections stay live while it works."""
    with ThreadPoolExecutor(1) as executor:
        try:
            waiting = partial(log.say, "waiting", message="another process writes to the store")
            store = executor.submit(partial(Store.open, path, on_wait=waiting)).result()
        except StoreError as error:
            refuse_store(error, json)
        try:
            yield store, executor
        finally:
            executor.submit(store.close).result()


def report_one(result: Result, interrupted: bool, late: bool, json: bool) -> None:
    """The result of this side; the exit code says whether it converged."""
    if json:
        write_json(result.json())
    else:
        write(table(HERE, [result]))
        write(ending(HERE, [result]))
    finish(result.exceeded, [result], interrupted, json, late)
