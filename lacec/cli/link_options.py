"""The options of run-interlace for exchanges over a connection."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


def _option(name: str, metavar: str | None, help: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=help, rich_help_panel="Connections")


@dataclass(frozen=True)
class LinkOptions:
    """Of one side that connects or listens."""

    store: Annotated[Path | None, _option("store", "STORE", "The store of this side.")] = None
    connect: Annotated[
        str | None,
        _option("connect", "ADDRESS", "Exchange with whoever listens there: see --listen."),
    ] = None
    listen: Annotated[
        str | None,
        _option(
            "listen",
            "ADDRESS",
            "Serve all who connect: unix:/path, tcp:host:port, ws:host:port, wss:host:port, stdio.",
        ),
    ] = None
    timeout: Annotated[
        str | None,
        _option("timeout", "TIME", "Give up after 90s, 15m or 2h, with what there is then."),
    ] = None
    key: Annotated[
        Path | None, _option("key", "FILE", "The secret by which this side proves who it is.")
    ] = None
    verifier: Annotated[
        str | None,
        _option("verifier", "V", "Without a secret: who this side is, if the peer knows anyway."),
    ] = None
    peer: Annotated[
        str | None, _option("peer", "V", "On stdio: who is at the other end, if you know.")
    ] = None
    user: Annotated[
        list[str] | None,
        _option("user", "USER=V", "On unix sockets: which verifier a user is. Repeatable."),
    ] = None
    require_proof: Annotated[
        bool,
        _option(
            "require-proof", None, "Exchange nothing with a peer that does not prove who it is."
        ),
    ] = False
    trust_unencrypted: Annotated[
        bool,
        _option(
            "trust-unencrypted", None, "Let proofs count on tcp and ws, where others may cut in."
        ),
    ] = False
    tls_ca: Annotated[
        Path | None,
        _option("tls-ca", "FILE", "On wss: the authorities to trust, not those of the system."),
    ] = None
    tls_cert: Annotated[
        Path | None, _option("tls-cert", "FILE", "To listen on wss: the certificate and its chain.")
    ] = None
    tls_key: Annotated[
        Path | None, _option("tls-key", "FILE", "The key of --tls-cert, if it is not in that file.")
    ] = None
    comments: Annotated[
        bool, _option("comments", None, "Say in the stream what follows, for people to read.")
    ] = False
    no_summaries: Annotated[
        bool,
        _option("no-summaries", None, "List all that is offered each time: longer, easy to read."),
    ] = False
    log_format: Annotated[
        LogFormat | None,
        _option("log-format", None, "How standard error says what happens; text unless told."),
    ] = None


@dataclass(frozen=True)
class ListenOptions:
    """Of a side that listens."""

    peers: Annotated[
        Path | None,
        _option("peers", "FILE", "A TOML file: policies, exposures and limits by verifier."),
    ] = None
    once: Annotated[
        bool, _option("once", None, "End after one peer, with the result of its exchange.")
    ] = False
    links: Annotated[
        int | None, _option("links", "N", "Serve at most so many at once; 1024 unless told.")
    ] = None
    memory: Annotated[
        str | None,
        _option("memory", "SIZE", "For all links together; 512M unless told. Over it, links wait."),
    ] = None
    metrics: Annotated[
        str | None,
        _option("metrics", "[HOST:]PORT", "Serve /metrics for Prometheus; on loopback if no HOST."),
    ] = None
