"""`make bench`: each part of lacec beside others, one table after the other.

In: the names of parts, all if none; and by how much less is measured, as --by 10.
"""

import argparse

from rich.console import Console

from tests.bench import (
    engine,
    exchange,
    iltp,
    incremental,
    language,
    open_exchange,
    peers,
    plan,
    spark,
    spark_ingest,
    store,
    typing,
    why,
)

# Those that can do with fewer records, and those that are of one size.
OF_A_SIZE = {
    "incremental": incremental.main,
    "open_exchange": open_exchange.main,
    "why": why.main,
    "store": store.main,
    "exchange": exchange.main,
    "iltp": iltp.main,
}
OTHERS = {
    "language": language.main,
    "typing": typing.main,
    "engine": engine.main,
    "plan": plan.main,
    "spark": spark.main,
    "spark_ingest": spark_ingest.main,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tests.bench")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join([*OTHERS, *OF_A_SIZE])}")
    parser.add_argument("--by", type=int, default=1)
    given = parser.parse_args()
    for name in given.parts:
        if name not in {*OTHERS, *OF_A_SIZE}:
            parser.error(f"there is no part {name}")
    console = Console(width=max(140, Console().width))
    if left_out := peers.missing():
        console.print(f"not installed, and left out: {', '.join(left_out)}")
    for name in given.parts or [*OTHERS, *OF_A_SIZE]:
        if name in OTHERS:
            OTHERS[name](console)
        else:
            OF_A_SIZE[name](console, given.by)
