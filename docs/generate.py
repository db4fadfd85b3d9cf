"""Write the pages that are derived: the index of diagnostics and the command reference.

Run it with `make docs`; a test fails when a page is stale.
"""

import re
from pathlib import Path

import typer

from lacec.cli import COMMANDS, build
from lacec.diagnostics import CATALOGUE
from lacec.resources import rule_page_path

DOCS = Path(__file__).parent


def rule_index() -> str:
    lines = [
        "# Diagnostics",
        "",
        "Every name that `lacec check` and `lacec compile` print. `lacec explain NAME` prints",
        "its page.",
        "",
        "| name | severity | what it says |",
        "|---|---|---|",
    ]
    for name, severity in CATALOGUE.items():
        summary = rule_page_path(name).read_text(encoding="utf-8").split("\n")[2]
        summary = re.sub(r" \((The|Written).*\)$", "", summary)
        lines.append(f"| [{name}]({name}.md) | {severity} | {summary} |")
    return "\n".join(lines) + "\n"


def command_reference() -> str:
    lines = [
        "# Commands",
        "",
        "`lacec COMMAND --help` prints the same. Exit codes: 0 done; 1 the input is wrong, and",
        "diagnostics were printed; 2 the command line is wrong; 130 interrupted.",
    ]
    group = typer.main.get_command(build(COMMANDS))
    for name in COMMANDS:
        command = group.commands[name]  # type: ignore[attr-defined]
        context = typer.Context(command, info_name=f"lacec {name}")
        lines += ["", f"## lacec {name}", "", command.help or "", ""]
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if parameter.param_type_name == "option" and "--help" not in parameter.opts:
                options = ", ".join(f"`{option}`" for option in parameter.opts)
                lines.append(f"- {options}: {(record or ('', ''))[1]}")
        lines += ["", f"    {(command.epilog or '').removeprefix('Example: ')}"]
    return "\n".join(lines) + "\n"


PAGES = {
    DOCS / "rules" / "README.md": rule_index,
    DOCS / "commands.md": command_reference,
}


if __name__ == "__main__":
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
