"""Options in groups: to typer each field is an option, to the command a group is one value."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from lacec.cli.groups import grouped


@dataclass(frozen=True)
class Colours:
    front: Annotated[str, typer.Option("--front", help="In front.")] = "red"
    back: Annotated[str | None, typer.Option("--back")] = None


def test_a_group_is_made_of_its_options() -> None:
    seen: list[tuple[Colours, bool]] = []

    @grouped
    def paint(colours: Colours, wet: Annotated[bool, typer.Option("--wet")] = False) -> None:
        """Paint."""
        seen.append((colours, wet))

    app = typer.Typer()
    app.command()(paint)
    for arguments in ([], ["--back", "blue", "--wet"]):
        assert CliRunner().invoke(app, arguments).exit_code == 0
    assert seen == [(Colours(), False), (Colours("red", "blue"), True)]
    assert "In front." in CliRunner().invoke(app, ["--help"]).output
