"""`make bench`: the language, evaluation and the store, beside others, as tables."""

from rich.console import Console

from tests.bench import engine, language, store

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    store.main(console)
