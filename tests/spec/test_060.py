"""060, rule by rule: the bytes of a stream, and the addresses of its ends."""

from collections.abc import Iterable, Sequence

import pytest

from lacec.canonical.identifiers import lacegram_id, plan_id
from lacec.core.errors import AddressError, StreamError
from lacec.core.limits import DEFAULT_LIMITS
from lacec.plan.exchange import make_plan
from lacec.plan.origins import Party
from lacec.records.record import build_blob, build_plex, build_seal
from lacec.records.signature import Secret
from lacec.runtime.iltp.framing.address import Address, parse_address
from lacec.runtime.iltp.framing.reader import StreamReader
from lacec.runtime.iltp.framing.rules import (
    MARKERS,
    NAMES,
    PREFACE,
    RESOURCE_BYTES,
    RESOURCE_LINES,
    RESOURCES,
)
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.events import FromPeer
from tests.records import made
from tests.runtime.iltp.streams import Seen, cuts, seen, single_bytes
from tests.simulation.policies import EVERYTHING, GROUP_U, operand

# Address strings.


@pytest.mark.parametrize(
    ("text", "address", "written"),
    [
        ("stdio", Address("stdio"), "stdio"),
        ("unix:/run/lace.sock", Address("unix", path="/run/lace.sock"), None),
        ("tcp:127.0.0.1:4790", Address("tcp", "127.0.0.1", 4790), None),
        ("tcp:example.com:9000", Address("tcp", "example.com", 9000), None),
        ("tcp:[::1]:4790", Address("tcp", "::1", 4790), None),
        ("tcp:example.com", Address("tcp", "example.com", 4790), "tcp:example.com:4790"),
        ("tcp:[::1]", Address("tcp", "::1", 4790), "tcp:[::1]:4790"),
        (
            "ws:127.0.0.1:4790/interlace",
            Address("ws", "127.0.0.1", 4790, "/interlace"),
            "ws:127.0.0.1:4790/interlace",
        ),
        ("wss:example.com/interlace", Address("wss", "example.com", 443, "/interlace"), None),
        (
            "wss:example.com",
            Address("wss", "example.com", 443, "/interlace"),
            "wss:example.com/interlace",
        ),
        ("ws:[::1]", Address("ws", "::1", 80, "/interlace"), "ws:[::1]/interlace"),
        ("ws:h:443", Address("ws", "h", 443, "/interlace"), "ws:h:443/interlace"),
    ],
)
def test_an_address_is_a_scheme_and_where(text: str, address: Address, written: str | None) -> None:
    assert parse_address(text) == address
    assert str(address) == (written or text)
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begins with one of"),
        ("tcp", "begins with one of"),
        ("http:example.com", "begins with one of"),
        ("TCP:example.com", "begins with one of"),
        ("stdio:", "write stdio alone"),
        ("unix:lace.sock", "absolute"),
        ("unix:", "absolute"),
        ("unix:/" + "a" * 107, "at most 107 bytes, not 108"),
        ("unix:/a\nb", "printable"),
        ("unix:/e\u0301", "printable NFC"),
        ("ws://example.com/interlace", "no URL"),
        ("wss://example.com/interlace", "no URL"),
        ("ws:example.com/", "the path of ws is /interlace"),
        ("ws:example.com/other", "the path of ws is /interlace"),
        ("ws:example.com/interlace?x=1", "the path of ws is /interlace"),
        ("ws:example.com?x=1", "a host is"),
        ("tcp:example.com/interlace", "a host is"),
        ("tcp:", "a host is"),
        ("tcp::4790", "a host is"),
        ("tcp:-a.example", "a host is"),
        ("tcp:a..b", "a host is"),
        ("tcp:" + "a" * 64, "a host is"),
        ("tcp:" + "a." * 127 + "a", "a host is"),
        ("tcp:ex ample", "a host is"),
        ("tcp:1.2.3", "no IPv4 address"),
        ("tcp:256.0.0.1", "no IPv4 address"),
        ("tcp:::1", "in brackets"),
        ("tcp:::1:4790", "in brackets"),
        ("tcp:[::1", r"\[address\]"),
        ("tcp:[::1]4790", r"\[address\]"),
        ("tcp:[127.0.0.1]", "no IPv6 address"),
        ("tcp:[fe80::1%eth0]", "zone"),
        ("tcp:h:", "a port is"),
        ("tcp:h:+1", "a port is"),
        ("tcp:h:01", "a port is"),
        ("tcp:h:65536", "a port is"),
        ("tcp:h:٣", "a port is"),
    ],
)
def test_other_texts_are_no_addresses(text: str, why: str) -> None:
    with pytest.raises(AddressError, match=why):
        parse_address(text)


# The stream, item by item. Each case is read whole, byte by byte, cut at every place, and with
# bytes after it.

BLOB = build_blob(b"hello world")
MARKED = build_blob(b"\n\n" + BLOB.data + b"\n# data\n")
PLEX = build_plex("u", "ding", "a", "1700000000:000000000", [("Note", "ü")], b"x")
SEAL = build_seal(PLEX, Secret(b"k" * 32), b"a" * 32)
CHANGED = BLOB.data[:-1] + b"!"
MODULE = operand(0, EVERYTHING).module
MODULE_TEXT = MODULE.canonical.encode()
PIECE = f"🧩: {MODULE.id} lacegram\n".encode() + MODULE_TEXT + b"\n\n"
PLAN_ID = "E." + "0" * 43
P = len(PREFACE)

GOOD: dict[str, tuple[bytes, Seen]] = {
    "a fact line": (b"A('x')\n", [("Facts", P, b"A('x')\n")]),
    "a fact line of any letter": (b"zZ\n", [("Facts", P, b"zZ\n")]),
    "the longest fact line": (b"A" * 1024 + b"\n", [("Facts", P, b"A" * 1024 + b"\n")]),
    "a block": (
        b"A()\nB()\n\n",
        [("Facts", P, b"A()\n"), ("Facts", P + 4, b"B()\n"), ("Blank", P + 8)],
    ),
    "a # inside a line is no comment": (b"A('#')\n", [("Facts", P, b"A('#')\n")]),
    "a comment": (b"# said\nA()\n", [("Comment", P, " said"), ("Facts", P + 7, b"A()\n")]),
    "an empty comment": (b"#\n", [("Comment", P, "")]),
    "the longest comment": (b"#" + b"c" * 126 + b"\n", [("Comment", P, "c" * 126)]),
    "comments with a fact between": (
        b"#a\nA()\n#b\n\n",
        [
            ("Comment", P, "a"),
            ("Facts", P + 3, b"A()\n"),
            ("Comment", P + 7, "b"),
            ("Blank", P + 10),
        ],
    ),
    "comments with a blank line between": (
        b"A()\n#a\n\n#b\n\n",
        [
            ("Facts", P, b"A()\n"),
            ("Comment", P + 4, "a"),
            ("Blank", P + 7),
            ("Comment", P + 8, "b"),
            ("Blank", P + 11),
        ],
    ),
    "an empty block after a block": (
        b"A()\n\n\n",
        [("Facts", P, b"A()\n"), ("Blank", P + 4), ("Blank", P + 5)],
    ),
    "a Blob and the LF after it": (BLOB.data + b"\n", [("Stored", P, BLOB.hash)]),
    "a Plex": (PLEX.data + b"\n", [("Stored", P, PLEX.hash)]),
    "a Seal": (SEAL.data + b"\n", [("Stored", P, SEAL.hash)]),
    "data that looks like items": (MARKED.data + b"\n", [("Stored", P, MARKED.hash)]),
    "records with comments between, and the end of the batch": (
        b"#1\n" + BLOB.data + b"\n#2\n" + PLEX.data + b"\n\n",
        [
            ("Comment", P, "1"),
            ("Stored", P + 3, BLOB.hash),
            ("Comment", P + 4 + len(BLOB.data), "2"),
            ("Stored", P + 7 + len(BLOB.data), PLEX.hash),
            ("Blank", P + 8 + len(BLOB.data + PLEX.data)),
        ],
    ),
    "a record that is not what it says, and the next": (
        CHANGED + b"\n" + BLOB.data + b"\n",
        [
            ("Rejected", P, BLOB.hash, len(CHANGED), "wrong-digest"),
            ("Stored", P + 1 + len(CHANGED), BLOB.hash),
        ],
    ),
    "a resource": (PIECE, [("Resource", P, MODULE.id, "lacegram", MODULE_TEXT)]),
    "a resource of one line": (
        f"🧩: {PLAN_ID} exchange-plan\nü\n\n".encode(),
        [("Resource", P, PLAN_ID, "exchange-plan", "ü".encode())],
    ),
    "a comment, a resource, a comment, a block": (
        b"#a\n" + PIECE + b"#b\nA()\n\n",
        [
            ("Comment", P, "a"),
            ("Resource", P + 3, MODULE.id, "lacegram", MODULE_TEXT),
            ("Comment", P + 3 + len(PIECE), "b"),
            ("Facts", P + 6 + len(PIECE), b"A()\n"),
            ("Blank", P + 10 + len(PIECE)),
        ],
    ),
    "a resource line with a marker that is not at its beginning": (
        f"🧩: {PLAN_ID} exchange-plan\n a 🖧: b # c\n\n".encode(),
        [("Resource", P, PLAN_ID, "exchange-plan", " a 🖧: b # c".encode())],
    ),
}


def marker(line: str) -> bytes:
    return f"🧩: {line}\nx\n\n".encode()


M = len("🧩: ".encode())
BODY = len(f"🧩: {PLAN_ID} exchange-plan\n".encode())


def body(text: str) -> bytes:
    return f"🧩: {PLAN_ID} exchange-plan\n{text}".encode()


BAD: dict[str, tuple[bytes, str, int]] = {
    # What comes in place of the preface stands alone; see below.
    "a second preface": (PREFACE, "second-preface", 0),
    "a second preface later": (b"A()\n\n" + PREFACE, "second-preface", 5),
    "a blank line after the preface": (b"\n", "blank-after-preface", 0),
    "a comment and a blank line after the preface": (b"#a\n\n", "blank-after-preface", 3),
    "a digit": (b"1\n", "unknown-item", 0),
    "a space before a fact": (b" A()\n", "unknown-item", 0),
    "a letter that is not ASCII": ("ä()\n".encode(), "unknown-item", 0),
    "an underscore before a fact": (b"_A()\n", "unknown-item", 0),
    "NUL": (b"\x00", "unknown-item", 0),
    "CR": (b"\r\n", "unknown-item", 0),
    "half of a marker and something else": (b"\xf0\x9f\x00", "unknown-item", 0),
    "a marker without its space": ("🖧:x".encode(), "unknown-item", 0),
    "a resource marker without its space": ("🧩:x".encode(), "unknown-item", 0),
    "another sign": ("🧵: x\n".encode(), "unknown-item", 0),
    "the trailer-hash form": ("⋯🖧: x\n".encode(), "trailer-hash", 0),
    "the mark of a trailer and something else": ("⋯🧩: ".encode(), "unknown-item", 0),
    "a fact line with CR LF": (b"A()\r\n", "carriage-return", 3),
    "CR inside a fact line": (b"A()\nA('\r')\n", "carriage-return", 7),
    "a fact line of 1025 bytes": (b"A" * 1025 + b"\n", "fact-line-too-long", 1024),
    "a comment of 129 bytes": (b"#" + b"c" * 127 + b"\n", "comment-too-long", 127),
    "a comment with CR LF": (b"#a\r\n", "carriage-return", 2),
    "a comment that is not UTF-8": (b"#\xff\n", "not-utf8", 1),
    "two comments": (b"#a\n#b\n", "two-comments", 3),
    "two comments after a block": (b"A()\n\n#a\n#b\n", "two-comments", 8),
    "two comments after a record": (BLOB.data + b"\n#a\n#b\n", "two-comments", len(BLOB.data) + 4),
    "no LF after a record": (BLOB.data + b"A", "record-not-ended", len(BLOB.data)),
    "CR LF after a record": (BLOB.data + b"\r\n", "record-not-ended", len(BLOB.data)),
    "a record that breaks a rule of 010": (
        f"🖧: B.{'0' * 43}.H3\nData-Length: 01\n\n".encode(),
        "bad-record",
        M + 49 + len("Data-Length: "),
    ),
    "a record over D1": (
        f"🖧: B.{'0' * 43}.H3\nData-Length: 33554433\n\n".encode(),
        "bad-record",
        M + 49 + len("Data-Length: "),
    ),
    "a thin record": (f"🖧: B.{'0' * 43}.H3\n\n".encode(), "bad-record", M + 49),
    "no kind": (marker("R.x"), "bad-marker-line", M),
    "no identifier": (marker(" lacegram"), "bad-marker-line", M),
    "nothing in a marker line": (marker(""), "bad-marker-line", M),
    "a space at the end": (marker(f"{MODULE.id} lacegram "), "bad-marker-line", M),
    "two spaces": (marker(f"{MODULE.id}  lacegram"), "bad-marker-line", M),
    "a third token": (marker(f"{MODULE.id} lacegram x"), "bad-marker-line", M),
    "a tab": (marker(f"{MODULE.id}\tlacegram"), "bad-marker-line", M),
    "a token that is not NFC": (marker("R.e\u0301 lacegram"), "bad-marker-line", M),
    "a marker line with CR LF": (marker(f"{MODULE.id} lacegram\r"), "carriage-return", M + 54),
    "a marker line that is not UTF-8": ("🧩: ".encode() + b"\xff x\n", "not-utf8", M),
    "a marker line of 1024 bytes, which may be": (marker("R" * (1024 - M)), "bad-marker-line", M),
    "a marker line of 1025 bytes": (marker("R" * (1025 - M)), "marker-line-too-long", 1024),
    "another kind": (marker(f"{MODULE.id} program"), "unknown-kind", M + 46),
    "a lacegram named like a plan": (marker(f"{PLAN_ID} lacegram"), "wrong-shape", M),
    "a plan named like a lacegram": (marker(f"{MODULE.id} exchange-plan"), "wrong-shape", M),
    "an identifier that is too short": (marker("R.00 lacegram"), "wrong-shape", M),
    "an identifier that is no B64A": (marker(f"R.{'-' * 43} lacegram"), "wrong-shape", M),
    "a resource without lines": (body("\n"), "empty-resource", BODY),
    "a resource line with CR LF": (body("a\r\n\n"), "carriage-return", BODY + 1),
    "a resource line that is a comment": (body("a\n# b\n\n"), "bad-resource-line", BODY + 2),
    "a resource line with a record marker": (body("🖧: b\n\n"), "bad-resource-line", BODY),
    "a resource line with a resource marker": (body("🧩: b\n\n"), "bad-resource-line", BODY),
    "a resource line with a session marker": (body("🪢: b\n\n"), "bad-resource-line", BODY),
    "a resource line with a trailer marker": (body("⋯🖧: b\n\n"), "bad-resource-line", BODY),
    "a resource that is not NFC": (body("e\u0301\n\n"), "not-nfc", BODY),
    "a resource that is not UTF-8": (body("") + b"a\xff\n\n", "not-utf8", BODY + 1),
}


def every_way(data: bytes) -> list[Sequence[bytes]]:
    return [[data], list(single_bytes(data)), *cuts(data, range(1, len(data)))]


@pytest.mark.parametrize("case", GOOD)
def test_items_are_read_the_same_however_they_are_cut(case: str) -> None:
    data, items = GOOD[case]
    expected = [("Preface", 0), *items]
    for pieces in every_way(PREFACE + data):
        assert seen(pieces) == expected, pieces
    assert seen([PREFACE + data + b"\x00"]) == [*expected, ("unknown-item", P + len(data))]


@pytest.mark.parametrize("case", BAD)
def test_what_breaks_a_rule_is_refused_by_name_at_its_place(case: str) -> None:
    data, name, offset = BAD[case]
    assert name in NAMES
    for pieces in every_way(PREFACE + data):
        assert seen(pieces, close=False)[-1] == (name, P + offset), pieces
    assert seen([PREFACE + data + b"\nmore\n"])[-1] == (name, P + offset)


@pytest.mark.parametrize("marker", MARKERS)
def test_markers_are_matched_whole(marker: bytes) -> None:
    """060: several begin with the same bytes."""
    for size in range(1, len(marker)):
        begun = marker[:size]
        others = [b"\x00", b"\n", b"A", *(other[size:] for other in MARKERS)]
        for other in others:
            if other and not (begun + other).startswith(MARKERS):
                for pieces in every_way(PREFACE + begun + other):
                    assert seen(pieces, close=False)[-1] == ("unknown-item", P)


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\n", 0),
        (b"A()\n", 0),
        (b"# a comment first\n", 0),
        (BLOB.data, 2),
        (PIECE, 2),
        ("🪢: iltp/2\n".encode(), 11),
        ("🪢: iltp/1\r\n".encode(), 12),
        ("🪢: iltp/1 \n".encode(), 12),
        ("🪢:iltp/1\n".encode(), 5),
        (b"\xef\xbb\xbf" + PREFACE, 0),
        (b"GET /interlace HTTP/1.1\r\n", 0),
    ],
)
def test_a_direction_begins_with_the_exact_preface(data: bytes, offset: int) -> None:
    for pieces in every_way(data):
        assert seen(pieces, close=False) == [("bad-preface", offset)]


def test_a_direction_ends_between_two_items_or_is_cut_off() -> None:
    """060: a disconnect in the middle of a line, a resource or a record is an abort."""
    for data, items in GOOD.values():
        whole = PREFACE + data
        ends = {P, len(whole)} | {item[1] for item in items}
        for at in range(len(whole)):
            last = seen([whole[:at]])[-1:]
            assert (last == [("truncated", at)]) == (at not in ends), (data, at)


def test_an_error_ends_the_stream_for_good() -> None:
    reader = StreamReader({}, DEFAULT_LIMITS)
    reader.feed(PREFACE + b"1")
    for _ in range(2):
        with pytest.raises(StreamError, match="byte 13: unknown-item: these bytes begin no item"):
            reader.take(Reading.SETUP, 2**20)
        reader.feed(b"A()\n\n")
    assert not reader.whole


# The limits of resources.


def last_error(data: bytes) -> tuple[object, ...]:
    """The error of a long stream: whole, in pieces, and cut around its end."""
    expected = seen([data])[-1]
    pieces = [data[at : at + 4093] for at in range(0, len(data), 4093)]
    assert seen(pieces)[-1] == expected
    for cut in cuts(data, range(len(data) - 5, len(data))):
        assert seen(cut)[-1] == expected
    return expected


def test_a_resource_has_at_most_1_mib() -> None:
    longest = "a" * RESOURCE_BYTES
    (_, _, *rest) = last_error(PREFACE + body(longest + "\n\n"))
    assert rest == [PLAN_ID, "exchange-plan", longest.encode()]
    too_long = ("resource-too-large", P + BODY + RESOURCE_BYTES)
    assert last_error(PREFACE + body(longest + "a")) == too_long
    assert last_error(PREFACE + body(longest + "a\n\n")) == too_long
    assert last_error(PREFACE + body(longest[:-2] + "\na\na\n\n")) == too_long
    assert last_error(PREFACE + body(longest + "\na")) == too_long


def test_a_resource_has_at_most_4096_lines() -> None:
    most = "a\n" * RESOURCE_LINES
    assert last_error(PREFACE + body(most + "\n"))[0] == "Resource"
    error = ("too-many-lines", P + BODY + len(most))
    assert last_error(PREFACE + body(most + "a\n\n")) == error


def resources(*pieces: bytes) -> str:
    """The name of the error with which resources are refused, or nothing."""
    return outcome(Reading.SETUP, *pieces)[1]


def outcome(
    reading: Reading, *pieces: bytes, most: int = 2**20, known: dict[str, bytes] | None = None
) -> tuple[list[FromPeer], str]:
    """The messages in a stream, and the name and reason of its error: the same whole, byte by
    byte, cut at every place, and with bytes after it. What is long is cut around its end."""
    data = PREFACE + b"".join(pieces)
    found, error = messages([data], reading, most, known)
    short = len(data) < 2**12
    places = range(1, len(data)) if short else range(len(data) - 5, len(data))
    for way in ([*single_bytes(data)] if short else [data[:9], data[9:]], *cuts(data, places)):
        assert messages(way, reading, most, known) == (found, error), way
    after, wrong = messages([data, b"\x00"], reading, most, known)
    assert after == found
    assert wrong == (error or "unknown-item malformed-stream")
    return found, error


def messages(
    pieces: Iterable[bytes], reading: Reading, most: int, known: dict[str, bytes] | None
) -> tuple[list[FromPeer], str]:
    reader, found = StreamReader(dict(known or {}), DEFAULT_LIMITS), list[FromPeer]()
    try:
        for piece in pieces:
            reader.feed(piece)
            while (message := reader.take(reading, most)) is not None:
                found.append(message)
    except StreamError as error:
        return found, f"{error.name} {error.reason}"
    return found, ""


def test_an_exchange_has_at_most_256_resources() -> None:
    assert resources(*[PIECE] * RESOURCES) == ""
    assert resources(*[PIECE] * (RESOURCES + 1)) == "too-many-resources malformed-stream"


# Resources: canonical bytes only, the identifier recomputed.


def lacegram(text: str, id: str | None = None) -> bytes:
    return f"🧩: {id or lacegram_id(text)} lacegram\n{text}\n\n".encode()


def test_duplicate_identical_resources_are_allowed() -> None:
    assert resources(PIECE, PIECE) == ""


def test_a_conflicting_body_is_a_stream_error() -> None:
    other = operand(0, GROUP_U).module.canonical
    assert resources(PIECE, lacegram(other, MODULE.id)) == "conflicting-resource malformed-stream"


def test_the_identifier_is_recomputed() -> None:
    other = operand(0, GROUP_U).module.canonical
    assert resources(lacegram(other, MODULE.id)) == "wrong-identifier malformed-exchange-module"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(reversed(MODULE.canonical.split("\n"))),
        MODULE.canonical.replace(" :- ", ":-"),
        MODULE.canonical + " ",
        MODULE.canonical + "\n" + MODULE.canonical.split("\n")[-1],
        "SelectHave(P) :- Have(P), P = 'x'.",
        "SelectHave(P) :- Have(P), Prefix(P,'x').",
        "SelectHave(P) :- Have(Q).",
        "this is no lacegram",
        "\n".join(sorted(f"A('{n}') :- Have('{n}')." for n in range(257))),
    ],
)
def test_bytes_that_are_not_canonical_are_refused_not_made_canonical(text: str) -> None:
    """D12: a peer's module has at most 256 rules."""
    assert resources(lacegram(text)) == "not-canonical malformed-exchange-module"


def plan_resource(text: str) -> tuple[str, bytes]:
    id = plan_id(text)
    return id, f"🧩: {id} exchange-plan\n{text}\n\n".encode()


def transcript() -> str:
    return make_plan((operand(0, EVERYTHING), operand(1, GROUP_U)), (Party(), Party())).transcript


def test_a_plan_is_a_canonical_transcript() -> None:
    _, data = plan_resource(transcript())
    assert resources(data) == ""
    _, wrong = plan_resource("\n".join(reversed(transcript().split("\n"))))
    assert resources(wrong) == "not-canonical malformed-exchange-module"


HELLO = (
    "HelloExchangePlan('{}')\nHelloTAI('1640995200:000000000')\n"
    "HelloTickInterval('10000000000')\nHelloRecordFormat('H3')\n\n"
)


def test_d29_a_plan_that_arrives_is_the_agreed_one() -> None:
    id, data = plan_resource(transcript())
    found, error = outcome(Reading.HELLO, data, HELLO.format(id).encode(), data)
    assert len(found) == 1
    assert error == ""
    other = HELLO.format(PLAN_ID).encode()
    assert outcome(Reading.HELLO, data, other) == ([], "other-plan exchange-plan-mismatch")


def test_a_resource_stands_where_a_block_or_an_item_could_begin() -> None:
    setup = f"ExchangeOperand('0','{MODULE.id}','unassigned','selector')\n".encode()
    message = m.Setup(0, MODULE.id, "unassigned", "selector")
    assert outcome(Reading.SETUP, PIECE, setup + b"\n") == ([message], "")
    assert outcome(Reading.SETUP, setup, PIECE)[1] == "misplaced-resource malformed-stream"
    batch = (BLOB.data + b"\n", PIECE, b"NotAvailable('%s')\n" % BLOB.hash.encode(), PIECE, b"\n")
    found, error = outcome(Reading.TRANSFER, *batch)
    assert [type(each) for each in found] == [m.Arrived, m.NotAvailable, m.BatchEnd]
    assert error == ""


# Blocks and batches.


def test_a_blank_line_ends_a_block_and_comments_are_no_part_of_it() -> None:
    hashes = [f"P.{'0' * 42}{n}.H3" for n in "04"]
    lines = [f"MayRequest('{hash}')\n".encode() for hash in hashes]
    block = b"# one\n" + lines[0] + b"# two\n" + lines[1] + b"# three\n\n"
    assert outcome(Reading.REQUEST, block) == ([m.Request(tuple(hashes))], "")


def test_a_block_of_comments_alone_is_empty() -> None:
    assert outcome(Reading.REQUEST, PIECE, b"# nothing\n\n", b"\n") == ([m.Request()] * 2, "")


def test_a_block_has_a_limited_size() -> None:
    line = f"MayRequest('P.{'0' * 43}.H3')\n".encode()
    assert outcome(Reading.REQUEST, line, b"\n", most=len(line))[1] == ""
    assert outcome(Reading.REQUEST, line, most=len(line) - 1) == (
        [],
        "block-too-large oversized-fact-block",
    )


@pytest.mark.parametrize("line", [b"A\n", b"MayRequest('x')\n", b"MayRequest('\xff')\n"])
def test_a_malformed_block_is_refused_at_its_place(line: bytes) -> None:
    reader = StreamReader({}, DEFAULT_LIMITS)
    reader.feed(PREFACE + b"# here\n" + line + b"\n")
    with pytest.raises(StreamError) as caught:
        reader.take(Reading.REQUEST, 2**20)
    assert (caught.value.name, caught.value.offset) == ("bad-fact-block", P + 7)
    assert caught.value.reason == "malformed-fact-block"


def test_a_batch_mixes_records_and_what_is_not_available() -> None:
    """D20, D25."""
    missing = b"NotAvailable('%s')\n" % PLEX.hash.encode()
    found, error = outcome(
        Reading.TRANSFER, SEAL.data + b"\n", missing, CHANGED + b"\n", b"# done\n", b"\n"
    )
    assert error == ""
    assert found == [
        m.Arrived(SEAL),
        m.NotAvailable(PLEX.hash),
        m.Invalid(BLOB.hash, len(CHANGED)),
        m.BatchEnd(),
    ]


OTHER_BLOB = made.BLOB.replace(b"hello", b"HELLO")
NOT_VALID = {
    "the hash": made.plex_with("Note: a").replace(b"Note: a", b"Note: b"),
    "an embedded hash": made.plex_of(made.COORDINATES, OTHER_BLOB),
    "the signature": made.seal_of(made.plex_with(), digest=b"\x01" * 32),
}


@pytest.mark.parametrize("wrong", NOT_VALID)
def test_a_record_of_a_batch_is_validated_at_every_level(wrong: str) -> None:
    """050 Transfer: hash, embedded hashes and signature. The batch goes on."""
    data = NOT_VALID[wrong]
    hash = data.partition(b"\n")[0].removeprefix("🖧: ".encode()).decode()
    found, error = outcome(Reading.TRANSFER, data + b"\n", SEAL.data + b"\n", b"\n")
    assert error == ""
    assert found == [m.Invalid(hash, len(data)), m.Arrived(SEAL), m.BatchEnd()]


def test_a_record_of_a_batch_without_the_structure_of_one_ends_the_stream() -> None:
    """050 Transfer: where it would end, nobody can say."""
    data = made.plex_of(made.COORDINATES.replace(b"App", b"Apple"))
    found, error = outcome(Reading.TRANSFER, SEAL.data + b"\n", data + b"\n")
    assert found == [m.Arrived(SEAL)]
    assert error.startswith("bad-record")


def test_several_lines_of_a_batch_that_come_at_once_are_messages_of_their_own() -> None:
    missing = b"".join(b"NotAvailable('%s')\n" % r.hash.encode() for r in (PLEX, SEAL))
    reader = StreamReader({}, DEFAULT_LIMITS)
    reader.feed(PREFACE + missing + b"\n")
    found = [reader.take(Reading.TRANSFER, 2**20) for _ in range(4)]
    assert found == [m.NotAvailable(PLEX.hash), m.NotAvailable(SEAL.hash), m.BatchEnd(), None]


def test_a_batch_has_no_other_facts() -> None:
    assert outcome(Reading.TRANSFER, b"MayRequest('x')\n")[1].startswith("bad-fact-block")


@pytest.mark.parametrize("reading", [r for r in Reading if r is not Reading.TRANSFER])
def test_a_record_outside_a_batch_is_refused_before_it_is_read(reading: Reading) -> None:
    found = outcome(reading, "🖧: ".encode())
    assert found == ([], "misplaced-record unrequested-record")


def test_a_record_inside_a_block_is_refused() -> None:
    line = f"MayRequest('P.{'0' * 43}.H3')\n".encode()
    assert outcome(Reading.REQUEST, line, BLOB.data)[1] == "misplaced-record unrequested-record"


def test_a_direction_that_ends_inside_a_block_is_not_whole() -> None:
    reader = StreamReader({}, DEFAULT_LIMITS)
    assert not reader.whole, "not even the preface has come"
    line = f"MayRequest('{PLEX.hash}')\n".encode()
    for piece, whole in ((PREFACE, True), (line[:5], False), (line[5:], False), (b"\n", True)):
        reader.feed(piece)
        reader.take(Reading.REQUEST, 2**20)
        assert reader.whole == whole


# What is written is what is read.


def test_the_writer_sends_a_module_before_the_setup_that_names_it_and_once() -> None:
    setup = m.Setup(0, MODULE.id, "unassigned", "selector")
    line = f"ExchangeOperand('0','{MODULE.id}','unassigned','selector')\n\n".encode()
    writer = StreamWriter({MODULE.id: MODULE_TEXT})
    assert writer.write(setup) == PREFACE + PIECE + line
    assert writer.write(setup) == line


def test_the_writer_never_writes_two_comments_in_a_row() -> None:
    writer = StreamWriter({MODULE.id: MODULE_TEXT}, comments=True)
    setup = m.Setup(0, MODULE.id, "unassigned", "selector")
    said = writer.comment("one") + writer.comment("two") + writer.write(setup)
    said += writer.write(m.SentRecord(BLOB.hash, BLOB.data)) + writer.write(m.NotAvailable("P.x"))
    said += writer.write(m.BatchEnd()) + writer.write(m.BatchEnd())
    said += writer.comment("abort: " + "ü" * 200 + "\n")
    assert [item[2] for item in seen([said]) if item[0] == "Comment"] == [
        " one",
        " setup",
        " transfer",
        " transfer",
        " abort: " + "ü" * 59,
    ]


def test_the_writer_refuses_a_module_that_no_peer_would_take() -> None:
    setup = m.Setup(0, "R.x", "unassigned", "selector")
    with pytest.raises(StreamError, match="resource-too-large"):
        StreamWriter({"R.x": b"a" * (RESOURCE_BYTES + 1)}).write(setup)
    with pytest.raises(StreamError, match="too-many-lines"):
        StreamWriter({"R.x": b"\n".join([b"a"] * (RESOURCE_LINES + 1))}).write(setup)
