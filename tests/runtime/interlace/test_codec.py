"""Messages as fact blocks: each phase reads what it writes, and nothing else."""

import pytest

from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema
from lacec.runtime.interlace.codec import (
    Reading,
    read_message,
    read_not_available,
    write_message,
)
from lacec.runtime.interlace.messages import (
    Ask,
    Block,
    Hello,
    NotAvailable,
    Offer,
    Request,
    Setup,
)
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.reconcile.partitions import Summary

HASH = f"P.{'0' * 43}.H3"
OTHER = f"B.{'0' * 42}4.H3"
TAI = "1640995200:000000000"
ROOT = "0" * 43

MESSAGES: list[tuple[Reading, Block, list[str]]] = [
    (
        Reading.SETUP,
        Setup(0, "R.GROUP_X", "V.alice.H3", "selector"),
        ["ExchangeOperand('0','R.GROUP_X','V.alice.H3','selector')"],
    ),
    (
        Reading.SETUP_OR_OFFER,
        Setup(1, "R.x", "unassigned", "selector", "n"),
        ["ExchangeOperand('1','R.x','unassigned','selector')", "SignerNonce('n')"],
    ),
    (
        Reading.HELLO,
        Hello(
            "E.EXAMPLE",
            TAI,
            10_000_000_000,
            frozenset(("H3",)),
            Schema(frozenset(("Type", "Group"))),
            (("max_total_transferred_bytes", "1073741824"),),
            "V.EXAMPLE.H3",
        ),
        [
            "HelloExchangePlan('E.EXAMPLE')",
            "HelloSigner('V.EXAMPLE.H3')",
            "HelloTAI('1640995200:000000000')",
            "HelloTickInterval('10000000000')",
            "HelloRecordFormat('H3')",
            "HelloAdvertisedField('Group')",
            "HelloAdvertisedField('Type')",
            "HelloLimit('max_total_transferred_bytes','1073741824')",
        ],
    ),
    (
        Reading.HELLO,
        Hello("E.x", TAI, 1, frozenset(("H3",)), Schema(every=True), (), "V.x.H3", "sig"),
        [
            "HelloExchangePlan('E.x')",
            "HelloSigner('V.x.H3')",
            "SignerProof('sig')",
            "HelloTAI('1640995200:000000000')",
            "HelloTickInterval('1')",
            "HelloRecordFormat('H3')",
            "HelloAllAdvertisedFields()",
        ],
    ),
    (
        Reading.OFFER,
        Offer((Advertisement(HASH, "S", (ClaimedField("App", 0, "it's"),)),), (), TAI),
        [
            f"Advertised('{HASH}','S')",
            f"AdvertisedField('{HASH}','S','App','0','it\\'s')",
            "TickReady('1640995200:000000000')",
        ],
    ),
    (
        Reading.SETUP_OR_OFFER,
        Offer((), (Summary("", 3, bytes(32)), Summary("aZ", 0, bytes(32)))),
        [f"AdvertisementPartition('','3','{ROOT}')", f"AdvertisementPartition('aZ','0','{ROOT}')"],
    ),
    (
        Reading.ASK,
        Ask(("a",), ("b", "c"), TAI),
        [
            "ListAdvertisementPartition('a')",
            "NarrowAdvertisementPartition('b')",
            "NarrowAdvertisementPartition('c')",
            "TickReady('1640995200:000000000')",
        ],
    ),
    (
        Reading.REQUEST,
        Request((HASH, OTHER)),
        [f"MayRequest('{HASH}')", f"MayRequest('{OTHER}')"],
    ),
    (Reading.OFFER, Offer(), []),
    (Reading.REQUEST, Request(), []),
]


@pytest.mark.parametrize(("reading", "message", "lines"), MESSAGES)
def test_a_message_is_its_lines_and_back(
    reading: Reading, message: Block, lines: list[str]
) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    assert write_message(message) == data
    assert read_message(reading, data) == message


@pytest.mark.parametrize(("reading", "message", "lines"), [m for m in MESSAGES if m[2]])
def test_the_order_of_lines_means_nothing(
    reading: Reading, message: Block, lines: list[str]
) -> None:
    """D17; what comes as a list keeps the order it came in."""
    data = "".join(line + "\n" for line in reversed(lines)).encode()
    again = read_message(reading, data)
    assert sorted(write_message(again).split(b"\n")) == sorted(data.split(b"\n"))
    assert type(again) is type(message)


def test_not_available_is_a_line_of_its_own() -> None:
    line = f"NotAvailable('{HASH}')\n".encode()
    assert write_message(NotAvailable(HASH)) == line
    assert read_not_available(line) == NotAvailable(HASH)
    with pytest.raises(Abort):
        read_not_available(b"")


HELLO = MESSAGES[2][2]


def hello_without(name: str, *more: str) -> list[str]:
    return [line for line in HELLO if not line.startswith(name)] + list(more)


MALFORMED: list[tuple[Reading, list[str], str]] = [
    (Reading.SETUP, [], "malformed-fact-block"),
    (Reading.SETUP, ["ExchangeOperand('2','R.x','o','selector')"], "malformed-fact-block"),
    (
        Reading.SETUP,
        ["ExchangeOperand('0','R.x','o','selector')", "ExchangeOperand('1','R.x','o','selector')"],
        "malformed-fact-block",
    ),
    (Reading.SETUP, [f"ExchangeOperand('0','R.x','{'o' * 257}','s')"], "malformed-fact-block"),
    (Reading.HELLO, hello_without("HelloTAI"), "malformed-fact-block"),
    (Reading.HELLO, hello_without("HelloTickInterval"), "malformed-fact-block"),
    (Reading.HELLO, hello_without("HelloExchangePlan"), "malformed-fact-block"),
    (Reading.HELLO, hello_without("HelloTAI", "HelloTAI('now')"), "malformed-fact-block"),
    (Reading.HELLO, [*HELLO, "HelloSigner('V.other.H3')"], "malformed-fact-block"),
    (
        Reading.HELLO,
        hello_without("HelloTickInterval", "HelloTickInterval('-1')"),
        "negotiation-failed",
    ),
    (Reading.OFFER, ["Advertised('nothing','S')"], "malformed-fact-block"),
    (Reading.OFFER, [f"AdvertisedField('{HASH}','S','App','0','x')"], "malformed-fact-block"),
    (
        Reading.OFFER,
        [f"Advertised('{HASH}','S')", f"AdvertisedField('{HASH}','S','App','00','x')"],
        "malformed-fact-block",
    ),
    (
        Reading.OFFER,
        [
            f"Advertised('{HASH}','S')",
            f"AdvertisedField('{HASH}','S','App','0','x')",
            f"AdvertisedField('{HASH}','S','App','0','y')",
        ],
        "malformed-fact-block",
    ),
    (Reading.OFFER, ["MayRequest('x')"], "malformed-fact-block"),
    (Reading.OFFER, ["TickReady('soon')"], "malformed-fact-block"),
    (
        Reading.OFFER,
        [f"TickReady('{TAI}')", "TickReady('1640995201:000000000')"],
        "malformed-fact-block",
    ),
    (
        Reading.OFFER,
        [f"AdvertisementPartition('','x','{ROOT}')"],
        "malformed-partition-summary",
    ),
    (Reading.OFFER, ["AdvertisementPartition('','1','0')"], "malformed-partition-summary"),
    (Reading.OFFER, ["AdvertisementPartition('','1','0000')"], "malformed-partition-summary"),
    (
        Reading.OFFER,
        [f"AdvertisementPartition('é','1','{ROOT}')"],
        "malformed-partition-summary",
    ),
    (
        Reading.OFFER,
        [f"AdvertisementPartition('a','1','{ROOT}')", f"AdvertisementPartition('a','2','{ROOT}')"],
        "malformed-partition-summary",
    ),
    (Reading.ASK, ["ListAdvertisementPartition('-')"], "malformed-partition-summary"),
    (Reading.REQUEST, ["MayRequest('P.x.H3')"], "malformed-fact-block"),
    (Reading.REQUEST, ["NotAvailable('x')"], "malformed-fact-block"),
]


@pytest.mark.parametrize(("reading", "lines", "reason"), MALFORMED)
def test_a_malformed_message_has_its_reason(
    reading: Reading, lines: list[str], reason: str
) -> None:
    with pytest.raises(Abort) as found:
        read_message(reading, "".join(line + "\n" for line in lines).encode())
    assert found.value.reason == reason
