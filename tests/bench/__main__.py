"""`make bench`: the language, evaluation beside other engines, plans; each as one table."""

from rich.console import Console

from tests.bench import engine, language, plan

if __name__ == "__main__":
    console = Console()
    language.main(console)
    engine.main(console)
    plan.main(console)
