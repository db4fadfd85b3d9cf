"""010, records, and D1 to D4: one test for each rule, by the name of what breaks it.

Each broken record has the right digests for its bytes, so that nothing but the rule is broken.
"""

import pytest

from lacec.core.errors import RecordError
from lacec.records.limits import RecordLimits
from lacec.records.links import read_link
from lacec.records.record import build_blob, build_plex, build_seal, parse_record
from lacec.records.rules import NAMES
from lacec.records.signature import Secret
from tests.records import made
from tests.records.made import BLOB, COORDINATES, marked, plex_of, plex_with, seal_of

MARK_BYTES = len("🖧: ".encode())
HASH = "B." + "0" * 43 + ".H3"


def refused(data: bytes, limits: RecordLimits | None = None) -> tuple[str, int]:
    with pytest.raises(RecordError) as caught:
        parse_record(data, limits or RecordLimits())
    assert caught.value.name in NAMES
    assert caught.value.message
    assert caught.value.help
    return caught.value.name, caught.value.offset


def broken(data: bytes, at: bytes, name: str, further: int = 0) -> None:
    """The record is refused by this name, so many bytes after the first place of some bytes."""
    assert refused(data) == (name, data.index(at) + further)


# Forms.


def test_the_three_forms_as_they_are_written() -> None:
    blob, plex = made.blob(), made.plex(())
    seal = made.seal(())
    assert blob.data == f"🖧: {blob.hash}\nData-Length: 11\n\nhello world".encode()
    assert plex.data == (
        f"🖧: {plex.hash}\nGroup: u\nApp: ding\nName: links/one\nTAI: {made.TAI}\n".encode()
        + blob.data
    )
    assert seal.data == (
        f"🖧: {seal.hash}\nSigned-By: {seal.signed_by}\nSignature: {seal.signature}\n".encode()
        + plex.data
    )


def test_the_mark_is_these_six_bytes() -> None:
    assert made.blob().data.startswith(bytes.fromhex("F09F96A73A20"))


@pytest.mark.parametrize(
    "data", [b"hello world", b"\xef\xbb\xbf" + BLOB, b"\n" + BLOB, b"\xf0\x9f "]
)
def test_a_record_begins_with_the_mark(data: bytes) -> None:
    assert refused(data) == ("not-a-record", 0)


def test_a_trailer_hash_is_not_supported() -> None:
    """D4, at the start and where the embedded record should be."""
    assert refused("⋯🖧: ".encode() + BLOB[MARK_BYTES:]) == ("trailer-hash", 0)
    broken(plex_of(COORDINATES, "⋯".encode() + BLOB), "⋯".encode(), "trailer-hash")


def test_a_thin_record_is_not_supported() -> None:
    """D4: a markline whose record is left out."""
    thin = plex_of(COORDINATES, f"🖧: {HASH}\n\n".encode())
    broken(thin, f"{HASH}\n\n".encode(), "thin-record", len(HASH) + 1)
    assert refused(f"🖧: {HASH}\n\n".encode())[0] == "thin-record"


@pytest.mark.parametrize("letter", ["A", "V", "Z", "R"])
def test_the_type_letter_is_one_of_three(letter: str) -> None:
    assert refused(marked(letter, b"Data-Length: 0\n\n")) == ("wrong-type", MARK_BYTES)


def test_the_type_letter_fits_the_form() -> None:
    plex, seal = plex_with(), seal_of(plex_with())
    inner = seal[MARK_BYTES + 49 :]
    assert refused(plex_of(COORDINATES, plex))[0] == "wrong-type"
    assert refused(plex_of(COORDINATES, seal))[0] == "wrong-type"
    assert refused(seal_of(BLOB))[0] == "wrong-type"
    assert refused(seal_of(seal))[0] == "wrong-type"
    assert refused(marked("B", plex[MARK_BYTES + 49 :]))[0] == "header-order"
    assert refused(marked("P", inner))[0] == "header-order"


@pytest.mark.parametrize(
    "text",
    [
        "B." + "0" * 42 + ".H3",
        "B." + "0" * 44 + ".H3",
        "B." + "0" * 42 + "1.H3",
        "B." + "0" * 42 + "=.H3",
        "B." + "0" * 43 + ".H4",
        "B." + "0" * 43,
        "B" + "0" * 43 + ".H3",
        "b." + "0" * 43 + ".H3",
        "B." + "0" * 43 + ".H3 ",
        " B." + "0" * 43 + ".H3",
        "B." + "é" * 43 + ".H3",
        "",
    ],
)
def test_the_hash_text_of_a_markline_is_canonical(text: str) -> None:
    assert refused(f"🖧: {text}\nData-Length: 0\n\n".encode()) == ("bad-hash-text", MARK_BYTES)


# Digests and signature.


def test_the_digest_of_a_blob_is_checked() -> None:
    data = BLOB.replace(b"world", b"World")
    assert refused(data) == ("wrong-digest", MARK_BYTES + 2)


def test_the_digest_of_every_level_is_checked() -> None:
    wrong_blob = BLOB.replace(b"world", b"World")
    broken(plex_of(COORDINATES, wrong_blob), b"B.", "wrong-digest", 2)
    broken(seal_of(plex_of(COORDINATES, wrong_blob)), b"B.", "wrong-digest", 2)
    wrong_plex = plex_with().replace(b"Group: u", b"Group: v")
    assert refused(wrong_plex) == ("wrong-digest", MARK_BYTES + 2)
    broken(seal_of(wrong_plex), b"P.", "wrong-digest", 2)
    seal = seal_of(plex_with())
    other = seal.replace(made.SECRET.verifier.encode(), Secret(b"x" * 32).verifier.encode())
    assert refused(other) == ("wrong-digest", MARK_BYTES + 2)


def test_the_signature_of_a_seal_is_checked() -> None:
    """With right digests at every level."""
    plex = plex_with()
    data = seal_of(plex, digest=b"another digest, of 32 bytes.....")
    broken(data, b"Signature: ", "wrong-signature", len("Signature: "))
    parse_record(data, verify=False)


def test_the_signature_is_for_the_digest_of_the_embedded_plex() -> None:
    parse_record(seal_of(plex_with()))


# Headers.


@pytest.mark.parametrize(
    ("line", "name", "further"),
    [
        (b"Colour", "missing-colon", 0),
        (b": red", "empty-name", 0),
        (b"My Colour: red", "bad-name", 2),
        (b" Colour: red", "bad-name", 0),
        (b"Colour : red", "bad-name", 6),
        (b"Colour:red", "missing-space", 7),
        (b"Colour:", "empty-value", 7),
        (b"Colour: ", "empty-value", 7),
        (b"Col\tour: red", "control-character", 3),
        (b"Colour:\tred", "control-character", 7),
        (b"Colour: red\r", "control-character", 11),
        (b"Colour: r\x00d", "control-character", 9),
        (b"Colour: r\x1fd", "control-character", 9),
        (b"Colour: r\x7fd", "control-character", 9),
        (b"Colour: r\xffd", "not-utf8", 9),
        (b"Colour: \xed\xa0\x80", "not-utf8", 8),
        (b"Colour: \xc0\xaf", "not-utf8", 8),
        ("Colour: u\u0308".encode(), "not-nfc", 0),
        ("Colo\u0301r: red".encode(), "not-nfc", 0),
        ("Colour: \u2126".encode(), "not-nfc", 0),
    ],
)
def test_a_header_line_is_name_colon_space_value(line: bytes, name: str, further: int) -> None:
    broken(plex_with(line), line, name, further)


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("A: b: c", ("A", "b: c")),
        ("A: :", ("A", ":")),
        ("A:  x", ("A", " x")),
        ("A: x ", ("A", "x ")),
        ("A:  ", ("A", " ")),
        ("A: \u0085\u00a0", ("A", "\u0085\u00a0")),
        ("ü\u00a0: ý", ("ü\u00a0", "ý")),
        ("-: -", ("-", "-")),
    ],
)
def test_white_space_is_data_and_a_value_may_have_colons(line: str, extra: tuple[str, str]) -> None:
    """D3: in `A:  x` the value is ` x`."""
    assert parse_record(plex_with(line)).extras == (extra,)


def test_a_line_has_at_most_1024_bytes() -> None:
    fits = b"A: " + b"x" * 1021
    assert parse_record(plex_with(fits)).extras == (("A", "x" * 1021),)
    broken(plex_with(fits + b"x"), fits, "line-too-long", 1024)
    wide = "A: " + "ü" * 510 + "x"
    assert parse_record(plex_with(wide)).extras == (("A", wide[3:]),)
    broken(plex_with(wide + "x"), wide.encode(), "line-too-long", 1024)


# Data-Length.


@pytest.mark.parametrize(
    "text", ["00", "011", "-1", "+11", "1e1", " 11", "11 ", "0x0b", "１１", "x"]
)
def test_data_length_is_decimal_without_leading_zeros(text: str) -> None:
    data = marked("B", f"Data-Length: {text}\n\nhello world".encode())
    broken(data, b"Data-Length: ", "bad-data-length", 13)


def test_data_length_may_be_0() -> None:
    assert parse_record(marked("B", b"Data-Length: 0\n\n")).data_length == 0


@pytest.mark.parametrize("length", [32 * 2**20 + 1, 33 * 2**20, 10**18, 10**18 - 1, 10**100])
def test_data_over_the_limit_is_refused_before_it_is_read(length: int) -> None:
    """D1: the data is not even there."""
    data = marked("B", f"Data-Length: {length}\n\n".encode())
    broken(data, b"Data-Length: ", "blob-too-large", 13)


def test_the_limit_of_data_can_be_changed() -> None:
    assert refused(BLOB, RecordLimits(blob_bytes=10))[0] == "blob-too-large"
    assert parse_record(BLOB, RecordLimits(blob_bytes=11)).data_length == 11


def test_a_blank_line_stands_before_the_data() -> None:
    data = marked("B", b"Data-Length: 11\nhello world\n\n")
    broken(data, b"hello", "missing-blank-line")


def test_data_is_exactly_as_long_as_it_says() -> None:
    assert refused(BLOB[:-1]) == ("truncated", len(BLOB) - 1)
    assert refused(BLOB + b"!") == ("trailing-bytes", len(BLOB))
    assert refused(BLOB + b"\n") == ("trailing-bytes", len(BLOB))


@pytest.mark.parametrize("data", [b"", b"\xf0", BLOB[:6], BLOB[:20], BLOB[:60], BLOB[:70]])
def test_a_head_is_whole(data: bytes) -> None:
    assert refused(data) == ("truncated", len(data))


# TAI and coordinates.


@pytest.mark.parametrize(
    "tai",
    [
        "164099520:000000000",
        "16409952000:000000000",
        "1640995200:00000000",
        "1640995200:0000000000",
        "1640995200.000000000",
        "1640995200",
        "-640995200:000000000",
        "１640995200:000000000",
        "1640995200:000000000 ",
    ],
)
def test_tai_is_ten_digits_colon_nine_digits(tai: str) -> None:
    data = plex_of(f"Group: u\nApp: a\nName: n\nTAI: {tai}\n".encode())
    broken(data, b"TAI: ", "bad-tai", 5)


LINES = [b"Group: u\n", b"App: a\n", b"Name: n\n", f"TAI: {made.TAI}\n".encode()]


@pytest.mark.parametrize("missing", range(4))
def test_group_app_name_and_tai_all_appear(missing: int) -> None:
    lines = [line for number, line in enumerate(LINES) if number != missing]
    assert refused(plex_of(b"".join(lines)))[0] == "header-order"


@pytest.mark.parametrize("first", range(3))
def test_group_app_name_and_tai_stand_in_order(first: int) -> None:
    lines = list(LINES)
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    broken(plex_of(b"".join(lines)), lines[first], "header-order")


@pytest.mark.parametrize("twice", range(3))
def test_group_app_and_name_appear_once(twice: int) -> None:
    lines = [*LINES[: twice + 1], *LINES[twice:]]
    assert refused(plex_of(b"".join(lines)))[0] == "header-order"


def test_extra_headers_stand_after_the_coordinates() -> None:
    broken(plex_of(b"Extra: x\n" + COORDINATES), b"Extra", "header-order")


@pytest.mark.parametrize(
    "lines",
    [
        b"Signature: {0}\nSigned-By: {1}\n",
        b"Signed-By: {1}\n",
        b"Signature: {0}\n",
        b"Signed-By: {1}\nSignature: {0}\nNote: x\n",
        b"Signed-By: {1}\nSigned-By: {1}\nSignature: {0}\n",
    ],
)
def test_signed_by_and_signature_appear_once_and_in_order(lines: bytes) -> None:
    seal = made.seal()
    assert seal.signature is not None
    assert seal.signed_by is not None
    assert seal.plex is not None
    filled = lines.replace(b"{0}", seal.signature.encode())
    filled = filled.replace(b"{1}", seal.signed_by.encode())
    assert refused(marked("S", filled + seal.plex.data))[0] == "header-order"


@pytest.mark.parametrize("text", ["V.", "V." + "0" * 42 + ".H3", "B." + "0" * 43 + ".H3", "alice"])
def test_signed_by_is_a_verifier(text: str) -> None:
    data = marked("S", f"Signed-By: {text}\nSignature: {'0' * 86}\n".encode() + plex_with())
    broken(data, b"Signed-By: ", "bad-verifier", 11)


@pytest.mark.parametrize("text", ["0" * 85, "0" * 87, "0" * 85 + "1", "=" * 86])
def test_a_signature_is_the_text_of_64_bytes(text: str) -> None:
    lines = f"Signed-By: {made.SECRET.verifier}\nSignature: {text}\n".encode()
    broken(marked("S", lines + plex_with()), b"Signature: ", "bad-signature-text", 11)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("path", "further"),
    [
        ("/a", 0),
        ("a/", 2),
        ("a//b", 2),
        ("/", 0),
        (".", 0),
        ("..", 0),
        ("a/.", 2),
        ("a/../b", 2),
        ("a/./b", 2),
        ("ü{b", 2),
        ("a}", 1),
        ("a|b", 1),
        ("#a", 0),
    ],
)
def test_group_app_and_name_are_paths(path: str, further: int, place: int) -> None:
    """D2"""
    paths = ["g", "a", "n"]
    paths[place] = path
    lines = "".join(f"{n}: {p}\n" for n, p in zip(("Group", "App", "Name"), paths, strict=True))
    header = ("Group", "App", "Name")[place]
    data = plex_of(lines.encode() + LINES[3])
    broken(data, f"{header}: {path}\n".encode(), "bad-path", len(header) + 2 + further)


@pytest.mark.parametrize(
    "path", ["a", "a/b", ".a", "a.", "...", "a b", " ", "a:b", "ü/水", "V.x.H3"]
)
def test_anything_else_in_a_path_is_fine(path: str) -> None:
    """D2"""
    record = build_plex(path, path, path, made.TAI, [], b"")
    assert parse_record(record.data).name == path


def test_a_path_has_at_most_512_bytes() -> None:
    """D2"""
    fits = "ü" * 256
    record = build_plex(fits, fits, fits, made.TAI, [], b"")
    assert parse_record(record.data).group == fits
    for place, header in enumerate(("Group", "App", "Name")):
        paths = [fits, fits, fits]
        paths[place] += "x"
        lines = "".join(f"{n}: {p}\n" for n, p in zip(("Group", "App", "Name"), paths, strict=True))
        data = plex_of(lines.encode() + LINES[3])
        broken(data, f"{header}: ".encode(), "path-too-long", len(header) + 2 + 512)


# Extra headers.


def test_extra_headers_are_sorted_by_name_bytewise() -> None:
    """D3"""
    parse_record(plex_with("+Link: x", "A: 1", "B: 1", "a: 1", "ü: 1", "水: 1", "🌱: 1"))
    for lines in (("B: 1", "A: 1"), ("a: 1", "B: 1"), ("ü: 1", "z: 1"), ("🌱: 1", "水: 1")):
        broken(plex_with(*lines), f"\n{lines[1]}\n".encode(), "unsorted-headers", 1)
    broken(plex_with("A: 1", "B: 1", "A: 2"), b"A: 2", "unsorted-headers")


def test_headers_of_one_name_keep_the_order_of_their_author() -> None:
    """D3: same name and value may repeat."""
    extras = (("A", "2"), ("A", "1"), ("A", "2"))
    assert parse_record(made.plex(extras).data).extras == extras
    mixed = (("B", "1"), ("A", "2"), ("B", "0"), ("A", "1"))
    expected = (("A", "2"), ("A", "1"), ("B", "1"), ("B", "0"))
    assert made.plex(mixed).extras == expected


@pytest.mark.parametrize(
    "name", ["Type", "Data-Length", "Group", "App", "Name", "TAI", "Signed-By", "Signature"]
)
def test_names_of_fields_are_reserved(name: str) -> None:
    """D3"""
    broken(plex_with(f"{name}: x/y"), f"{name}: x/y".encode(), "reserved-name")
    with pytest.raises(RecordError) as caught:
        made.plex(((name, "x"),))
    assert caught.value.name == "reserved-name"


@pytest.mark.parametrize("name", ["🖧", "⋯🖧"])
def test_a_mark_is_no_name(name: str) -> None:
    with pytest.raises(RecordError) as caught:
        made.plex(((name, "x"),))
    assert caught.value.name == "reserved-name"


@pytest.mark.parametrize("name", ["type", "group", "TAI2", "🖧x", "x🖧"])
def test_other_names_are_free(name: str) -> None:
    assert parse_record(made.plex(((name, "x"),)).data).extras == ((name, "x"),)


def test_a_plex_has_at_most_256_extra_headers() -> None:
    """D1"""
    lines = [f"A: {number}" for number in range(256)]
    assert len(parse_record(plex_with(*lines)).extras) == 256
    broken(plex_with(*lines, "A: last"), b"A: last", "too-many-headers")
    assert (
        refused(plex_with("A: 1", "A: 2"), RecordLimits(extra_headers=1))[0] == "too-many-headers"
    )


def test_a_plex_has_at_most_64_kib_of_header_bytes() -> None:
    """D1: all lines from Group to the last extra header, LFs counted."""
    line = "A: " + "x" * 1020
    left = 64 * 1024 - len(COORDINATES)
    lines = [line] * (left // 1024)
    lines.append("B: " + "x" * (left % 1024 - 4))
    fits = plex_with(*lines)
    assert len(parse_record(fits).extras) == len(lines)
    start = fits.index(b"Group: ")
    over = plex_with(*lines[:-1], lines[-1] + "x")
    assert refused(over) == ("headers-too-large", start + 64 * 1024)
    assert refused(fits, RecordLimits(header_bytes=64 * 1024 - 1))[0] == "headers-too-large"


def test_a_head_without_an_end_is_refused() -> None:
    """However long it goes on."""
    data = plex_with(*["A: " + "x" * 1000] * 200)
    assert refused(data)[0] == "headers-too-large"
    assert refused(b"\xf0\x9f\x96\xa7: " + b"x" * 10**6)[0] == "line-too-long"


# Links.


@pytest.mark.parametrize(
    ("name", "value", "link"),
    [
        ("+Link", f"evidence {HASH}", ("evidence", HASH)),
        ("Chunk+Link", f"0..512 {HASH}", ("0..512", HASH)),
        ("+Link", f"two words {HASH}", ("two words", HASH)),
        ("+Link", f"  {HASH}", (" ", HASH)),
        ("+Link", HASH, None),
        ("+Link", f" {HASH}", None),
        ("+Link", f"{HASH} ", None),
        ("+Link", f"{HASH} x", None),
        ("+Links", f"evidence {HASH}", None),
        ("Link", f"evidence {HASH}", None),
        ("+link", f"evidence {HASH}", None),
        ("+Link", "evidence P." + "0" * 43 + ".H3", ("evidence", "P." + "0" * 43 + ".H3")),
        ("+Link", "evidence S." + "0" * 43 + ".H3", ("evidence", "S." + "0" * 43 + ".H3")),
        ("+Link", "evidence V." + "0" * 43 + ".H3", None),
        ("+Link", "evidence B." + "0" * 42 + ".H3", None),
        ("+Link", "evidence B." + "0" * 42 + "1.H3", None),
        ("+Link", "evidence X.00.Q9", ("evidence", "X.00.Q9")),
        ("+Link", "evidence X.01.Q9", None),
        ("+Link", "evidence X.0.Q9", None),
        ("+Link", "evidence X..Q9", None),
        ("+Link", "evidence x.00.Q9", None),
        ("+Link", "evidence XX.00.Q9", None),
        ("+Link", "evidence X.00.q9", None),
        ("+Link", "evidence X.00.", None),
        ("+Link", "evidence X.00", None),
        ("+Link", "evidence Ä.00.Q9", None),
        ("+Link", "evidence X.00.Q9\n", None),
    ],
)
def test_a_link_is_data_and_a_typed_hash(
    name: str, value: str, link: tuple[str, str] | None
) -> None:
    """D3a"""
    assert read_link(name, value) == link


# Building refuses what reading would.


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        (("A", "x\nB: y"), "control-character"),
        (("A\nB", "x"), "control-character"),
        (("A: b", "x"), "bad-name"),
        (("A", ""), "empty-value"),
        (("", "x"), "empty-name"),
        (("A b", "x"), "bad-name"),
        (("A", "\ud800"), "not-utf8"),
        (("A", "u\u0308"), "not-nfc"),
        (("A", "x" * 1022), "line-too-long"),
    ],
)
def test_a_wrong_header_is_not_built(extra: tuple[str, str], name: str) -> None:
    with pytest.raises(RecordError) as caught:
        made.plex([extra])
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("field", "value"),
    [(0, "a\nApp: b"), (1, "a\nName: b"), (2, f"a\nTAI: {made.TAI}"), (3, f"{made.TAI}\nA: x")],
)
def test_a_field_cannot_smuggle_in_a_line(field: int, value: str) -> None:
    fields = ["u", "ding", "one", made.TAI]
    fields[field] = value
    with pytest.raises(RecordError) as caught:
        build_plex(fields[0], fields[1], fields[2], fields[3], [], b"")
    assert caught.value.name == "control-character"


def test_too_much_data_is_not_built() -> None:
    with pytest.raises(RecordError) as caught:
        build_blob(b"hello world", RecordLimits(blob_bytes=10))
    assert caught.value.name == "blob-too-large"


def test_a_blob_is_not_sealed() -> None:
    with pytest.raises(RecordError) as caught:
        build_seal(made.blob(), made.SECRET)
    assert caught.value.name == "wrong-type"


def test_sealing_a_seal_seals_its_plex_anew() -> None:
    other = Secret(b"x" * 32)
    again = build_seal(made.seal(), other)
    assert parse_record(again.data).plex == made.plex()
    assert again.signed_by == other.verifier
