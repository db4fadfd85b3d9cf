"""lacec run-interlace: exchange records between two stores, by the policies of both."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from lacec.cli.options import (
    JsonOption,
    LimitOption,
    LoweringOption,
    OriginsOption,
    read_limits,
)
from lacec.views import OriginMode

_EXPOSED = "what the peer may query: a file, selected, or all. Repeatable."


def _option(name: str, metavar: str, help: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=help)


Left = Annotated[Path, _option("left", "STORE", "The store on the left.")]
Right = Annotated[Path, _option("right", "STORE", "The store on the right.")]
BothPolicy = Annotated[str | None, _option("policy", "FILE", "The selector of both sides.")]
LeftPolicy = Annotated[str | None, _option("left-policy", "FILE", "The selector of the left.")]
RightPolicy = Annotated[str | None, _option("right-policy", "FILE", "The selector of the right.")]
Exposures = list[str] | None
BothExpose = Annotated[Exposures, _option("expose", "FILE", f"On both sides: {_EXPOSED}")]
LeftExpose = Annotated[Exposures, _option("left-expose", "FILE", f"On the left: {_EXPOSED}")]
RightExpose = Annotated[Exposures, _option("right-expose", "FILE", f"On the right: {_EXPOSED}")]
LeftKey = Annotated[Path | None, _option("left-key", "FILE", "The secret of the left.")]
RightKey = Annotated[Path | None, _option("right-key", "FILE", "The secret of the right.")]
Get = Annotated[str | None, _option("get", "COORDINATE", "The left selects what is there.")]
Below = Annotated[str | None, _option("list", "COORDINATE", "The left selects what is below.")]
Put = Annotated[
    list[str] | None, _option("put", "HASH", "The left selects this record. Repeatable.")
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
Record = Annotated[
    Path | None, _option("record", "FILE", "Write the exchange to a file, for lacec replay.")
]


def run_interlace_command(
    left: Left,
    right: Right,
    policy: BothPolicy = None,
    left_policy: LeftPolicy = None,
    right_policy: RightPolicy = None,
    expose: BothExpose = None,
    left_expose: LeftExpose = None,
    right_expose: RightExpose = None,
    left_key: LeftKey = None,
    right_key: RightKey = None,
    get: Get = None,
    below: Below = None,
    put: Put = None,
    advertise: Advertise = None,
    dry: Dry = False,
    open: Open = False,
    length: For = None,
    tick: Tick = None,
    record: Record = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Exchange records between two stores until neither has anything more for the other.

    A record moves when the selectors of both sides select it, where it is and where it
    goes. The selector of a side sees on the other only what is exposed to it there; where
    nothing is exposed, nothing is sent but what that selector names itself. With --open the
    exchange stays, and what other processes store meanwhile moves too.

    Example: lacec run-interlace --left mine --right theirs --policy links.lace --expose selected
    """
    # The engine and the store are heavy: help does not need them.
    from lacec.cli.attend import read_staying
    from lacec.cli.exchange import participants, run_dry, run_pair, two_sides
    from lacec.cli.store.common import opened
    from lacec.runtime.side import EXCHANGE_SECONDS

    staying = read_staying(open, dry, length, tick)
    if dry and record is not None:
        raise typer.BadParameter("a dry run is not recorded", param_hint="--record")
    limits = read_limits([f"seconds={EXCHANGE_SECONDS}", *(limit or ())])
    sides = two_sides(
        (left, right),
        (left_policy or policy, right_policy or policy),
        ([*(expose or ()), *(left_expose or ())], [*(expose or ()), *(right_expose or ())]),
    )
    with ExitStack() as stack:
        stores = [stack.enter_context(opened(s.store, json, read_only=dry)) for s in sides]
        both = participants(
            sides,
            (stores[0], stores[1]),
            (left_key, right_key),
            (get, below, put),
            advertise,
            origins,
            lowering,
            limits,
            json,
        )
        if dry:
            run_dry(both, limits, json)
        else:
            run_pair(both, (stores[0], stores[1]), staying, record, limits, json)
