"""`make bench`: each part of lacec beside others, one table after the other."""

from rich.console import Console

from tests.bench import (
    engine,
    exchange,
    iltp,
    incremental,
    language,
    plan,
    spark_ingest,
    store,
    typing,
    why,
)

if __name__ == "__main__":
    console = Console()
    language.main(console)
    typing.main(console)
    engine.main(console)
    incremental.main(console)
    plan.main(console)
    why.main(console)
    store.main(console)
    exchange.main(console)
    iltp.main(console)
    spark_ingest.main(console)
