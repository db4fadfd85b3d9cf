"""`make bench`: language, typing, evaluation, changes, plans, explanations, stores, exchanges."""

from rich.console import Console

from tests.bench import engine, exchange, incremental, language, plan, store, typing, why

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
