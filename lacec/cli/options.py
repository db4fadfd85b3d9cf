"""Options that several commands share, and what they turn into."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, LIMIT_NAMES, Limits
from lacec.core.origins import OriginMode
from lacec.core.predicates import Predicate, read_predicate
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RECORD_LIMIT_NAMES, RecordLimits

if TYPE_CHECKING:
    from lacec.runtime.interlace.limits import ExchangeLimits

RecordFileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A file of records, or - for standard input.")
]
FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="Source files, folders of *.lace files, or - for standard input."
    ),
]
FacetOption = Annotated[
    Facet | None,
    typer.Option("--facet", help="What the module is for; plain unless lace.toml says."),
]
WithOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="FILE",
        help="Link a further source, or std:NAME; as lace.toml says if none. Repeatable.",
    ),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help=f"Change a limit: {', '.join(LIMIT_NAMES)}. Repeatable.",
    ),
]
RecordLimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        help=f"Change a limit: {', '.join(RECORD_LIMIT_NAMES)}. Repeatable.",
    ),
]
FactsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="FILE",
        help="Facts: a file of fact lines, NAME.csv or NAME.parquet, or - for standard "
        "input. Repeatable.",
    ),
]
StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="STORE", help="Facts of the records in a store."),
]
RecordsArgument = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Files of records, or - for standard input."),
]
RecordOutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the record to a file."),
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Two selectors, operand 0 and 1, as an exchange plan.")
]
SideOption = Annotated[
    int | None,
    typer.Option("--side", min=0, max=1, help="Of a plan: which operand is this side's own."),
]
ExposeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--expose",
        metavar="FILE",
        help="Of a plan: what the peer may query: a file, selected, or all. Repeatable.",
    ),
]
NarrowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--narrow",
        metavar="FILE",
        help="Of a plan: what this side's own operand sees, as --expose is the peer's. Repeatable.",
    ),
]
TrustOption = Annotated[
    bool, typer.Option("--trust-peer", help="Of a plan: let the peer's operand see all records.")
]
Verifier0Option = Annotated[
    str | None, typer.Option("--verifier0", metavar="V", help="The proven verifier of side 0.")
]
Verifier1Option = Annotated[
    str | None, typer.Option("--verifier1", metavar="V", help="The proven verifier of side 1.")
]
Nonce0Option = Annotated[
    str | None,
    typer.Option("--nonce0", metavar="TEXT", help="A nonce of side 0; used if both have one."),
]
Nonce1Option = Annotated[
    str | None,
    typer.Option("--nonce1", metavar="TEXT", help="A nonce of side 1; used if both have one."),
]
OriginsOption = Annotated[
    OriginMode, typer.Option("--origins", help="What names the two sides of a plan.")
]
LoweringOption = Annotated[
    str | None,
    typer.Option(
        "--lowering", metavar="NAME", help="How a plan is lowered; standard-v1 unless told."
    ),
]
Operand0Argument = Annotated[str, typer.Argument(metavar="FILE0", help="The selector of side 0.")]
Operand1Argument = Annotated[str, typer.Argument(metavar="FILE1", help="The selector of side 1.")]
PlanFilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="A source file, or - for standard input; with --plan two."
    ),
]
WatchOption = Annotated[bool, typer.Option("--watch", help="Do it again whenever a file changes.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="Write the results to files."),
]


@dataclass(frozen=True)
class OneSide:
    """Of one side of a plan."""

    side: SideOption = None
    narrow: NarrowOption = None
    trust_peer: TrustOption = False
    verifier0: Verifier0Option = None
    verifier1: Verifier1Option = None
    nonce0: Nonce0Option = None
    nonce1: Nonce1Option = None


def read_limits(given: list[str] | None) -> Limits:
    return Limits(**_changed(given, LIMIT_NAMES)) if given else DEFAULT_LIMITS


def read_exchange_limits(given: list[str] | None) -> Limits:
    """The limits of evaluation inside an exchange, which has less time than a command (D12)."""
    from lacec.runtime.exchange.side import EXCHANGE_LIMITS

    return replace(EXCHANGE_LIMITS, **_changed(given, LIMIT_NAMES))


def read_link_limits(given: list[str] | None) -> tuple[Limits, "ExchangeLimits"]:
    """The limits of evaluation in an exchange, and those of the exchange (050)."""
    from lacec.runtime.exchange.side import EXCHANGE_LIMITS
    from lacec.runtime.interlace.limits import LIMIT_NAMES as OF_EXCHANGES
    from lacec.runtime.interlace.limits import ExchangeLimits

    changed = _changed(given, (*LIMIT_NAMES, *OF_EXCHANGES))
    of_exchange = {name: changed.pop(name) for name in OF_EXCHANGES if name in changed}
    for name, value in of_exchange.items():
        check_exchange_limit("--limit", name, value)
    return replace(EXCHANGE_LIMITS, **changed), ExchangeLimits(**of_exchange)


def check_exchange_limit(option: str, name: str, value: int) -> None:
    """A limit that is so low that no peer can talk is a mistake."""
    from lacec.runtime.interlace.limits import LOWEST

    lowest = getattr(LOWEST, name)
    if value < lowest:
        message = f"{name} is at least {lowest}: with less, no exchange is possible"
        raise typer.BadParameter(message, param_hint=option)


def read_queries(given: list[str]) -> list[Predicate]:
    """The predicates that --query names, each once."""
    try:
        return list(dict.fromkeys(map(read_predicate, given)))
    except ValueError as error:
        raise typer.BadParameter(f"{error}, as in Selected/1", param_hint="--query") from None


def read_record_limits(given: list[str] | None) -> RecordLimits:
    return RecordLimits(**_changed(given, RECORD_LIMIT_NAMES)) if given else DEFAULT_RECORD_LIMITS


def _changed(given: list[str] | None, names: tuple[str, ...]) -> dict[str, int]:
    """The limits that NAME=VALUE texts change."""
    values = {}
    for item in given or ():
        name, _, text = item.partition("=")
        if name not in names or not text.isdecimal() or len(text) > 18:
            raise typer.BadParameter(
                f"{item!r} is not a limit; write NAME=VALUE with one of {', '.join(names)}",
                param_hint="--limit",
            )
        values[name] = int(text)
    return values


def one_argument(given: list[str], what: str) -> str:
    """The argument of a command that takes two only with --plan."""
    if len(given) != 1:
        raise typer.BadParameter(f"give one argument, {what}; two files make a plan with --plan")
    return given[0]


def needs_plan(**given: object) -> None:
    """Options that mean nothing for one module."""
    _refuse(given, "needs --plan")


def not_with_plan(**given: object) -> None:
    """Options that mean nothing for a plan."""
    _refuse(given, "cannot stand beside --plan")


def needs_peer(**given: object) -> None:
    """Options that mean nothing but beside the selector of a peer."""
    _refuse(given, "needs --peer")


def not_with_peer(**given: object) -> None:
    """Options that mean nothing beside the selector of a peer."""
    _refuse(given, "cannot stand beside --peer")


def needs_stores(**given: object) -> None:
    """Options that mean nothing but for an exchange of two stores."""
    _refuse(given, "needs --left and --right")


def not_with_stores(**given: object) -> None:
    """Options that mean nothing for an exchange of two stores."""
    _refuse(given, "cannot stand beside --left and --right")


def needs_connection(**given: object) -> None:
    """Options that mean nothing but for one side of a connection."""
    _refuse(given, "needs --connect or --listen")


def not_with_connection(**given: object) -> None:
    """Options that mean nothing for one side of a connection."""
    _refuse(given, "cannot stand beside --connect or --listen")


def needs_listen(**given: object) -> None:
    """Options that mean nothing but for a side that listens."""
    _refuse(given, "needs --listen")


def needs_connect(**given: object) -> None:
    """Options that mean nothing but for a side that connects."""
    _refuse(given, "needs --connect")


def _refuse(given: dict[str, object], why: str) -> None:
    for name, value in given.items():
        if value is not None and value is not False and value != []:
            raise typer.BadParameter(why, param_hint=f"--{name.replace('_', '-')}")
