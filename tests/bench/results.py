"""The numbers of the last run, which the page on benchmarks and its charts are made of.

In: rows of a part, each with a group, what was measured, and a number. Out: docs/bench.json, in
which the rows of other parts stay as they are.
"""

import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[2] / "docs" / "bench.json"
Row = tuple[str, str, float]


def keep(part: str, about: str, rows: Iterable[Row]) -> None:
    """`about` says how much was measured, and how."""
    found = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    numbers = [[group, what, float(f"{number:.3g}")] for group, what, number in rows]
    found[part] = {"about": about, "machine": _machine(), "rows": numbers}
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")


def _machine() -> str:
    """What it ran on, and what else that did: over one task a core, others were at work too."""
    load = os.getloadavg()[2]
    python = ".".join(platform.python_version_tuple()[:2])
    return (
        f"{os.cpu_count()} cores, Python {python}, NumPy {np.__version__}; "
        f"on average {load:.1f} tasks at work in the last 15 minutes"
    )
