"""lacec replay: give fresh machines what a recorded exchange was given, and compare."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn

import typer

from lacec.cli.options import JsonOption
from lacec.cli.render.diagnostics import counted
from lacec.cli.render.output import Segment, write, write_json
from lacec.core.diagnostics import visible
from lacec.runtime.exchange.recording.recorder import NAMES

if TYPE_CHECKING:
    from lacec.runtime.exchange.recording.replay import Line, Replay

_CHUNK = 2**18

FileArgument = Annotated[
    str,
    typer.Argument(metavar="FILE", help="What --record wrote, or - for standard input."),
]


def replay_command(file: FileArgument, json: JsonOption = False) -> None:
    """Replay a recorded exchange, without its stores, and say whether it goes the same way.

    Fresh machines are given what those of the exchange were given; every message they then
    say is compared with the one recorded. The exchange plan is made anew. The exit code is 1
    if something differs, if the recording ends early, or if it cannot be read.

    Example: lacec replay exchange.iltp
    """
    from lacec.core.errors import RecordingError, StreamError
    from lacec.runtime.exchange.recording.replay import replay

    try:
        with _opened(file) as stream:
            found = replay(iter(lambda: stream.read(_CHUNK), b""))
    except (RecordingError, StreamError) as error:
        _refuse(error.offset, str(error), json)
    same = found.diverges is None and found.whole
    if json:
        write_json(_document(found, same))
    else:
        write(_text(found))
    if not same:
        raise typer.Exit(1)


def _opened(file: str) -> BinaryIO:
    if file == "-":
        return sys.stdin.buffer
    try:
        return open(file, "rb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise typer.BadParameter(f"cannot read {file}: {reason}") from None


def _refuse(offset: int, message: str, json: bool) -> NoReturn:
    if json:
        write_json({"error": {"offset": offset, "message": message}})
    else:
        said = f": this is no recording that can be replayed: {visible(message)}\n"
        write([("error", "bold red"), (said, "")], sys.stderr)
    raise typer.Exit(1)


def _document(found: "Replay", same: bool) -> dict[str, Any]:
    last = found.lines[-1].number if found.lines else 0
    diverges = {"offset": found.offset, "message": last, "how": found.diverges}
    return {
        "same": same,
        "whole": found.whole,
        "diverges": None if found.diverges is None else diverges,
        "messages": [
            {
                "number": line.number,
                "offset": line.offset,
                "from": NAMES[line.sender],
                "to": NAMES[1 - line.sender],
                "phase": line.phase,
                "about": line.about or None,
                "heard": line.heard,
                "counts": line.counts,
            }
            for line in found.lines
        ],
        **{NAMES[side]: result.json() for side, result in sorted(found.results.items())},
    }


def _text(found: "Replay") -> Iterator[Segment]:
    for line in found.lines:
        yield from _line(line)
    messages = counted(len(found.lines), "message")
    if found.diverges is not None:
        last = found.lines[-1].number if found.lines else 0
        yield f"diverges at message {last}, byte {found.offset}", "bold red"
        yield f": {visible(found.diverges)}\n", ""
    elif not found.whole:
        yield f"the same as far as it goes, {messages}", "bold red"
        yield ": the recording ends before the exchange does\n", ""
    else:
        yield f"the same: {messages}\n", "green"


def _line(line: "Line") -> Iterator[Segment]:
    yield f"{line.number:4}  {NAMES[line.sender]:>5} → {NAMES[1 - line.sender]:5}  ", "dim"
    yield f"{line.phase:8}", "bold"
    parts = [visible(line.about)] if line.about else []
    parts += [_count(number, what) for what, number in line.counts.items()]
    parts += [] if line.heard else ["unheard"]
    yield f"  {', '.join(parts) or '-'}\n", ""


def _count(number: int, what: str) -> str:
    """Of names in the plural."""
    one = {"summaries": "summary"}.get(what, what.removesuffix("s"))
    return f"{number} {one if number == 1 else what}"
