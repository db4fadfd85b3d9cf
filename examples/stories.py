"""The records of the stories below this folder, signed by keys of tests where a story says so.

Run it to write them anew: the same bytes every time. A test compares them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lacec.policytest.materials import secret_of
from lacec.records.record import Record, build_plex, build_seal
from lacec.records.tai import write_tai

HERE = Path(__file__).parent
# 2026-01-31T12:00:00Z; each record of a file is a minute younger than the one before it.
START = 1769860837
AUX = b"the same signatures each time..."  # 32 bytes
NO_MORE: Sequence[tuple[str, str]] = ()


class Pen:
    """Writes records, one a minute."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._written = 0

    def write(
        self, app: str, name: str, text: str, more: Sequence[tuple[str, str]] = NO_MORE
    ) -> Record:
        at = write_tai(START + 60 * self._written, 0)
        self._written += 1
        return build_plex(self._group, app, name, at, more, text.encode())

    def sign(self, who: str, app: str, name: str, text: str) -> Record:
        return build_seal(self.write(app, name, text), secret_of(who), AUX)


def sharing() -> Iterator[tuple[str, list[Record]]]:
    pen = Pen("home")
    yield (
        "phone",
        [
            pen.write("links", "links/bread", "https://example.org/bread"),
            pen.write("links", "links/trains", "https://example.org/trains"),
            pen.write("links", "drafts/gift", "https://example.org/gift"),
            pen.write("photos", "2026/cat", "a picture of the cat"),
        ],
    )
    yield (
        "server",
        [
            pen.write("links", "links/garden", "https://example.org/garden"),
            pen.write("photos", "2026/lake", "a picture of the lake"),
        ],
    )


def membership() -> Iterator[tuple[str, list[Record]]]:
    pen = Pen("club")
    ann, bob = secret_of("ann").verifier, secret_of("bob").verifier
    yield (
        "club",
        [
            pen.sign("authority", "member", ann, ""),
            pen.sign("bob", "member", bob, ""),  # nobody but the authority makes members
            pen.sign("ann", "post", "hello", "Hello from Ann, a member."),
            pen.sign("ann", "post", "again", "And once more."),
            pen.sign("bob", "post", "me-too", "Bob says that he is a member."),
        ],
    )


def hostile() -> Iterator[tuple[str, list[Record]]]:
    club, diary = Pen("club"), Pen("diary")
    yield "club", [club.write("notes", name, name) for name in ("one", "two", "three", "four")]
    yield "diary", [diary.write("day", name, name) for name in ("doctor", "bank", "quarrel")]


def window() -> Iterator[tuple[str, list[Record]]]:
    pen = Pen("board")
    hour, years = write_tai(START + 3600, 0), write_tai(START + 10**9, 0)
    notices = [
        pen.write("notice", name, text, [("From", write_tai(START, 0)), ("Until", until)])
        for name, text, until in (
            ("water", "No water until one o'clock.", hour),
            ("key", "A key was found.", years),
        )
    ]
    yield "board", notices


def corpus() -> Iterator[tuple[str, list[Record]]]:
    pen, eve = Pen("club"), secret_of("eve").verifier
    archive = [pen.sign("ann", "post", f"ann-{number}", "A post.") for number in range(8)]
    archive += [pen.sign("eve", "post", f"eve-{number}", "Buy this!") for number in range(3)]
    archive += [
        pen.write("post", "unsigned", "Who wrote this?"),
        pen.sign("ann", "ban", eve, "Spam."),
    ]
    yield "archive", archive
    yield "mirror", archive[:6]


STORIES = {
    "sharing": sharing,
    "membership": membership,
    "hostile": hostile,
    "window": window,
    "corpus": corpus,
}


def files() -> Iterator[tuple[Path, bytes]]:
    for folder, story in STORIES.items():
        for name, records in story():
            yield HERE / folder / f"{name}.records", b"".join(r.data + b"\n" for r in records)


if __name__ == "__main__":
    for path, data in files():
        path.write_bytes(data)
