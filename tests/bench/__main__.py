"""`make bench`: the language, evaluation beside other engines, changes, plans, store, exchanges."""

from rich.console import Console

from tests.bench import engine, exchange, incremental, language, plan, store

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    incremental.main(console)
    plan.main(console)
    store.main(console)
    exchange.main(console)
