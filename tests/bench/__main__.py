"""`make bench`: the language, evaluation beside others, plans, explanations, stores, exchanges."""

from rich.console import Console

from tests.bench import engine, exchange, language, plan, store, why

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    plan.main(console)
    why.main(console)
    store.main(console)
    exchange.main(console)
