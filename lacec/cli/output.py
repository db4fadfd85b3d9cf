"""Writing to the terminal: JSON documents, and text in style where the terminal shows it."""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

Segment = tuple[str, str]
"""Some text and its style, a name that rich knows, or no style at all."""


def write_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale says."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write(segments: Iterable[Segment], stream: TextIO | None = None) -> None:
    """Styled text; plain where there is no terminal or NO_COLOR is set."""
    stream = stream or sys.stdout
    if _colour(stream):
        from rich.console import Console
        from rich.text import Text

        Console(file=stream, highlight=False).print(
            Text.assemble(*segments), end="", soft_wrap=True
        )
    else:
        plain = "".join(text for text, _ in segments)
        stream.flush()
        stream.buffer.write(plain.encode("utf-8", "replace"))
        stream.buffer.flush()


def _colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))
