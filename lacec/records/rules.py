"""The rules of 010 by name, and the numbers and words in them."""

MARK = "🖧: ".encode()
TRAILER = "⋯🖧: ".encode()
LINE_BYTES = 1024
PATH_BYTES = 512
COORDINATES = ("Group", "App", "Name")

# D3; the marks are no names either, or nobody could tell where the embedded record begins.
RESERVED = frozenset(
    ("Type", "Data-Length", *COORDINATES, "TAI", "Signed-By", "Signature", "🖧", "⋯🖧")
)

# Every name of a RecordError, with the rule that it stands for.
NAMES: dict[str, str] = {
    "not-a-record": "A record begins with the markline `🖧: `.",
    "trailer-hash": "The trailer-hash form, `⋯🖧: `, is not supported.",
    "thin-record": "A thin record, which leaves out embedded bytes, is not supported.",
    "wrong-type": "The letter of a markline fits the form: S, then P, then B.",
    "bad-hash-text": "A markline has the hash text `T.<b64a>.H3` of 32 bytes.",
    "header-order": "A form has its headers once each, in their order.",
    "missing-colon": "A header line is `Name: value`.",
    "empty-name": "The name of a header is not empty.",
    "bad-name": "The name of a header has no colon, space or tab.",
    "missing-space": "One space stands between the colon and the value.",
    "empty-value": "The value of a header is not empty.",
    "control-character": "Bytes 00 to 1F and 7F stand in no line; LF alone ends it.",
    "not-utf8": "Header lines are UTF-8.",
    "not-nfc": "Header lines are in Unicode normal form NFC.",
    "line-too-long": f"A line has at most {LINE_BYTES} bytes without its LF.",
    "bad-path": "A path has no segment that is empty, `.` or `..`, and none of `{ } | #`.",
    "path-too-long": f"A path has at most {PATH_BYTES} bytes.",
    "bad-tai": "TAI is ten digits, a colon and nine digits.",
    "reserved-name": "An extra header does not take the name of a field or a mark.",
    "unsorted-headers": "Extra headers are sorted by name, bytewise.",
    "too-many-headers": "A Plex has a limited number of extra headers.",
    "headers-too-large": "The headers of a Plex have a limited size.",
    "bad-verifier": "Signed-By is a verifier text `V.<b64a>.H3` of 32 bytes.",
    "bad-signature-text": "Signature is the B64A text of 64 bytes.",
    "bad-data-length": "Data-Length is a decimal number without leading zeros.",
    "blob-too-large": "The data of a Blob has a limited size.",
    "missing-blank-line": "A blank line stands between Data-Length and the data.",
    "truncated": "A record has all the bytes that its head promises.",
    "trailing-bytes": "Nothing follows a record; in a stream, one LF does.",
    "wrong-digest": "The digest of a markline is BLAKE3-256 of everything after that line.",
    "wrong-signature": "The signature of a Seal is its verifier's, for the digest of the Plex.",
}
