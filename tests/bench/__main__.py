"""`make bench`: the language, evaluation, changes, plans, explanations, stores, links."""

from rich.console import Console

from tests.bench import engine, exchange, iltp, incremental, language, plan, store, why

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    incremental.main(console)
    plan.main(console)
    why.main(console)
    store.main(console)
    exchange.main(console)
    iltp.main(console)
