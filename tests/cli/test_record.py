"""lacec record: made, signed, shown and checked."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from lacec.records.keyfile import write_secret
from lacec.records.record import Record, parse_record
from tests.cli.run import lacec
from tests.records import made
from tests.records.made import BLOB, plex_with, seal_of

COORDINATES = ("--group", "u", "--app", "ding", "--name", "links/one")
FORGED = seal_of(plex_with(), digest=b"another digest, of 32 bytes.....")


@pytest.fixture
def key(tmp_path: Path) -> str:
    path = tmp_path / "alice.key"
    write_secret(path, made.SECRET)
    return str(path)


def new(tmp_path: Path, *arguments: str, source: bytes = b"hello world") -> Record:
    path = tmp_path / "made"
    outcome = lacec("record", "new", *arguments, "-o", str(path), source=source)
    assert outcome.code == 0, outcome.err
    record = parse_record(path.read_bytes())
    assert outcome.out == f"{record.hash}\n"
    return record


# new


def test_new_makes_a_blob_of_standard_input_or_a_file(tmp_path: Path) -> None:
    assert new(tmp_path) == made.blob()
    data = tmp_path / "data"
    data.write_bytes(b"\x00\xff" * 1000)
    assert bytes(new(tmp_path, str(data)).content) == b"\x00\xff" * 1000
    assert new(tmp_path, source=b"").data_length == 0


def test_new_makes_a_plex_with_headers(tmp_path: Path) -> None:
    headers = [part for name, value in made.EXTRAS for part in ("--header", f"{name}: {value}")]
    assert new(tmp_path, *COORDINATES, "--tai", made.TAI, *headers) == made.plex()


def test_new_seals_with_a_key(tmp_path: Path, key: str) -> None:
    record = new(tmp_path, *COORDINATES, "--key", key)
    assert (record.type, record.signed_by) == ("S", made.SECRET.verifier)


def test_new_takes_utc_for_a_time_and_now_without_one(tmp_path: Path) -> None:
    assert new(tmp_path, *COORDINATES, "--tai", "2021-12-31T23:59:23Z").tai == made.TAI
    assert (new(tmp_path, *COORDINATES).tai or "") > made.TAI


def test_new_writes_to_a_pipe() -> None:
    outcome = lacec("record", "new", source=b"hello world")
    assert outcome == (0, BLOB.decode(), "")


def test_new_in_json(tmp_path: Path) -> None:
    path = tmp_path / "made"
    outcome = lacec("record", "new", "--json", "-o", str(path), source=b"hello world")
    assert outcome.document == {"hash": made.blob().hash, "type": "B", "size": len(BLOB)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--group", "u"), "all of --group, --app and --name"),
        (("--header", "A: b"), "need the coordinates"),
        (("--tai", made.TAI), "need the coordinates"),
        ((*COORDINATES, "--tai", "yesterday"), "or UTC, as in 2026-03-01T09:00:00Z"),
        ((*COORDINATES, "--tai", "2017-99-01T00:00:00Z"), "month"),
        ((*COORDINATES, "--header", "A"), "not 'Name: value'"),
        ((*COORDINATES, "--key", "nowhere.key"), "no such file"),
        (("--json",), "name a file for the record with -o"),
        (("--limit", "blob_bytes"), "is not a limit"),
        (("nowhere",), "no such file"),
    ],
)
def test_new_with_a_wrong_command_line(arguments: tuple[str, ...], said: str) -> None:
    outcome = lacec("record", "new", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_new_refuses_what_breaks_a_rule(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "made"
    wrong = ("record", "new", *COORDINATES, "--header", "Type: x", "-o", str(path))
    outcome = lacec(*wrong)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == snapshot
    assert lacec(*wrong, "--json").document["refused"][0]["name"] == "reserved-name"
    assert not path.exists()


@pytest.mark.parametrize("empty", ["group", "app", "name"])
def test_new_makes_no_blob_of_empty_coordinates(empty: str, tmp_path: Path) -> None:
    given = {"group": "u", "app": "a", "name": "n", empty: ""}
    options = [f"--{name}={text}" for name, text in given.items()]
    for arguments in (options, ["--group=", "--app=", "--name="]):
        outcome = lacec("record", "new", *arguments, "-o", str(tmp_path / "r"), source=b"x")
        assert (outcome.code, outcome.out) == (1, "")
        assert "error[" in outcome.err
    assert lacec("record", "new", "--tai=", source=b"x").code == 2
    assert not (tmp_path / "r").exists()


def test_new_refuses_too_much_data(tmp_path: Path) -> None:
    limit = ("--limit", "blob_bytes=10", "-o", str(tmp_path / "made"))
    outcome = lacec("record", "new", *limit, source=b"hello world")
    assert outcome.code == 1
    assert "error[blob-too-large]" in outcome.err


# sign


def test_sign_seals_a_plex(tmp_path: Path, key: str) -> None:
    draft, sealed = tmp_path / "draft", tmp_path / "sealed"
    draft.write_bytes(made.plex().data)
    outcome = lacec("record", "sign", str(draft), "--key", key, "-o", str(sealed))
    record = parse_record(sealed.read_bytes())
    assert outcome == (0, f"{record.hash}\n", "")
    assert (record.plex, record.signed_by) == (made.plex(), made.SECRET.verifier)


@pytest.mark.parametrize(
    ("data", "name"),
    [(BLOB, "wrong-type"), (b"x", "not-a-record"), (FORGED, "wrong-signature")],
)
def test_sign_refuses_what_it_cannot_seal(key: str, data: bytes, name: str) -> None:
    outcome = lacec("record", "sign", "-", "--key", key, source=data)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"error[{name}]" in outcome.err


# show


def test_show_prints_a_table(snapshot: SnapshotAssertion) -> None:
    outcome = lacec("record", "show", "-", source=made.seal().data)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot


def test_show_prints_every_record_of_a_file(snapshot: SnapshotAssertion) -> None:
    source = BLOB + b"\n" + made.plex().data + b"\n"
    assert lacec("record", "show", "-", source=source).out == snapshot


def test_show_in_json() -> None:
    seal = made.seal()
    document = lacec("record", "show", "-", "--json", source=seal.data).document
    assert document == {
        "records": [
            {
                "hash": seal.hash,
                "type": "S",
                "valid": True,
                "offset": 0,
                "size": len(seal.data),
                "data_length": 11,
                "group": "u",
                "app": "ding",
                "name": "links/one",
                "tai": made.TAI,
                "utc": "2021-12-31T23:59:23.000000000Z",
                "signed_by": seal.signed_by,
                "signature": seal.signature,
                "extras": [
                    {"name": "+Link", "index": 0, "value": f"evidence {made.EVIDENCE.hash}"},
                    {"name": "Note", "index": 0, "value": "second thoughts"},
                    {"name": "Note", "index": 1, "value": "zweite Gedanken: süß"},
                ],
                "links": [
                    {
                        "name": "+Link",
                        "index": 0,
                        "data": "evidence",
                        "target": made.EVIDENCE.hash,
                    }
                ],
                "plex_hash": seal.plex_hash,
                "blob_hash": seal.blob_hash,
            }
        ],
        "refused": [],
    }


def test_show_of_a_blob_has_null_for_what_it_has_not() -> None:
    (blob,) = lacec("record", "show", "-", "--json", source=BLOB).document["records"]
    assert (blob["group"], blob["utc"], blob["extras"]) == (None, None, [])


@pytest.mark.parametrize("tai", ["9999999999:999999999", "0000000000:000000000"])
def test_show_of_a_time_at_the_edge(tai: str) -> None:
    source = made.plex_of(made.COORDINATES.replace(made.TAI.encode(), tai.encode()))
    outcome = lacec("record", "show", "-", source=source)
    assert outcome.code == 0
    assert tai in outcome.out


def test_show_shows_and_refuses_a_forged_seal() -> None:
    outcome = lacec("record", "show", "-", source=FORGED)
    assert outcome.code == 1
    assert "Seal, not valid" in outcome.out
    assert "error[wrong-signature]" in outcome.err
    document = lacec("record", "show", "-", "--json", source=FORGED).document
    assert document["records"][0]["valid"] is False
    assert document["refused"][0]["name"] == "wrong-signature"


def test_show_lets_nothing_steer_the_terminal() -> None:
    source = plex_with("A: \u202ex\u009b2J")
    assert "\u202e" not in lacec("record", "show", "-", source=source).out
    assert "\u009b" not in lacec("record", "show", "-", source=source).out


# verify


def test_verify_names_what_is_valid(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(made.seal().data)
    two.write_bytes(BLOB + b"\n" + made.plex().data + b"\n")
    outcome = lacec("record", "verify", str(one), str(two))
    assert outcome.code == 0
    assert outcome.out.split() == [made.seal().hash, made.blob().hash, made.plex().hash]
    assert outcome.err == "3 valid, 0 refused\n"


def test_verify_says_what_is_wrong_and_where(snapshot: SnapshotAssertion) -> None:
    wrong = BLOB.replace(b"world", b"World")
    source = b"".join(each + b"\n" for each in (BLOB, wrong, FORGED, BLOB)) + b"x" * 10
    outcome = lacec("record", "verify", "-", source=source)
    assert outcome.code == 1
    assert outcome.out.split() == [made.blob().hash] * 2
    assert outcome.err == snapshot


def test_verify_in_json() -> None:
    source = BLOB + b"\n" + BLOB[:-1]
    outcome = lacec("record", "verify", "-", "--json", source=source)
    assert outcome.code == 1
    refusal: dict[str, Any]
    (refusal,) = outcome.document["refused"]
    assert outcome.document["valid"] == [
        {"source": "<stdin>", "offset": 0, "hash": made.blob().hash}
    ]
    assert list(refusal) == ["source", "offset", "name", "message", "help"]
    assert (refusal["name"], refusal["offset"]) == ("truncated", len(source))


@pytest.mark.parametrize("command", ["verify", "show"])
def test_a_file_of_nothing_is_not_valid(command: str) -> None:
    outcome = lacec("record", command, "-")
    assert outcome.code == 1
    assert "there is nothing to read" in outcome.err


def test_verify_of_a_file_that_is_not_there() -> None:
    outcome = lacec("record", "verify", "nowhere")
    assert (outcome.code, outcome.out) == (2, "")


def test_verify_has_limits() -> None:
    outcome = lacec("record", "verify", "-", "--limit", "blob_bytes=10", source=BLOB)
    assert "error[blob-too-large]" in outcome.err
