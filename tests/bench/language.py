"""One table: what compiling costs for each rule, what starting costs, and how peers compare.

Times are the best of several runs, because everything else that a machine does only
adds to them; starting a process is the median, because that is what a user meets.
"""

import gc
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.abc import InspectLoader
from pathlib import Path

from lark import Lark
from rich.console import Console
from rich.table import Table

from lacec.canonical.module import build_module
from lacec.check import CHECKS
from lacec.check.program import Program
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.resources import grammar_path
from lacec.lint import lint
from lacec.pipeline import compile_module
from lacec.syntax import automaton, lexer, tables
from lacec.syntax import parse as parsing
from lacec.syntax.source import ParsedSource, read

ROOT = Path(__file__).parents[2] / "examples"
SIZES = (256, 4096)
RUNS = 7
STARTS = 15

# Each rule needs only rules above it, so that any number of them is a program; {i} varies.
MIX = (
    "Link{i}(P) :- Field(P,'Group',_,'g{i}'), Field(P,'Name',_,K), TextShape(K,'links/','','').",
    "Blocked{i}(V) :- Field(P,'Group',_,'keys'), Field(P,'App',_,'b{i}'), Field(P,'Name',_,V).",
    "Kept{i}(P) :- Have(P), Link{i}(P), Field(P,'Signed-By',_,V), not Blocked{i}(V).",
    "Timed{i}(P,T) :- Kept{i}(P), Field(P,'TAI',_,T).",
    "Newer{i}(P,Q) :- Timed{i}(P,T), Timed{i}(Q,U), LexCompare(U,'>',T).",
    "Latest{i}(P) :- Timed{i}(P,_), Cardinality(Newer{i}(P,_),'<','100').",
    "Support{i}(Q) :- Latest{i}(P), RecordLink(P,'+Link',_,'evidence',Q).",
    "Support{i}(Q) :- Support{i}(P), RecordLink(P,'+Link',_,'evidence',Q), P != Q.",
    "Known{i}('V.example{i}.H3') :- true.",
)


def policy(rules: int) -> str:
    return "".join(MIX[n % len(MIX)].format(i=n // len(MIX)) + "\n" for n in range(rules))


def best(run: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(RUNS):
        prepare()
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def forget() -> None:
    """Empty the cache of parsed lines."""
    parsing._parse_cached.cache_clear()


# What compiling costs.


def parse(text: str) -> ParsedSource:
    return parsing.parse(read("bench", text, DEFAULT_LIMITS), DEFAULT_LIMITS)


def check(parsed: ParsedSource) -> Program:
    program = Program(Facet.PLAIN, DEFAULT_LIMITS, (parsed,))
    assert not [diagnostic for check in CHECKS for diagnostic in check(program)]
    return program


def canonicalise(program: Program) -> object:
    levels = program.stratification
    return build_module(program.facet, program.rules, levels.groups, levels.strata, ())


Row = tuple[str, str, str]


def compiling(rules: int, lark: Lark) -> Iterator[Row]:
    text = policy(rules)
    lines = text.splitlines()
    parsed = parse(text)
    program = check(parsed)

    def micros(seconds: float) -> str:
        return f"{seconds / rules * 1e6:.1f} µs/rule"

    whole = best(lambda: compile_module([("bench", text)]), forget)
    reading = best(lambda: parse(text), forget)
    peer = best(lambda: [lark.parse(line) for line in lines])
    yield f"compile {rules:,} rules", micros(whole), f"{whole * 1e3:.0f} ms in all"
    yield "  parse", micros(reading), f"{peer / reading:.1f} times as fast as lark"
    yield "  check", micros(best(lambda: check(parsed))), ""
    linting = best(lambda: list(lint(program, ())))
    yield "  lint, lines cached", micros(linting), f"{linting * 1e3:.0f} ms in all"
    yield "  canonical text, identifiers", micros(best(lambda: canonicalise(program))), ""
    again = best(lambda: compile_module([("bench", text)]))
    yield "  compile again, lines cached", micros(again), f"{whole / again:.1f} times as fast"
    yield "  lark alone, the same lines", micros(peer), "trees only"


def building() -> Iterator[Row]:
    grammar = grammar_path().read_text(encoding="utf-8")
    theirs = best(lambda: Lark(grammar, start="line", parser="lalr"), re.purge)
    ours = best(load_tables, re.purge)
    yield "load our tables", f"{ours * 1e3:.1f} ms", f"{theirs / ours:.1f} times as fast as lark"
    yield "build lark's tables", f"{theirs * 1e3:.1f} ms", ""


def load_tables() -> None:
    """What importing the parser runs: tables, the scanner's pattern, the automaton's steps."""
    for module in (tables, lexer, automaton):
        loader = module.__loader__
        assert isinstance(loader, InspectLoader)
        code = loader.get_code(module.__name__)
        assert code is not None
        exec(code, {"__name__": module.__name__})


# What starting costs. Python keeps what it compiled, as it does for users.

FIRST = [str(ROOT / "links.lace"), "--facts", str(ROOT / "links.facts")]
COMPILED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def starting() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.lace"
        path.write_text(policy(len(MIX)), encoding="utf-8")
        commands = {
            "python -c pass": ["-c", "pass"],
            'python -c "import lacec"': ["-c", "import lacec"],
            "lacec --version": ["-m", "lacec", "--version"],
            "lacec --help": ["-m", "lacec", "--help"],
            "lacec check, 9 rules": ["-m", "lacec", "check", str(path)],
            "lacec compile, 9 rules": ["-m", "lacec", "compile", str(path)],
            "lacec eval, 5 rules": ["-m", "lacec", "eval", *FIRST],
        }
        bare = 0.0
        for name, arguments in commands.items():
            median = start(arguments)
            bare = bare or median
            yield name, f"{median * 1e3:.0f} ms", f"{median / bare:.1f} times bare Python"


def start(arguments: list[str]) -> float:
    times = []
    for _ in range(STARTS):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=COMPILED)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main(console: Console) -> None:
    lark = Lark(grammar_path().read_text(encoding="utf-8"), start="line", parser="lalr")
    table = Table(title=f"lacec on Python {platform.python_version()}, {platform.machine()}")
    table.add_column("what")
    table.add_column("time", justify="right")
    table.add_column("compared")
    sections = [*(compiling(size, lark) for size in SIZES), building(), starting()]
    for section in sections:
        for row in section:
            table.add_row(*row)
        table.add_section()
    console.print(table)
