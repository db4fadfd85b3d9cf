"""`make bench`: the language, evaluation beside other engines, plans, the store, exchanges."""

from rich.console import Console

from tests.bench import engine, exchange, language, plan, store

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    plan.main(console)
    store.main(console)
    exchange.main(console)
