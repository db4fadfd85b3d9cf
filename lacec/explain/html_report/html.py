"""HTML from values: text is escaped when it becomes part of a page, and nowhere else.

    tag("a", "x < y", href="#p")   <a href="#p">x &lt; y</a>

In: text, and pieces that are HTML already. Out: a piece. Only this file makes pieces of
text, so that no fact, no file name and no annotation can be read as markup. What a page
shows of all this has a budget; who leaves something out says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from lacec.core.diagnostics import visible

# No single text is shown longer than this; the longest value of a fact has 1024 bytes.
MOST_CHARACTERS = 4000
VOID = ("br", "input", "meta", "link")


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of a page, safe as it is."""

    text: str

    def __add__(self, other: "Html") -> "Html":
        return Html(self.text + other.text)


Child = Html | str
"""A piece, or text that becomes one."""


def piece(child: Child) -> Html:
    """Text as a browser shows it, whatever is in it: cut where it is long, signs made visible."""
    if isinstance(child, Html):
        return child
    more = len(child) - MOST_CHARACTERS
    shown = child if more <= 0 else f"{child[:MOST_CHARACTERS]}… {more:,} more characters"
    return Html(escape(visible(shown)))


def lines(text: str) -> Html:
    """Text whose line feeds are kept."""
    return join((piece(line) for line in text.split("\n")), "\n")


def join(children: Iterable[Child], between: str = "") -> Html:
    """Pieces one after the other."""
    return Html(between.join(piece(child).text for child in children))


def tag(name: str, /, *children: Child | None, **attributes: object) -> Html:
    """An element; attributes that are None are left out, and `class_` is class."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(piece(child).text for child in children if child is not None)
    return Html(f"<{name}{given}>" if name in VOID else f"<{name}{given}>{inner}</{name}>")


@dataclass
class Budget:
    """How many more characters the parts of a page may have that grow with their input."""

    left: int = 6_000_000

    def take(self, part: Html) -> bool:
        """Whether a part still fits; if so, its size is taken."""
        if len(part.text) > self.left:
            return False
        self.left -= len(part.text)
        return True
