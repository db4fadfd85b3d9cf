"""Terminal screenshots: each command is run as a user runs it, and what it prints is drawn.

In: the commands of SCREENS, run in a copy of examples/. Out: SVG, the same each time.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

EXAMPLES = Path(__file__).parent.parent / "examples"
MOST_COLUMNS = 120
SCALE = 0.7  # of what rich draws, so that text on a page has one size
STORES = (
    "lacec store init left",
    "lacec store init right",
    "printf 'to share' | lacec record new --group X --app ding --name one "
    "--tai 2026-01-31T12:00:00Z -o one",
    "lacec store import left one",
)
PLAN = "ours.lace theirs.lace --verifier1 V.theirs --side 0 --expose open.lace --facts ours.facts"
BOTH = "--left left --right right --policy ours.lace --expose selected"


class Screen(NamedTuple):
    """A command, what it is shown for, and what is done before."""

    command: str
    about: str
    before: tuple[str, ...] = ()


SCREENS = {
    "help": Screen("lacec --help", "Every command, and what it is for."),
    "check": Screen(
        "lacec check broken.lace",
        "Every problem at once, with its place and what to do about it.",
    ),
    "compile": Screen(
        "lacec compile links.lace", "The identity of a policy and of its rules, and its strata."
    ),
    "eval": Screen(
        "lacec eval links.lace --facts links.facts", "What a policy derives from facts."
    ),
    "explain": Screen(
        "lacec explain links.lace \"Selected('S.1')\" --facts links.facts",
        "Why a fact is derived: a proof down to what was given.",
    ),
    "why-not": Screen(
        "lacec explain links.lace \"Selected('S.2')\" --facts links.facts --not",
        "Why another is not: the first literal that fails.",
    ),
    "test": Screen(
        "lacec test wrong.test.toml",
        "A test that fails, with why the one is not there and the other is.",
        (
            "(echo 'policy = \"links.lace\"'; sed 's/is.selected = .*/is.selected = [\"S.2\"]/' "
            "links.test.toml) > wrong.test.toml",
        ),
    ),
    "diff": Screen(
        "lacec diff links.lace links-moved.lace --facts links.facts",
        "What a change of policy does, and by which rules.",
    ),
    "audit": Screen(f"lacec audit {PLAN}", "What the peer can learn from one side of a plan."),
    "dry-run": Screen(
        f"lacec run-interlace {BOTH} --dry-run",
        "What an exchange would move, and the rules that decide.",
        STORES,
    ),
    "exchange": Screen(f"lacec run-interlace {BOTH}", "The exchange itself.", STORES),
}

THEME = TerminalTheme(
    (27, 30, 36),
    (222, 224, 222),
    [
        (55, 60, 70), (240, 113, 120), (126, 200, 140), (233, 185, 110),
        (120, 170, 240), (200, 160, 240), (100, 200, 205), (200, 205, 210),
    ],
    [
        (130, 138, 150), (255, 138, 140), (150, 220, 160), (245, 205, 130),
        (150, 190, 250), (215, 180, 250), (130, 220, 225), (240, 242, 244),
    ],
)  # fmt: skip

# The frame that rich draws, without the fonts that it would fetch.
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", \
monospace; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font: 16px system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" \
clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def screenshot(name: str) -> str:
    screen = SCREENS[name]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "examples"
        shutil.copytree(EXAMPLES, here)
        for command in screen.before:
            _run(command, here)
        printed = _run(screen.command, here)
    text = Text.assemble(("$ ", "bright_black"), (screen.command, "bold"), "\n")
    text.append(Text.from_ansi(printed.rstrip()))
    shown = text.wrap(Console(), MOST_COLUMNS, tab_size=4)
    width = max(line.cell_len for line in shown)
    console = Console(
        record=True,
        width=width + 1,
        file=StringIO(),
        force_terminal=True,
    )
    for line in shown:
        console.print(line, soft_wrap=True)
    svg = console.export_svg(title="", theme=THEME, code_format=FRAME, unique_id=f"t-{name}")
    return re.sub(r"[ \t]+$", "", _sized(svg), flags=re.MULTILINE)


def _sized(svg: str) -> str:
    found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    assert found is not None
    width, height = (round(float(number) * SCALE) for number in found.groups())
    return svg.replace("<svg ", f'<svg width="{width}" height="{height}" ', 1)


def _run(command: str, folder: Path) -> str:
    """What a command prints on a terminal of ours: colours, and as wide as it is drawn."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    given = {"PATH": path, "FORCE_COLOR": "1", "COLUMNS": "100", "TERM": "xterm-256color"}
    result = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**kept, **given},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return result.stdout.decode("utf-8")


def terminal_page() -> str:
    lines = ["# On the terminal", "", "What the main commands print, in a copy of `examples/`."]
    for name, screen in SCREENS.items():
        words = screen.command.split()
        title = " ".join(words[: 3 if words[1] == "store" else 2])
        lines += ["", screen.about, "", f"![{title}](pictures/terminal-{name}.svg)"]
    return "\n".join(lines) + "\n"
