"""`make bench`: the language, evaluation beside others, plans, the store, exchanges, links."""

from rich.console import Console

from tests.bench import engine, exchange, iltp, language, plan, store

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    plan.main(console)
    store.main(console)
    exchange.main(console)
    iltp.main(console)
