"""Writing to the terminal: JSON documents, and text in style where the terminal shows it."""

import json
import os
import re
import sys
from collections.abc import Iterable
from io import StringIO
from typing import Any, TextIO

from lacec.core.diagnostics import visible

Segment = tuple[str, str]
"""Some text and its style, a name that rich knows, or no style at all."""


def write_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale says."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    _write_bytes(sys.stdout, _UNSEEN.sub(_escape, text).encode("utf-8", "replace"))


# Characters that JSON allows as they are, and that could mislead whoever reads it on a terminal.
_UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _write_bytes(stream: TextIO, data: bytes) -> None:
    stream.flush()
    stream.buffer.write(data)
    stream.buffer.flush()


def write(segments: Iterable[Segment], stream: TextIO | None = None) -> None:
    """Styled text; plain where there is no terminal or NO_COLOR is set."""
    stream = stream or sys.stdout
    if _colour(stream):
        from rich.console import Console
        from rich.text import Text

        # Into a string first: the stream may be of another encoding than the text.
        console = Console(file=StringIO(), force_terminal=True, highlight=False)
        with console.capture() as capture:
            console.print(Text.assemble(*segments), end="", soft_wrap=True)
        text = capture.get()
    else:
        text = "".join(text for text, _ in segments)
    _write_bytes(stream, text.encode("utf-8", "replace"))


def write_bytes(data: bytes) -> None:
    """Bytes on standard output, as they are."""
    _write_bytes(sys.stdout, data)


def write_lines(data: bytes) -> None:
    """Lines of data on standard output: exact in a pipe, made visible on a terminal."""
    if sys.stdout.isatty():
        lines = data.decode("utf-8").split("\n")
        data = "\n".join(visible(line) for line in lines).encode("utf-8")
    _write_bytes(sys.stdout, data)


def _colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))
