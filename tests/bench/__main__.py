"""`make bench`: the language, then evaluation beside other engines, each as one table."""

from rich.console import Console

from tests.bench import engine, language

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
