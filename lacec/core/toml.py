"""TOML as people write it, which may be anybody: one error, with its line, for all that is wrong.

In: the bytes of a file. Out: what it says. The reader of the standard library is slow on keys of
many parts, and says in several ways that a text is no TOML.
"""

import re
from typing import Any

from lacec.core.errors import LacecError

MOST_PARTS = 64

# Texts and comments. What is not closed goes on to the end, so that a reading takes one pass.
_QUOTED = re.compile(
    r'"""(?:\\?.)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\?[^\n])*?(?:"|(?=\n)|\Z)'
    r"|'[^'\n]*'?"
    r"|#[^\n]*",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?:[A-Za-z0-9_-]+[ \t]*\.[ \t]*){{{MOST_PARTS}}}")


class TomlError(LacecError):
    """A text that is no TOML, or one too large to read: on which line, and why."""

    def __init__(self, line: int, message: str) -> None:
        self.line, self.message = line, message
        super().__init__(line, message)

    def __str__(self) -> str:
        return f"{self.message}, on line {self.line}"


def text_of(content: bytes) -> str:
    """The text of a file; a mark of the byte order at its start is no part of it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TomlError(
            content.count(b"\n", 0, error.start) + 1, "it is not UTF-8: save it as that"
        ) from None


def bare(text: str) -> str:
    """The text with each sign of a string made an x and each of a comment a space."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " " if match[0].startswith("#") else "x", match[0])

    return _QUOTED.sub(blank, text)


def read_toml(content: bytes) -> dict[str, Any]:
    """What a file says, or TomlError."""
    import tomllib

    text = text_of(content)
    if key := _LONG_KEY.search(bare(text)):
        line = text.count("\n", 0, key.start()) + 1
        raise TomlError(line, f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, _, where = str(error).rpartition(" (at ")
        digits = "".join(c for c in where.partition(",")[0] if c.isdigit())
        line = int(digits) if digits else text.count("\n") + 1
        raise TomlError(line, f"this is not TOML: {(said or str(error)).lower()}") from None
    except ValueError:
        raise TomlError(1, "it has a number of too many digits") from None
    except RecursionError:
        raise TomlError(1, "it is nested too deeply") from None
