"""lacec spark plan: what one side of an exchange plan would do, over tables."""

from lacec.cli.commands.spark.evaluation import (
    CorpusOption,
    OutOption,
    SparkOptions,
    check_new,
    evaluating,
    evaluator,
    folders_and_files,
    stages,
    write_results,
)
from lacec.cli.facts import read_fact_files
from lacec.cli.groups import grouped
from lacec.cli.options import (
    ExposeOption,
    JsonOption,
    LimitOption,
    LoweringOption,
    NarrowOption,
    Nonce0Option,
    Nonce1Option,
    Operand0Argument,
    Operand1Argument,
    OriginsOption,
    SideOption,
    TrustOption,
    Verifier0Option,
    Verifier1Option,
    read_limits,
)
from lacec.cli.plan import Policy, Setup, derived_names, read_side
from lacec.cli.render.output import write_json
from lacec.cli.render.report import refuse
from lacec.core.origins import OriginMode
from lacec.core.predicates import Predicate
from lacec.engine.side import PROFILE_FACTS
from lacec.plan.lower import MAY_REQUEST, MAY_SEND

# The records that the peer's viewer may query.
CAN_QUERY = Predicate("CanQueryRecord", 1)


@grouped
def plan_command(
    file0: Operand0Argument,
    file1: Operand1Argument,
    spark: SparkOptions,
    side: SideOption = None,
    facts: CorpusOption = None,
    expose: ExposeOption = None,
    narrow: NarrowOption = None,
    trust_peer: TrustOption = False,
    verifier0: Verifier0Option = None,
    verifier1: Verifier1Option = None,
    nonce0: Nonce0Option = None,
    nonce1: Nonce1Option = None,
    origins: OriginsOption = OriginMode.OPAQUE,
    lowering: LoweringOption = None,
    limit: LimitOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Say what one side of a plan may send and request, over ingested records.

    The answers are those of `lacec eval --plan`. With --out, write them as tables; with
    --json and no --out, print all hashes.

    Example: lacec spark plan ours.lace theirs.lace --side 0 --expose selected --facts tables
    """
    limits = read_limits(limit)
    check_new(out)
    setup = Setup((verifier0, verifier1), (nonce0, nonce1), origins, lowering)
    policy = Policy(expose or (), narrow or (), trust_peer)
    plan, program, reader = read_side((file0, file1), side, setup, policy, limits, json)
    folders, names = folders_and_files(facts)
    derived = derived_names(plan, program)
    plain, wrong, read = read_fact_files(names, derived, limits, known=PROFILE_FACTS)
    if wrong:
        refuse((*reader.diagnostics, *wrong), reader.sources | read, json)
    with evaluating(spark, json) as (session, folder), stages() as tell:
        from lacec.spark.evaluate import collect

        found = evaluator(session, folder, folders, plain, limits, tell).side(program)
        frames = {
            MAY_SEND: found.may_send,
            MAY_REQUEST: found.may_request,
            CAN_QUERY: found.can_query,
        }
        if json and out is None:
            names_of = {MAY_SEND: "may_send", MAY_REQUEST: "may_request", CAN_QUERY: "can_query"}
            rows = collect(frames)
            write_json({name: [row[0] for row in rows[p]] for p, name in names_of.items()})
        else:
            counts = write_results(frames, out, folder, tell, json)
            if json:
                write_json({"counts": counts})
