"""The frame of a page: its head, its style, its search, and what it may load: nothing."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from lacec import __version__
from lacec.explain.html_report.html import Html, tag

_FOLDER = Path(__file__).parent


class Part(NamedTuple):
    """A part of the page, with its entry in the list of parts."""

    id: str
    title: str
    body: Html


def page(title: str, subtitle: str, intro: Html, parts: Sequence[Part]) -> str:
    style, script = (
        (_FOLDER / name).read_text(encoding="utf-8") for name in ("style.css", "script.js")
    )
    # Only these two run or style anything, should a value ever get past html.py.
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – lacec"),
        tag("style", Html(style)),
    )
    search = tag(
        "input",
        type="search",
        id="search",
        placeholder="Search rules, facts, proofs…",
        aria_label="Search",
        autocomplete="off",
    )
    menu = tag("nav", *[tag("a", part.title, href=f"#{part.id}") for part in parts])
    header = tag(
        "header",
        tag("div", tag("h1", title), tag("p", subtitle, class_="subtitle"), class_="title"),
        tag("div", search, tag("output", "", id="found"), class_="search"),
        menu,
    )
    sections = [
        tag("section", tag("h2", part.title), part.body, id=part.id, class_="part")
        for part in parts
    ]
    footer = tag("footer", f"lacec {__version__}")
    body = tag("body", header, tag("main", intro, *sections), footer, tag("script", Html(script)))
    return f"<!doctype html>\n{tag('html', head, body, lang='en').text}\n"


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
