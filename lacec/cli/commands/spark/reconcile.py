"""lacec spark reconcile: what two laces would exchange, over tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lacec.cli.commands.run_interlace import (
    Advertise,
    BothExpose,
    BothPolicy,
    LeftExpose,
    LeftKey,
    LeftPolicy,
    RightExpose,
    RightKey,
    RightPolicy,
)
from lacec.cli.commands.spark.common import refusing
from lacec.cli.commands.spark.evaluation import (
    OutOption,
    SparkOptions,
    check_new,
    evaluating,
    new_folder,
    stages,
)
from lacec.cli.exchange import SideOptions, read_fields, read_policies, read_verifiers, two_sides
from lacec.cli.groups import grouped
from lacec.cli.options import (
    JsonOption,
    LimitOption,
    LoweringOption,
    OriginsOption,
    read_limits,
)
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import Segment, write, write_json
from lacec.core.errors import PlanError
from lacec.core.origins import OriginMode
from lacec.records.tai import now
from lacec.runtime.exchange.recording.recorder import NAMES
from lacec.spark.agreement import Agreed, agree

if TYPE_CHECKING:
    from lacec.spark.reconciled import Reconciled

# With --json so many partitions, differences and requests are listed; --out has them all.
MOST_LISTED = 1000


@dataclass(frozen=True)
class Policies:
    """What each side brings, as for run-interlace."""

    policy: BothPolicy = None
    expose: BothExpose = None
    left_policy: LeftPolicy = None
    right_policy: RightPolicy = None
    left_expose: LeftExpose = None
    right_expose: RightExpose = None
    left_key: LeftKey = None
    right_key: RightKey = None
    advertise: Advertise = None
    origins: OriginsOption = OriginMode.OPAQUE
    lowering: LoweringOption = None

    def sides(self, folders: tuple[Path, Path]) -> tuple[SideOptions, SideOptions]:
        both = self.expose or []
        return two_sides(
            folders,
            (self.left_policy or self.policy, self.right_policy or self.policy),
            ([*both, *(self.left_expose or ())], [*both, *(self.right_expose or ())]),
        )


@grouped
def reconcile_command(
    left: Annotated[
        Path, typer.Argument(metavar="A", help="The records on the left, an ingested folder.")
    ],
    right: Annotated[
        Path, typer.Argument(metavar="B", help="The records on the right, an ingested folder.")
    ],
    policies: Policies,
    spark: SparkOptions,
    loops: Annotated[
        int | None,
        typer.Option("--loops", min=1, help="Stop after so many loops; at the end unless told."),
    ] = None,
    limit: LimitOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Say what an exchange between two ingested folders would offer, request and move.

    Of each side: how many records it may send, in how many partitions, how many of them the
    other does not offer, what it requests and receives until nothing more is requested, and
    the bytes of it. With --out, write tables of digests, partitions, differences and requests.

    Example: lacec spark reconcile ours theirs --policy links.lace --expose selected
    """
    limits = read_limits(limit)
    check_new(out)
    folders = (left, right)
    verifiers = read_verifiers((policies.left_key, policies.right_key))
    both = read_policies(
        policies.sides(folders),
        (None, None, None),
        policies.origins,
        policies.lowering,
        limits,
        json,
    )
    try:
        agreed = agree(both, now(), verifiers, read_fields(policies.advertise))
    except PlanError as error:
        raise typer.BadParameter(str(error)) from None
    with refusing(json):
        from lacec.spark.tables import batches, read_records

        for folder in folders:
            batches(folder)  # which refuses what is no such folder, before Spark starts
    with evaluating(spark, json) as (session, place), stages() as tell:
        from lacec.spark.archive import prepare
        from lacec.spark.reconcile import Reconciliation
        from lacec.spark.scratch import Work

        records = [read_records(session, folder) for folder in folders]
        work, executors = Work(session, str(place), tell), prepare(session, place)
        found = Reconciliation(agreed, records, executors, work, limits).run(loops)
        if out is not None:
            tell("writing tables")
            with new_folder(out) as target:
                for name, frame in found.written(session).items():
                    frame.write.parquet(str(target / f"{name}.parquet"))
        if json:
            write_json(_agreed_json(agreed) | found.json(MOST_LISTED))
        else:
            write(_text(found))
    if found.limited:
        raise typer.Exit(3)


def _agreed_json(agreed: Agreed) -> dict[str, object]:
    names = sorted(agreed.schema.names)
    return {"plan": agreed.plan.id, "fields": names, "all_fields": agreed.schema.every}


def _text(found: "Reconciled") -> Iterator[Segment]:
    heads = ("sends", "only here", "requests", "receives", "partitions")
    yield "       " + "".join(f"  {head:>13}" for head in heads) + "\n", "dim"
    told = [side.json() for side in found.sides]
    for name, side in zip(NAMES, told, strict=True):
        keys = ("send", "only_here", "requested", "received", "partitions")
        yield f"{name:7}", "bold"
        yield "".join(f"  {side[key]:13,}" for key in keys) + "\n", ""
    yield "\nbytes  " + "".join(f"  {head:>13}" for head in told[0]["bytes"]) + "\n", "dim"
    for name, side in zip(NAMES, told, strict=True):
        yield f"{name:7}", "bold"
        yield "".join(f"  {size:13,}" for size in side["bytes"].values()) + "\n", ""
    yield "\n", ""
    for name, side in zip(NAMES, told, strict=True):
        yield f"{name:7}", "bold"
        yield f"  root {side['root']}\n", ""
    yield f"{counted(len(found.differing()), 'partition')} with different records\n", ""
    after = counted(found.loops, "loop")
    if found.converged:
        yield f"converged after {after}\n", "green"
    elif found.limited:
        yield f"not converged after {after}: too many of them moved nothing\n", "bold red"
    else:
        yield f"stopped after {after}, as --loops says\n", "dim"
