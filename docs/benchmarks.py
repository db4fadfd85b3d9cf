"""The page on benchmarks: charts and tables of what the last run measured.

In: docs/bench.json, which `make bench` writes, and the parts of the benchmark. Out: a page, and
a chart of bars for each part that is kept.
"""

import ast
import json
import re
from functools import cache
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

from lacec.explain.html_report.html import Html, tag

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "tests" / "bench"
INTRODUCTION = """\
# Benchmarks

`make bench` measures each part of lacec, beside others where there are any to be had, and prints
one table after the other. `make bench PARTS="why store"` measures these alone, and with `BY=10` a
tenth of the records. Nothing in it passes or fails. It installs the other engines into `.venv`, and
takes a good while. Charts and tables here show what it measured last.

## Beside other engines

The time to solve the same questions over the same records, on a logarithmic scale. Facts are loaded
before the clock starts, for every engine in the layout that suits it best.

![Solve times of lacec and other engines](bench.png)
"""


class Chart(NamedTuple):
    """How the numbers of a part are shown; `log` where they differ by powers of ten."""

    title: str
    unit: str
    log: bool
    text: str


CHARTS = {
    "change": Chart(
        "One change",
        "milliseconds of the processor",
        True,
        "A record comes, and what is derived is brought up to date; beside it, an evaluation of "
        "all over facts that are loaded.",
    ),
    "open": Chart(
        "An open exchange",
        "milliseconds",
        True,
        "Two stores are joined by an exchange that stays. From a record that is stored in one of "
        "them until the other requests it; claims are handed over as they are, or told by "
        "summaries of partitions, as on a connection.",
    ),
    "wire": Chart(
        "Finding what differs",
        "bytes",
        True,
        "What two sides tell each other, one way, until one knows what it lacks. The least is 32 "
        "bytes a record.",
    ),
    "transport": Chart(
        "Exchanging",
        "records a second of the processor",
        False,
        "Sealed records that one side lacks, sent, validated and stored.",
    ),
    "proof": Chart(
        "Proofs",
        "milliseconds of the processor",
        True,
        "Why one record is selected, beside the evaluation that selected it.",
    ),
    "import": Chart(
        "Importing",
        "records a second of the processor",
        False,
        "Sealed records into a store. The bare loop hashes, verifies and inserts, and no more.",
    ),
    "opening": Chart(
        "Opening",
        "seconds of the processor",
        True,
        "From a store, or from the bytes of its records, to the result of a first selection.",
    ),
    "spark": Chart(
        "On Spark",
        "seconds",
        True,
        "The same policies over tables. DuckDB reads a row for each field, which is what one has "
        "without ingesting; lacec reads what `lacec spark ingest` wrote.",
    ),
    "ingest": Chart(
        "Ingesting",
        "records a second of a processor",
        False,
        "Records into tables on Spark, beside plain processes that check them and write nothing.",
    ),
}
LABEL, BAR, WIDTH, STEP = 260, 360, 720, 20
STYLE = """
svg { background: #fff; }
text { font: 12px system-ui, sans-serif; fill: #22252b; }
text.group { font-weight: 600; }
text.what { text-anchor: end; }
rect { fill: #0b6e75; }
"""


@cache
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "docs" / "bench.json").read_text("utf-8"))
    return found


def groups(name: str) -> dict[str, dict[str, float]]:
    """The numbers of a part: by group, and by what was measured."""
    found: dict[str, dict[str, float]] = {}
    for group, what, number in results()[name]["rows"]:
        found.setdefault(group, {})[what] = number
    return found


def shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def chart(name: str) -> str:
    """Bars below each other, each with its number."""
    drawn, found = CHARTS[name], groups(name)
    numbers = [number for rows in found.values() for number in rows.values() if number > 0]
    least, most = min(numbers), max(numbers)

    def width(number: float) -> float:
        if not drawn.log:
            return BAR * number / most
        # The smallest is a short bar, and each power of ten as long as another.
        return BAR * (0.05 + 0.95 * log10(number / least) / (log10(most / least) or 1))

    scale = ", logarithmic" if drawn.log else ""
    y = STEP
    parts = [tag("text", f"{drawn.unit}{scale}", x=LABEL, y=y)]
    for group, rows in found.items():
        y += STEP
        parts.append(tag("text", group, x=10, y=y, class_="group"))
        for what, number in rows.items():
            y += STEP
            long = round(width(number), 1) if number > 0 else 0
            parts.append(tag("text", what, x=LABEL - 8, y=y, class_="what"))
            parts.append(tag("rect", x=LABEL, y=y - 11, width=long, height=14))
            parts.append(tag("text", shown(number), x=LABEL + long + 6, y=y))
    body = tag("style", Html(STYLE)).text + "".join(part.text for part in parts)
    size = f"0 0 {WIDTH} {y + STEP}"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{WIDTH}">'
    return f"{opening}{body}</svg>\n"


def _part(name: str) -> list[str]:
    drawn, found, kept = CHARTS[name], groups(name), results()[name]
    columns = list(dict.fromkeys(what for rows in found.values() for what in rows))
    lines = [f"## {drawn.title}", "", drawn.text, ""]
    lines += [f"![{drawn.title}: {drawn.unit}](pictures/bench-{name}.svg)", ""]
    lines += [f"| {drawn.unit} | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for group, rows in found.items():
        cells = (shown(rows[what]) if what in rows else "" for what in columns)
        lines.append(f"| {group} | {' | '.join(cells)} |")
    return [*lines, "", f"{kept['about']} On {kept['machine']}.", ""]


def bench_page() -> str:
    main = (BENCH / "__main__.py").read_text("utf-8")
    lines = [INTRODUCTION]
    for name in CHARTS:
        lines += _part(name)
    lines += ["## The parts", ""]
    for name in re.findall(r'^    "(\w+)": ', main, re.MULTILINE):
        text = ast.get_docstring(ast.parse((BENCH / f"{name}.py").read_text("utf-8"))) or ""
        title = name.replace("_", " ").capitalize()
        lines += [f"### {title}", "", text, ""]
    return "\n".join(lines).rstrip("\n") + "\n"
