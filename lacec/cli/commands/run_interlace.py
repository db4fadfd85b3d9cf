"""lacec run-interlace: exchange records, by the policies of both sides."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lacec.cli.groups import grouped
from lacec.cli.link_options import LinkOptions, ListenOptions
from lacec.cli.options import (
    JsonOption,
    LoweringOption,
    OriginsOption,
    needs_connection,
    needs_listen,
    not_with_connection,
    read_exchange_limits,
)
from lacec.core.limits import LIMIT_NAMES
from lacec.core.origins import OriginMode
from lacec.runtime.interlace.limits import LIMIT_NAMES as OF_EXCHANGES

if TYPE_CHECKING:
    from lacec.cli.exchange import SideOptions

_EXPOSED = "what the peer may query: a file, selected, or all. Repeatable."


def _option(name: str, metavar: str, help: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=help)


Left = Annotated[Path | None, _option("left", "STORE", "The store on the left.")]
Right = Annotated[Path | None, _option("right", "STORE", "The store on the right.")]
BothPolicy = Annotated[
    str | None, _option("policy", "FILE", "The selector; of both sides, if both are here.")
]
LeftPolicy = Annotated[str | None, _option("left-policy", "FILE", "The selector of the left.")]
RightPolicy = Annotated[str | None, _option("right-policy", "FILE", "The selector of the right.")]
Exposures = list[str] | None
BothExpose = Annotated[
    Exposures, _option("expose", "FILE", f"On both sides, if both are here: {_EXPOSED}")
]
LeftExpose = Annotated[Exposures, _option("left-expose", "FILE", f"On the left: {_EXPOSED}")]
RightExpose = Annotated[Exposures, _option("right-expose", "FILE", f"On the right: {_EXPOSED}")]
LeftKey = Annotated[Path | None, _option("left-key", "FILE", "The secret of the left.")]
RightKey = Annotated[Path | None, _option("right-key", "FILE", "The secret of the right.")]
_INSTEAD = "in place of a policy (of the left, if both are here)."
Get = Annotated[str | None, _option("get", "COORDINATE", f"Select what is there, {_INSTEAD}")]
Below = Annotated[str | None, _option("list", "COORDINATE", f"Select what is below, {_INSTEAD}")]
Put = Annotated[
    list[str] | None, _option("put", "HASH", f"Select this record, {_INSTEAD} Repeatable.")
]
Advertise = Annotated[
    list[str] | None,
    _option("advertise", "FIELD", "Advertise this field too, or all. Repeatable."),
]
Dry = Annotated[bool, typer.Option("--dry-run", help="Only say what would move, by which rules.")]
Open = Annotated[bool, typer.Option("--open", help="Stay, and exchange what is new, until Ctrl-C.")]
For = Annotated[str | None, _option("for", "TIME", "With --open: end after 90s, 15m or 2h.")]
Tick = Annotated[
    str | None, _option("tick", "TIME", "With --open: how often TickTAI moves; 10s unless told.")
]
Limit = Annotated[
    list[str] | None,
    _option(
        "limit",
        "NAME=VALUE",
        f"Change a limit: {', '.join(LIMIT_NAMES)}; on connections also "
        f"{', '.join(OF_EXCHANGES)}. Repeatable.",
    ),
]
Record = Annotated[
    Path | None, _option("record", "FILE", "Write the exchange to a file, for lacec replay.")
]


@dataclass(frozen=True)
class TwoStores:
    """Of an exchange between two stores: what belongs to one side."""

    left: Left = None
    right: Right = None
    left_policy: LeftPolicy = None
    right_policy: RightPolicy = None
    left_expose: LeftExpose = None
    right_expose: RightExpose = None
    left_key: LeftKey = None
    right_key: RightKey = None

    @property
    def keys(self) -> tuple[Path | None, Path | None]:
        return self.left_key, self.right_key

    def sides(
        self, policy: str | None, expose: Exposures, missing: str
    ) -> "tuple[SideOptions, SideOptions]":
        """Both sides, with what is said of both."""
        from lacec.cli.exchange import two_sides

        if self.left is None or self.right is None:
            raise typer.BadParameter(missing)
        both = expose or []
        return two_sides(
            (self.left, self.right),
            (self.left_policy or policy, self.right_policy or policy),
            ([*both, *(self.left_expose or ())], [*both, *(self.right_expose or ())]),
        )


@dataclass(frozen=True)
class PairOptions:
    """Of an exchange between two stores: how it is run."""

    dry_run: Dry = False
    record: Record = None


@dataclass(frozen=True)
class Exchanging:
    """Of all exchanges."""

    policy: BothPolicy = None
    expose: BothExpose = None
    get: Get = None
    below: Below = None
    put: Put = None
    advertise: Advertise = None
    open: Open = False
    length: For = None
    tick: Tick = None
    origins: OriginsOption = OriginMode.OPAQUE
    lowering: LoweringOption = None
    limit: Limit = None

    @property
    def operation(self) -> tuple[str | None, str | None, list[str] | None]:
        return self.get, self.below, self.put


@grouped
def run_interlace_command(
    stores: TwoStores,
    pair: PairOptions,
    exchanging: Exchanging,
    link: LinkOptions,
    listen: ListenOptions,
    json: JsonOption = False,
) -> None:
    """Exchange records until neither side has anything more for the other.

    Between two stores, --left and --right; or between one, --store, and whoever listens at
    an address, --connect, or connects to one, --listen.

    A record moves when the selectors of both sides select it, where it is and where it
    goes. The selector of a side sees on the other only what is exposed to it there; where
    nothing is exposed, nothing is sent but what that selector names itself. With --open the
    exchange stays, and what other processes store meanwhile moves too.

    Example: lacec run-interlace --left mine --right theirs --policy links.lace --expose selected
    """
    if link.connect is None and link.listen is None:
        needs_connection(**vars(link))
        needs_listen(**vars(listen))
        _exchange_of_two(stores, pair, exchanging, json)
        return
    if pair.record is not None:
        raise typer.BadParameter(
            "a recording has both sides, and of a connection only one is here: record an exchange "
            "of two stores, --left and --right",
            param_hint="--record",
        )
    not_with_connection(**vars(stores), **vars(pair))
    if link.listen is None:
        needs_listen(**vars(listen))
        from lacec.cli.connect import run_connect

        run_connect(link, exchanging, json)
    else:
        from lacec.cli.listen import run_listen

        run_listen(link, listen, exchanging, json)


def _exchange_of_two(two: TwoStores, pair: PairOptions, options: Exchanging, json: bool) -> None:
    # The engine and the store are heavy: help does not need them.
    from lacec.cli.commands.store.common import opened
    from lacec.cli.exchange import participants, run_dry, run_pair
    from lacec.cli.progress import read_staying

    missing = "give two stores, --left and --right; or one, --store, and --connect or --listen"
    sides = two.sides(options.policy, options.expose, missing)
    staying = read_staying(options.open, pair.dry_run, options.length, options.tick)
    if pair.dry_run and pair.record is not None:
        raise typer.BadParameter("a dry run is not recorded", param_hint="--record")
    limits = read_exchange_limits(options.limit)
    with ExitStack() as stack:
        dry = pair.dry_run
        stores = [stack.enter_context(opened(s.store, json, read_only=dry)) for s in sides]
        both = participants(
            sides,
            (stores[0], stores[1]),
            two.keys,
            options.operation,
            options.advertise,
            options.origins,
            options.lowering,
            limits,
            json,
        )
        if dry:
            run_dry(both, limits, json)
        else:
            run_pair(both, (stores[0], stores[1]), staying, pair.record, limits, json)
