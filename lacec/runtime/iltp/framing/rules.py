"""The rules of an ILTP stream by name (060), and the numbers and words in them."""

from lacec.records.rules import MARK, TRAILER

KNOT = "🪢: ".encode()
PREFACE = KNOT + b"iltp/1\n"
PIECE = "🧩: ".encode()
MARKERS = (KNOT, PIECE, MARK, TRAILER)

# 060 Limits. The fact line's is LINE_BYTES of lacec.runtime.interlace.facts.
COMMENT_BYTES = 128  # with its LF
MARKER_BYTES = 1024  # without its LF
RESOURCE_BYTES = 2**20
RESOURCE_LINES = 4096
RESOURCES = 256  # in an exchange
KEPT_RESOURCE_BYTES = 2 * RESOURCE_BYTES  # at once: the operand in use, and one to come

LACEGRAM, EXCHANGE_PLAN = "lacegram", "exchange-plan"
# The standard kinds, and the letter with which the identifiers of each begin.
KINDS = {LACEGRAM: "R", EXCHANGE_PLAN: "E"}

# Every name of a StreamError, with the rule that it stands for.
NAMES: dict[str, str] = {
    "bad-preface": "The first line of a direction is `🪢: iltp/1`, ended by LF.",
    "second-preface": "The preface stands at the beginning of a direction, and nowhere else.",
    "blank-after-preface": "What follows the preface is not a blank line.",
    "unknown-item": "An item begins with a letter, a whole marker, `#` or LF.",
    "trailer-hash": "A record in the trailer-hash form, `⋯🖧: `, is not supported.",
    "carriage-return": "Lines end with LF alone; CR stands nowhere in a line.",
    "not-utf8": "Lines are UTF-8.",
    "not-nfc": "The lines of a resource are in Unicode normal form NFC.",
    "fact-line-too-long": "A fact line has at most 1024 bytes without its LF.",
    "bad-fact-block": "A fact block is a set of facts that belong to its phase.",
    "block-too-large": "A fact block has a limited size.",
    "comment-too-long": f"A comment line has at most {COMMENT_BYTES} bytes with its LF.",
    "two-comments": "Two comment lines do not follow one another.",
    "bad-marker-line": "A resource begins with `🧩: <id> <kind>`: no other spaces, NFC text.",
    "marker-line-too-long": f"A marker line has at most {MARKER_BYTES} bytes without its LF.",
    "unknown-kind": "The kinds of a resource are `lacegram` and `exchange-plan`.",
    "wrong-shape": "A lacegram is named `R.<b64a>`, an exchange plan `E.<b64a>`.",
    "empty-resource": "A resource has at least one line.",
    "bad-resource-line": "A line of a resource begins with no marker and no `#`.",
    "resource-too-large": f"A resource has at most {RESOURCE_BYTES} bytes of text.",
    "too-many-lines": f"A resource has at most {RESOURCE_LINES} lines.",
    "too-many-resources": f"An exchange has at most {RESOURCES} resources.",
    "conflicting-resource": "An identifier stands for the same bytes each time.",
    "wrong-identifier": "The identifier of a resource is that of its bytes.",
    "not-canonical": "The bytes of a resource are canonical as they come.",
    "other-plan": "A plan that is sent is the one that both sides agreed on (D29).",
    "misplaced-resource": "A resource stands where a block or an item of a batch could begin.",
    "misplaced-record": "A record stands in a transfer batch.",
    "bad-record": "A record keeps the rules of 010.",
    "record-not-ended": "One LF follows a record (D25).",
    "truncated": "A direction ends between two items.",
}
