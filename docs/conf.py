"""How Sphinx makes a site of these pages: `make site`."""

from pathlib import Path
from typing import Any

from lacec import __version__

project, author, release = "lacec", "", __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "lacec"
html_show_sphinx = html_show_copyright = False
html_copy_source = False
exclude_patterns = ["__pycache__"]
myst_heading_anchors = 4
# The languages of code blocks that no highlighter knows.
suppress_warnings = ["misc.highlighting_failure"]

# The pages in order, below their headings; those that nobody listed are how-to pages.
PAGES = {
    "Begin": ["tutorial"],
    "How to": [
        "policies",
        "lint",
        "testing",
        "diff",
        "why",
        "editors",
        "plans",
        "keeping",
        "exchanging",
        "connections",
        "recordings",
        "using-python",
    ],
    "Stories": [
        "stories/sharing",
        "stories/membership",
        "stories/hostile",
        "stories/window",
        "stories/receipts",
        "stories/corpus",
    ],
    "About": ["disclosure", "architecture", "store", "terminal", "bench", "spec/README"],
    "Reference": [
        "language",
        "commands",
        "rules/README",
        "std/README",
        "opcodes",
        "records",
        "interlace",
        "transitions",
        "limits",
        "python",
    ],
}
# Folders whose pages stand below their first.
BELOW = ("rules/", "spec/", "std/")
FOLDER = Path(__file__).parent


def contents() -> str:
    """The table of contents, as MyST writes it."""
    found = [p.relative_to(FOLDER).with_suffix("").as_posix() for p in FOLDER.rglob("*.md")]
    pages = {name for name in found if not name.startswith(BELOW)} - {"index"}
    listed = {heading: [n for n in names if n in found] for heading, names in PAGES.items()}
    rest = pages - {name for names in listed.values() for name in names}
    listed["How to"] += sorted(rest)
    parts = []
    for heading, names in listed.items():
        entries = "\n".join(names)
        parts.append(f"```{{toctree}}\n:caption: {heading}\n:hidden:\n\n{entries}\n```\n")
    return "\n".join(parts)


def _below(folder: str) -> str:
    """The pages of a folder that stand below its first."""
    names = sorted(path.stem for path in (FOLDER / folder).glob("*.md") if path.stem != "README")
    entries = "\n".join(names)
    return f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def _add_contents(_: Any, name: str, source: list[str]) -> None:
    if name == "index":
        source[0] += "\n" + contents()
    elif name.endswith("/README"):
        source[0] += "\n" + _below(name.removesuffix("/README"))


def setup(app: Any) -> None:
    app.connect("source-read", _add_contents)
