"""Write what is derived: reference pages, pages of the specification, pictures, screenshots.

Run it with `make docs`; a test fails when a page is stale.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from functools import partial
from pathlib import Path

import typer

from docs.benchmarks import CHARTS, bench_page, chart
from docs.language import language_page
from docs.library import std_index, std_page
from docs.pictures import PICTURES
from docs.reference import EVALUATION, EXCHANGE, limits_page, python_page, transitions_page
from docs.screenshots import SCREENS, screenshot, terminal_page
from docs.specification import decisions_page, documents, spec_index, spec_page
from lacec.bytecode.opcodes import CHOICES, OPCODES, WAY, Compare, State, Test
from lacec.cli import COMMANDS, build
from lacec.core.diagnostics import CATALOGUE
from lacec.core.limits import LIMIT_NAMES
from lacec.core.resources import rule_page_path
from lacec.project.library import library
from lacec.records.rules import NAMES
from lacec.runtime.iltp.framing.rules import NAMES as STREAM_RULES
from lacec.runtime.interlace.limits import LIMIT_NAMES as OF_EXCHANGES
from lacec.runtime.interlace.reasons import REASONS
from lacec.runtime.interlace.state import State as InterlaceState

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
        "diagnostics were printed, or an exchange aborted; 2 the command line is wrong; 3 a limit",
        "was exceeded at run time, or an exchange closed at one; 130 interrupted.",
        "`lacec --install-completion` makes your shell complete commands, options and files.",
    ]
    application = typer.main.get_command(build(COMMANDS))
    for name in COMMANDS:
        command = application
        for word in name.split(" "):
            command = command.commands[word]  # type: ignore[attr-defined]
        context = typer.Context(command, info_name=f"lacec {name}")
        usage = " ".join(["lacec", name, *command.collect_usage_pieces(context)])
        lines += ["", f"## lacec {name}", "", f"    {re.sub('[{}]', '', usage)}", ""]
        lines += [command.help or "", ""]
        for parameter in command.get_params(context):
            if "--help" not in parameter.opts:
                form, text = parameter.get_help_record(context) or ("", "")
                lines.append(f"- `{_form(form)}`: {_with_limits(text)}")
        lines += ["", "For example", "", f"    {(command.epilog or '').removeprefix('Example: ')}"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _form(form: str) -> str:
    """An option or an argument with what it takes, as in `--side N`."""
    return re.sub("[<>]", "", form.replace("<int range>", "N"))


def _with_limits(text: str) -> str:
    """Help, with a link in place of the many names of limits."""
    for names, heading in ((LIMIT_NAMES, EVALUATION), (OF_EXCHANGES, EXCHANGE)):
        link = f"limits.md#{heading.lower().replace(' ', '-')}"
        text = text.replace(", ".join(names), f"those [{heading.lower()}]({link})")
    return re.sub(r"\s*\[required\]", "", text)


def record_rules() -> str:
    lines = [
        "# What makes a record valid",
        "",
        "What `lacec record verify` checks, and every import and exchange too. Each rule has the",
        "name that is printed, with the byte at which it is broken, when a record breaks it.",
        "",
        "| name | rule |",
        "|---|---|",
    ]
    lines += [f"| {name} | {rule.replace('|', chr(92) + '|')} |" for name, rule in NAMES.items()]
    return "\n".join(lines) + "\n"


OPCODES_INTRODUCTION = """\
# Opcodes

Rules become *blocks*: lists of instructions without jumps. An instruction reads and
writes *registers*, r0, r1, r2 and so on; each is written once and holds a whole relation,
whose columns are numbered from 0. A block ends with EMIT, which hands rows to the
predicate of the rule's head.

Derived predicates stand in *groups*, in an order in which they can be evaluated. A block
belongs to the group of its head and reads base facts, earlier groups and, where its own
group is recursive, its own group. A group that is not recursive is one predicate, and its
blocks run once. A recursive group runs in *rounds*: the *full* blocks in the first; in
every later one the *delta* blocks, each of which reads for one atom of its rule only what
the previous round added. The rounds end when one adds nothing.

A group comes from an *origin* (local, peer, or trusted peer) and loads record facts through
one *view*, or all of them. The rules of a peer have a view, and read what their own
operand derives, runtime facts and advertisements beside it, and nothing else. A view is
the records that a viewer may query; it is decided before the code runs.

What an instruction needs complete it must not read from its own group: the right side of
a negation or a count. The verifier sees to it, and to everything else below, before code
runs.

## Operands

- `out:x`: a new register, the next one. It has the columns of `x`: of a register, a
  predicate, or a list that makes one column an entry. Plain `out` has none.
- `in`: a register. `complete`: a register that reads nothing of the block's own group.
- `predicate`, `constant`: a number of the tables of the code.
- `view`: a number of the table of views, counted from 1; 0 for all facts.
- `column:x`: a column of the register or predicate `x`.
- `term:x`: a column of `x`, or a constant.
- `pick:x:y`: a column of `x` or of `y`.
- A star: any number of these.
"""


def _choice(choice: IntEnum | bool) -> str:
    match choice:
        case Compare() | Test():
            return f"`{choice.symbol}`"
        case State():
            return choice.name.lower()
        case _:
            return "yes" if choice else "no"


def opcode_reference() -> str:
    lines = [OPCODES_INTRODUCTION.rstrip("\n")]
    for kind, choices in CHOICES.items():
        numbers = ", ".join(f"{int(choice)} {_choice(choice)}" for choice in choices)
        lines.append(f"- `{kind}`: {numbers}.")
    parts = ", ".join(f"{name} `{kind}`" for name, kind in WAY)
    lines += [f"- `way:low:high`: {parts}.", "", "## Instructions"]
    for opcode in OPCODES:
        lines += ["", f"### {opcode.number} {opcode.name}", "", f"    {opcode.synopsis}", ""]
        lines += [*textwrap.wrap(opcode.meaning, 90), ""]
        lines += [f"- {name}: `{kind}`" for name, kind in opcode.operands]
    return "\n".join(lines) + "\n"


INTERLACE_INTRODUCTION = """\
# Exchanges

Two sides exchange records by *interlace*, the protocol of document [050](spec/050.md). Each runs a
machine that takes events and says what to do. It has no clock, no store and no connection of its
own; what it needs it asks for, and the answer is an event. Its [transitions](transitions.md) are
one table, from which this page is drawn.

An exchange begins with the operands of both sides (setup) and an agreement (hello). Then
come loops: both sides say what they offer (advertise), ask for what they select and miss
(request), and send what they may send at that moment (transfer). When nobody asks for
anything, and both offer what they offered in the loop before, that is the fixed point: a
bounded exchange closes, an open one rests until something is new.
"""


STREAM_INTRODUCTION = """\
## The rules of the stream

What a peer says over a connection keeps the rules of document [060](spec/060.md). Where one is
broken, its name is told on this side, with the byte:

| name | rule |
|---|---|"""


def interlace_page() -> str:
    lines = [INTERLACE_INTRODUCTION, "![The states of one side](pictures/states.svg)", ""]
    lines += ["| state | waits for |", "|---|---|"]
    lines += [f"| {state.name} | {state.value} |" for state in InterlaceState]
    lines += ["", "Every state may lead to ENDING or CLOSED: that is how an exchange aborts. The"]
    lines += ["reasons, as `aborted` in a result has them:", "", "| reason | what happened |"]
    lines += ["|---|---|", *(f"| {name} | {text} |" for name, text in REASONS.items())]
    lines += ["", STREAM_INTRODUCTION]
    lines += [f"| {name} | {rule} |" for name, rule in STREAM_RULES.items()]
    return "\n".join(lines) + "\n"


# Two terminals: what is shown is run. Ports and times are the same each time it is.

LISTEN = "lacec run-interlace --store right --policy ours.lace --expose selected --listen "
CONNECT = "lacec run-interlace --store left --policy ours.lace --expose selected --connect "
ADDRESS, PEER, TAI = "tcp:127.0.0.1:4790", "tcp:127.0.0.1:50112", "1769860837:000000000"
PREPARED = (
    "lacec store init left",
    "printf 'to share' | lacec record new --group X --app ding --name one "
    "--tai 2026-01-31T12:00:00Z -o one",
    "lacec store import left one",
)


def _shell(command: str, folder: Path) -> str:
    """What a command prints."""
    words = f"{shlex.quote(sys.executable)} -m lacec "
    result = subprocess.run(
        re.sub(r"\blacec ", lambda _: words, command),
        shell=True,
        cwd=folder,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return result.stdout.decode("utf-8")


class _Tap:
    """Stands between the two, and keeps what each says."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.said = {"there": bytearray(), "back": bytearray()}
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        near, _ = self._server.accept()
        far = socket.create_connection(("127.0.0.1", self._target))
        back = threading.Thread(target=self._pass, args=(far, near, "back"))
        back.start()
        self._pass(near, far, "there")
        back.join()
        for each in (near, far, self._server):
            each.close()

    def _pass(self, source: socket.socket, target: socket.socket, way: str) -> None:
        while data := source.recv(2**16):
            self.said[way] += data
            target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def text(self, way: str) -> str:
        self._thread.join()
        text = self.said[way].decode("utf-8")
        return re.sub(r"HelloTAI\('[^']*'\)", f"HelloTAI('{TAI}')", text)


def connections_page() -> str:
    template = (DOCS / "connections.txt").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(DOCS.parent / "examples" / "ours.lace", folder)
        prepared = "".join(f"$ {each}\n{_shell(each, folder)}" for each in PREPARED)
        _shell("lacec store init right", folder)
        command = [*LISTEN.split()[1:], "tcp:127.0.0.1:0", "--comments", "--metrics", "0"]
        with subprocess.Popen(
            [sys.executable, "-m", "lacec", *command],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "NO_COLOR": "1"},
        ) as listener:
            assert listener.stderr is not None
            url = listener.stderr.readline().split("=")[1].strip()
            listening = listener.stderr.readline()
            tap = _Tap(int(listening.rpartition(":")[2]))
            second = _shell(f"{CONNECT}tcp:127.0.0.1:{tap.port} --comments", folder)
            first = listening + listener.stderr.readline() + listener.stderr.readline()
            with urllib.request.urlopen(url) as answer:
                metrics = answer.read().decode("utf-8")
            listener.send_signal(signal.SIGINT)
            first += "^C\n" + listener.stderr.read()
    first = re.sub(r"peer=tcp:\S+", f"peer={PEER}", first)
    first = re.sub(r"address=tcp:\S+", f"address={ADDRESS}", first)
    return template.format(
        first=f"$ lacec store init right\n$ {LISTEN}{ADDRESS}\n{first}",
        second=f"{prepared}$ {CONNECT}{ADDRESS}\n{second}",
        there=tap.text("there"),
        back=tap.text("back"),
        metrics="".join(f"{line}\n" for line in metrics.splitlines() if line[:1] != "#"),
    )


PAGES: dict[Path, Callable[[], str]] = {
    DOCS / "rules" / "README.md": rule_index,
    DOCS / "commands.md": command_reference,
    DOCS / "language.md": language_page,
    DOCS / "opcodes.md": opcode_reference,
    DOCS / "records.md": record_rules,
    DOCS / "interlace.md": interlace_page,
    DOCS / "transitions.md": transitions_page,
    DOCS / "connections.md": connections_page,
    DOCS / "limits.md": limits_page,
    DOCS / "python.md": python_page,
    DOCS / "bench.md": bench_page,
    DOCS / "terminal.md": terminal_page,
    DOCS / "spec" / "README.md": spec_index,
    DOCS / "spec" / "decisions.md": decisions_page,
    **{DOCS / "spec" / f"{name}.md": partial(spec_page, name) for name in documents()},
    **{DOCS / "pictures" / f"{name}.svg": picture for name, picture in PICTURES.items()},
    **{DOCS / "pictures" / f"bench-{name}.svg": partial(chart, name) for name in CHARTS},
    **{DOCS / "pictures" / f"terminal-{name}.svg": partial(screenshot, name) for name in SCREENS},
    DOCS / "std" / "README.md": std_index,
    **{DOCS / "std" / f"{each.name}.md": partial(std_page, each) for each in library()},
}


if __name__ == "__main__":
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")
