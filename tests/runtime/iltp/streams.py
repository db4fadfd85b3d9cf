"""Streams for tests: what is read from bytes, however they are cut."""

from collections.abc import Iterable, Iterator

from lacec.core.errors import StreamError
from lacec.runtime.iltp.framing.items import (
    Comment,
    Facts,
    Item,
    ItemReader,
    Rejected,
    Resource,
    Stored,
)

Seen = list[tuple[object, ...]]


def brief(item: Item) -> tuple[object, ...]:
    """An item as a tuple: what it is, where it begins, and what is in it."""
    what = type(item).__name__
    match item:
        case Comment(offset, text):
            return what, offset, text
        case Facts(offset, data):
            return what, offset, data
        case Resource(offset, id, kind, data):
            return what, offset, id, kind, data
        case Stored(offset, record):
            return what, offset, record.hash
        case Rejected(offset, hash, size, error):
            return what, offset, hash, size, error.name
        case _:
            return what, item.offset


def seen(pieces: Iterable[bytes], close: bool = True) -> Seen:
    """The items of a direction, and the error that ends it; fact lines one by one."""
    reader, found = ItemReader(), Seen()
    try:
        for piece in pieces:
            reader.feed(piece)
            while (item := reader.take()) is not None:
                found += _lines(item) if isinstance(item, Facts) else [brief(item)]
        if close:
            reader.close()
    except StreamError as error:
        found.append((error.name, error.offset))
    return found


def _lines(facts: Facts) -> Iterator[tuple[object, ...]]:
    offset = facts.offset
    for line in facts.data.splitlines(keepends=True):
        yield "Facts", offset, line
        offset += len(line)


def single_bytes(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


def cuts(data: bytes, places: Iterable[int]) -> Iterator[tuple[bytes, bytes]]:
    return ((data[:at], data[at:]) for at in places)
