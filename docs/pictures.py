"""The pictures of the architecture, drawn from the code that they are about.

In: the imports of the package, the passes, the machine that runs bytecode, the transitions of
an exchange. Out: SVG that stands alone.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lacec.bytecode.opcodes import OPCODES
from lacec.check import CHECKS
from lacec.explain.html_report.graph import Edge, Node, draw
from lacec.explain.html_report.html import Html, tag
from lacec.pipeline import PASSES
from lacec.runtime.interlace import messages
from lacec.runtime.interlace.state import State
from lacec.runtime.interlace.table import ROWS

PACKAGE = Path(__file__).parent.parent / "lacec"
STYLE = """
svg { background: #fff; }
text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  text-anchor: middle; fill: #22252b; }
text.note { font-size: 9.5px; fill: #656b76; }
text.band, text.soft { font: 11px system-ui, sans-serif; fill: #656b76; }
text.band { text-anchor: start; }
text.start { text-anchor: start; }
text.strong { font-weight: 600; }
rect.band { fill: #f3f1ec; }
rect.b1 { fill: #eef4f3; }
rect.node { fill: #fff; stroke: #0b6e75; stroke-width: 1.5; }
rect.outer { stroke: #a8480f; }
rect.thing { stroke: #656b76; stroke-dasharray: 3 3; }
.edge { fill: none; stroke: #656b76; stroke-width: 1.3; }
.tip { fill: #656b76; }
.back { fill: none; stroke: #a8480f; stroke-width: 1.3; stroke-dasharray: 6 4; }
.tip.back { fill: #a8480f; stroke: none; }
"""


def _alone(svg: Html) -> str:
    """A picture that brings its own style."""
    first, _, rest = svg.text.partition(">")
    return f"{first}>{tag('style', Html(STYLE)).text}{rest}\n"


def _flow(
    bands: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    edges: Iterable[tuple[str, str]],
    title: str,
) -> str:
    """Boxes with notes in bands, and arrows from one to another."""
    nodes = [
        Node(name, number, "thing" if note == "" else "node", note)
        for number, (_, boxes) in enumerate(bands)
        for name, note in boxes
    ]
    order = [[node.name] for node in nodes]
    lines = [Edge(to, start, "uses", f"{start} → {to}") for start, to in edges]
    names = dict(enumerate(name for name, _ in bands))
    return _alone(draw(nodes, lines, order, names, title).svg)


# Which part of the package uses which.

# Folders by what they are about, the first of which need none of the others.
LAYERS = (
    ("records", ("records",)),
    ("language", ("syntax", "check", "canonical")),
    ("policy", ("plan", "bytecode")),
    ("machine", ("facts", "vm", "engine", "explain")),
    ("exchange", ("store", "runtime", "spark")),
    ("people", ("lint", "project", "policytest", "lsp", "cli")),
)


def _uses() -> dict[str, set[str]]:
    """The parts, folders or files of the package, that each of them imports."""
    parts = {name for _, names in LAYERS for name in names}
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if part not in parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            used = {name.split(".")[1] for name in names if name.startswith("lacec.")}
            found.setdefault(part, set()).update((used & parts) - {part})
    return found


def parts_picture() -> str:
    """The parts of the package; an arrow that others already imply is left out."""
    uses = _uses()

    def reached(part: str, seen: frozenset[str] = frozenset()) -> set[str]:
        near = uses[part] - seen
        return near | {far for each in near for far in reached(each, seen | near | {part})}

    edges = [
        (used, part)
        for part, near in uses.items()
        for used in sorted(near)
        if not any(used in reached(other, frozenset({part})) for other in near - {used})
    ]
    bands = [
        (layer, [(name, ABOUT[name]) for name in names if name in uses]) for layer, names in LAYERS
    ]
    return _flow(bands, edges, "Which part of lacec uses which")


ABOUT = {
    "syntax": "text ⇄ tree",
    "check": "one property a file",
    "canonical": "identity",
    "lint": "one rule a file",
    "records": "bytes, hashes, facts",
    "plan": "two selectors, one plan",
    "bytecode": "one table of opcodes",
    "facts": "lines, CSV, Parquet",
    "vm": "relations in NumPy",
    "engine": "modules and sides over facts",
    "explain": "why, and why not",
    "store": "records and their facts",
    "runtime": "plans executed in exchanges",
    "spark": "the same blocks on Spark",
    "project": "lace.toml and what it links",
    "policytest": "lacec test",
    "lsp": "editors",
    "cli": "one command a file",
}


# From text to identity, and on to the machine.


def pipeline_picture() -> str:
    """The passes in their order, and the checks that one of them makes."""
    passes = [each.__name__ for each in PASSES]
    checks = [each.__name__ for each in CHECKS]
    bands: list[tuple[str, list[tuple[str, str]]]] = [("in", [("sources", "")])]
    edges = []
    last = "sources"
    for name in passes:
        if name == "check_program":
            bands.append(("checks", [(check, _file_of(check, CHECKS)) for check in checks]))
            edges += [(last, check) for check in checks] + [(check, name) for check in checks]
        else:
            edges.append((last, name))
        bands.append(("pass", [(name, "pipeline.py")]))
        last = name
    bands.append(("out", [("module", ""), ("diagnostics", "")]))
    edges += [(last, "module"), ("check_program", "diagnostics")]
    return _flow(bands, edges, "From source to a module")


def _file_of(name: str, functions: Iterable[Callable[..., object]]) -> str:
    (found,) = (each for each in functions if each.__name__ == name)
    return f"{found.__module__.removeprefix('lacec.').replace('.', '/')}.py"


def machine_picture() -> str:
    """One bytecode, and who runs it."""
    runners = {
        "machine": "vm/machine.py",
        "incremental": "vm/live/incremental.py",
        "why": "vm/provenance/why.py",
        "spark": "spark/kernels.py",
    }
    here = {name: file for name, file in runners.items() if (PACKAGE / file).is_file()}
    bands = [
        ("in", [("a module", ""), ("opcodes", f"{len(OPCODES)} of them"), ("a side", "")]),
        ("code", [("emit", "bytecode/emit.py")]),
        ("checked", [("verify", "bytecode/verify.py")]),
        ("run by", list(here.items())),
        ("out", [("what is derived", ""), ("what has changed", ""), ("proofs", "")]),
    ]
    edges = [
        ("a module", "emit"),
        ("a side", "emit"),
        ("opcodes", "emit"),
        ("emit", "verify"),
        *(("verify", name) for name in here),
        ("machine", "what is derived"),
        ("incremental", "what has changed"),
        ("why", "proofs"),
        *([("spark", "what is derived")] if "spark" in here else []),
    ]
    return _flow(bands, edges, "One bytecode, and who runs it")


# Exchanges.

PHASES = (
    ("setup and hello", State.NEW, State.RECALLING),
    ("a loop", State.SELECTING, State.TRANSFER),
    ("after it", State.REMEMBERING, State.CLOSED),
)


def states_picture() -> str:
    """The states in their order; where a row leads back, the box says so."""
    order = list(State)
    back: dict[State, list[str]] = {}
    edges = []
    for row in ROWS:
        for to in dict.fromkeys(row.leads_to):
            if order.index(to) > order.index(row.state):
                said = f"{row.state.name} → {to.name}"
                edges.append(Edge(to.name, row.state.name, "uses", said))
            elif to is not row.state:
                back.setdefault(row.state, []).append(to.name)
    bands = {
        state: number
        for number, (_, first, last) in enumerate(PHASES)
        for state in order[order.index(first) : order.index(last) + 1]
    }
    nodes = []
    for state in order:
        again = ", ".join(dict.fromkeys(back.get(state, ())))
        nodes.append(Node(state.name, bands[state], "node", f"↺ {again}" if again else ""))
    names = dict(enumerate(name for name, *_ in PHASES))
    groups = [[state.name] for state in order]
    return _alone(draw(nodes, edges, groups, names, "The states of one side").svg)


MESSAGES = {
    messages.Setup: "its operand, and who it claims to be",
    messages.Hello: "the plan, its time, formats, fields and limits",
    messages.Offer: "what it offers: records with fields, or summaries",
    messages.Ask: "which summaries to list or to narrow",
    messages.Request: "what it selects and misses",
    messages.Arrived: "a record, which is validated",
    messages.Invalid: "bytes that are not that record",
    messages.NotAvailable: "what it cannot send any more",
    messages.BatchEnd: "the end of what it sends now",
}


def phases_picture() -> str:
    """What both sides say, in order; the loop is what comes again."""
    known = {row.event for row in ROWS if row.event.__module__ == messages.__name__}
    assert known == MESSAGES.keys()
    said = list(MESSAGES)
    first_of_loop = said.index(messages.Offer)
    width, step, top = 640, 44, 64
    left, right = 150, width - 150
    height = top + step * len(said) + 40
    parts = [
        tag("rect", x=0, y=0, width=width, height=height, fill="#fff"),
        _tip("uses"),
        _tip("back"),
    ]
    for x, name in ((left, "one side"), (right, "the other")):
        parts.append(tag("rect", x=x - 60, y=14, width=120, height=28, rx=6, class_="node"))
        parts.append(tag("text", name, x=x, y=32, class_="strong"))
        parts.append(tag("path", d=f"M{x},42 L{x},{height - 16}", class_="edge"))
    for number, kind in enumerate(said):
        y = top + step * number + 16
        parts.append(tag("text", kind.__name__, x=width / 2, y=y - 7))
        parts.append(tag("text", MESSAGES[kind], x=width / 2, y=y + 14, class_="note"))
        line = f"M{left + 4},{y} L{right - 4},{y}"
        ends = {"marker_end": "url(#tip-uses)", "marker_start": "url(#tip-uses)"}
        parts.append(tag("path", d=line, class_="edge", **ends))
    start, end = (top + step * n + 16 for n in (first_of_loop, len(said) - 1))
    back = f"M{right + 6},{end} C{right + 70},{end} {right + 70},{start} {right + 8},{start}"
    parts.append(tag("path", d=back, class_="back", marker_end="url(#tip-back)"))
    middle = (start + end) / 2
    parts.append(tag("text", "until", x=right + 62, y=middle - 6, class_="soft start"))
    parts.append(tag("text", "nobody asks", x=right + 62, y=middle + 9, class_="soft start"))
    svg = tag(
        "svg",
        tag("title", "What two sides say to each other"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
    )
    return _alone(svg)


def _tip(kind: str) -> Html:
    path = tag("path", d="M0,0 L8,4 L0,8 z", class_=f"tip {kind}")
    size = {"markerWidth": 8, "markerHeight": 8, "refX": 7, "refY": 4}
    marker = tag("marker", path, id=f"tip-{kind}", orient="auto-start-reverse", **size)
    return tag("defs", marker)


PICTURES: dict[str, Callable[[], str]] = {
    "parts": parts_picture,
    "pipeline": pipeline_picture,
    "machine": machine_picture,
    "phases": phases_picture,
    "states": states_picture,
}
