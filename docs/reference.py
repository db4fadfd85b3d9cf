"""Reference pages from the code: limits, the transitions of an exchange, the Python functions."""

import inspect
import re
from dataclasses import fields, is_dataclass
from typing import Any

import lacec
from lacec.core.limits import Limits
from lacec.records.limits import RecordLimits
from lacec.runtime.iltp.endpoints import MOST_LINKS
from lacec.runtime.iltp.memory_budget import DEFAULT_BYTES
from lacec.runtime.interlace.limits import LOWEST, Budget, ExchangeLimits, OwnLimits
from lacec.runtime.interlace.state import State
from lacec.runtime.interlace.table import ROWS

# What a limit counts, where its name does not say it.
UNITS = {"tick": "nanoseconds"}
# The headings of the limits, to which other pages lead.
EVALUATION, EXCHANGE = "Of a lacegram and its evaluation", "Of an exchange"

LIMITS_INTRODUCTION = """\
# Limits

Everything that comes from a file or a peer meets a limit before memory or time is spent on it.
Over a limit there is an error that names it, and no partial result. `--limit NAME=VALUE` changes
one, for the commands whose help lists it.
"""


def limits_page() -> str:
    lines = [LIMITS_INTRODUCTION]
    for title, about, limits in (
        (
            EVALUATION,
            "Those that begin with `peer_` or `selector_` hold for the operand of a peer. Inside "
            "an exchange, an evaluation has 10 seconds.",
            Limits,
        ),
        ("Of a record", "For the commands that read records.", RecordLimits),
    ):
        lines += [f"## {title}", "", about, "", "| limit | default |", "|---|---|"]
        lines += [f"| `{field.name}` | {_number(field.default)} |" for field in fields(limits)]
        lines.append("")
    lines += [f"## {EXCHANGE}", "", "Each side tells the other its own, and the smaller holds."]
    lines += ["", "| limit | default | at least |", "|---|---|---|"]
    for field in fields(ExchangeLimits):
        lowest = _number(getattr(LOWEST, field.name))
        lines.append(f"| `{field.name}` | {_number(field.default)} | {lowest} |")
    lines += ["", "A side keeps others for itself, without a word to the peer:", ""]
    lines += ["| limit | value | |", "|---|---|---|"]
    for kind, what in ((OwnLimits, ""), (Budget, "of one transfer, the rest is deferred")):
        notes = _comments(kind)
        for field in fields(kind):
            note = notes.get(field.name) or what or UNITS.get(field.name.split("_")[-1], "")
            lines.append(f"| {field.name.replace('_', ' ')} | {_number(field.default)} | {note} |")
    lines += ["", "## Of a listener", "", "| limit | default | |", "|---|---|---|"]
    lines.append(f"| `--links` | {_number(MOST_LINKS)} | links at once, of all peers |")
    lines.append(f"| `--memory` | {_number(DEFAULT_BYTES)} | bytes; over it, links wait |")
    return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    power = value.bit_length() - 1
    if value >= 2**14 and value == 2**power:
        return f"2^{power} = {value:,}"
    return f"{value:,}"


def _comments(kind: type) -> dict[str, str]:
    """What stands behind each field of a dataclass."""
    found = re.findall(r"^    (\w+): int = .*?  # (.*)$", inspect.getsource(kind), re.MULTILINE)
    return {name: text.replace(" ...", "").replace("... ", "") for name, text in found}


TRANSITIONS_INTRODUCTION = """\
# States and transitions

The machine of one side of an [exchange](interlace.md), row by row: in which state which event
leads where. What comes from the peer and has no row is out of phase, and aborts; so does what
fails. Events of the peer are messages, the others are answers to what the machine asks, and
what happens here.

| in | event | from | leads to |
|---|---|---|---|
"""


def transitions_page() -> str:
    lines = []
    for row in ROWS:
        peer = row.event.__module__.endswith(".messages")
        leads = ", ".join(state.name for state in dict.fromkeys(row.leads_to)) or "the end"
        source = "the peer" if peer else "this side"
        lines.append(f"| {row.state.name} | {row.event.__name__} | {source} | {leads} |\n")
    known = {row.state for row in ROWS}
    rest = ", ".join(state.name for state in State if state not in known)
    return TRANSITIONS_INTRODUCTION + "".join(lines) + f"\nNo row leads on from {rest}.\n"


PYTHON_INTRODUCTION = """\
# Python reference

`import lacec` gives the functions and types below. It costs nothing: what a function needs is
imported when it is called.
"""


def python_page() -> str:
    lines = [PYTHON_INTRODUCTION, "## Functions"]
    values = {name: getattr(lacec, name) for name in lacec.__all__}
    for name, value in values.items():
        if inspect.isfunction(value):
            lines += ["", f"### {name}", "", f"    {name}{_signature(value)}", "", _text(value)]
    lines += ["", "## Types"]
    for name, value in values.items():
        if inspect.isclass(value):
            lines += ["", f"### {name}", "", _text(value)]
            methods = _methods(value)
            lines += ["", *methods] if methods else []
    return "\n".join(lines) + "\n"


def _signature(function: Any) -> str:
    # Annotations are text, defaults may be.
    text = re.sub(
        r"(= )?'([^']*)'", lambda m: m[0] if m[1] else m[2], str(inspect.signature(function))
    )
    text = re.sub(r"^\((?:self|cls)(?:, )?", "(", text)
    # Where a name is defined differs by Python: 3.13 has Path in pathlib._local.
    return re.sub(r"\b(?:lacec|collections|numpy|pathlib|typing)(?:\.[a-z_]+)*\.", "", text)


def _methods(kind: type) -> list[str]:
    """The public methods that say what they are, and what they take."""
    found = []
    for name, value in vars(kind).items():
        own = inspect.unwrap(getattr(value, "__func__", value))
        if name.startswith("_") or not inspect.isfunction(own) or not own.__doc__:
            continue
        found.append(f"- `{name}{_signature(own)}`: {_text(own, 0)}")
    return found


def _text(value: Any, part: int | None = None) -> str:
    """The docstring, or one paragraph of it; of a dataclass without one, its fields."""
    text = inspect.cleandoc(value.__doc__ or "")
    if is_dataclass(value) and re.match(r"\w+\(", text):  # as Python writes it
        names = ", ".join(f"`{field.name}`" for field in fields(value))
        return f"A value with the fields {names}."
    if part is not None:
        return text.split("\n\n")[part].replace("\n", " ")
    return re.sub(r"(?m)(^>>> (?:.+\n?)+)", r"```pycon\n\1```\n", text)
