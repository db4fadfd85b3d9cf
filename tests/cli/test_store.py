"""lacec store: each command on one small store, and --store for those that evaluate."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lacec.cli import COMMANDS
from lacec.records.record import Record, build_blob, build_plex
from lacec.store.store import Store
from tests.cli.run import lacec, process_environment
from tests.store.samples import samples

TAI = "1640995200:000000000"
BLOB = build_blob(b"hi")
ONE = build_plex("u", "ding", "links/one", TAI, [], BLOB)
TWO = build_plex("u", "notes", "it's", TAI, [("+Link", f"see {ONE.hash}")], BLOB)
ALL = (BLOB, ONE, TWO)


@pytest.fixture
def store(tmp_path: Path) -> str:
    with Store.create(tmp_path / "mine") as made:
        made.add(ALL)
    return str(tmp_path / "mine")


def hashes(*records: Record) -> list[str]:
    return [record.hash for record in records]


def test_init_makes_a_store_once(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "mine")
    assert lacec("store", "init", path) == (0, "", "")
    outcome = lacec("store", "init", path, "--json")
    assert outcome.code == 1
    assert "there is a store already" in outcome.document["error"]


@pytest.mark.parametrize("path", [".", "../here", "../here/."])
def test_init_takes_the_current_folder(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which stays the folder that it is. Python 3.12 and later name new folders in full."""
    (tmp_path / "here").mkdir(mode=0o750)
    monkeypatch.chdir(tmp_path / "here")
    before = os.stat(".").st_ino
    assert lacec("store", "init", path) == (0, "", "")
    assert sorted(os.listdir(".")) == ["records.sqlite", "segments"]
    assert lacec("store", "verify", ".") == (0, "sound\n", "")
    assert os.listdir("..") == ["here"]
    assert os.stat(tmp_path / "here").st_ino == before
    assert "there is a store already" in lacec("store", "init", path).err


def test_import_reports_every_record(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "a").write_bytes(ONE.data)
    more = [record for record in samples() if record.type == "S"]
    wrong = more[1].data[:-1] + bytes([more[1].data[-1] ^ 1])
    (folder / "b").write_bytes(wrong + b"\n" + b"".join(r.data + b"\n" for r in more))
    (folder / "c").write_bytes(b"rubbish")
    outcome = lacec("store", "import", store, str(folder), "--json")
    assert outcome.code == 1
    document = outcome.document
    assert list(document) == ["admitted", "known", "refused"]
    assert document["admitted"] == hashes(*more)
    assert document["known"] == [ONE.hash]
    assert [list(each) for each in document["refused"]] == [
        ["source", "offset", "name", "message"]
    ] * 2
    assert [(each["source"], each["name"]) for each in document["refused"]] == [
        (str(folder / "b"), "wrong-digest"),
        (str(folder / "c"), "not-a-record"),
    ]
    again = lacec("store", "import", store, str(folder / "a"), str(folder / "b"))
    assert again.code == 1
    assert again.out == f"0 admitted, {1 + len(more)} known, 1 refused\n"
    assert f" --> {folder / 'b'}, byte " in again.err


def test_export_is_what_import_reads(store: str, tmp_path: Path) -> None:
    outcome = lacec("store", "export", store)
    assert outcome.out.encode() == b"".join(record.data + b"\n" for record in ALL)
    copy = str(tmp_path / "copy")
    lacec("store", "init", copy)
    result = lacec("store", "import", copy, "-", "--json", source=outcome.out)
    assert result.code == 0
    assert result.document == {"admitted": hashes(*ALL), "known": [], "refused": []}
    path = tmp_path / "out.records"
    assert lacec("store", "export", copy, "-o", str(path)).code == 0
    assert path.read_bytes() == outcome.out.encode()


def test_import_names_what_cannot_be_read_and_admits_the_rest(store: str, tmp_path: Path) -> None:
    good, more = samples()[0], samples()[1]
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "a").write_bytes(good.data)
    (folder / "b").symlink_to(tmp_path / "nowhere")
    (folder / "c").write_bytes(more.data)
    missing = str(tmp_path / "none")
    outcome = lacec("store", "import", store, missing, str(folder), "--json")
    assert outcome.code == 1
    assert outcome.document["admitted"] == hashes(good, more)
    message = "it cannot be read: no such file or directory"
    assert outcome.document["refused"] == [
        {"source": source, "offset": 0, "name": "unreadable", "message": message}
        for source in (missing, str(folder / "b"))
    ]
    outcome = lacec("store", "import", store, missing)
    assert (outcome.code, outcome.out) == (1, "0 admitted, 0 known, 1 refused\n")
    assert f"error[unreadable]: {message}\n --> {missing}, byte 0\n" in outcome.err
    assert lacec("store", "import", store, "-", "-").code == 2


def test_import_reports_what_it_admitted_before_the_store_failed(
    store: str, tmp_path: Path
) -> None:
    """A file stands where the folder of segments is to be: no segment can be written."""
    (Path(store) / "segments").rmdir()
    (Path(store) / "segments").touch()
    new = [record for record in samples() if record.type == "S"]
    (tmp_path / "all").write_bytes(b"".join(r.data + b"\n" for r in new[1:]) + b"rubbish")
    outcome = lacec("store", "import", store, str(tmp_path / "all"), "--json")
    assert outcome.code == 1
    assert list(outcome.document) == ["admitted", "known", "refused", "error"]
    assert outcome.document["admitted"] == hashes(*new[1:])
    assert len(outcome.document["refused"]) == 1
    (tmp_path / "one").write_bytes(new[0].data)
    outcome = lacec("store", "import", store, str(tmp_path / "one"))
    assert (outcome.code, outcome.out) == (1, "1 admitted, 0 known, 0 refused\n")
    assert outcome.err.startswith("error: the store ")


def test_import_refuses_an_empty_path_and_a_closed_input(store: str) -> None:
    outcome = lacec("store", "import", store, "")
    assert outcome.code == 2
    assert "a PATH is empty" in outcome.err
    command = f"{sys.executable} -m lacec store import {store} - <&-"
    closed = subprocess.run(
        ["sh", "-c", command], capture_output=True, env=process_environment(), check=False
    )
    assert closed.returncode == 2
    assert b"standard input is closed" in closed.stderr


def test_a_damaged_record_is_not_handed_out_and_can_come_again(store: str, tmp_path: Path) -> None:
    with Store.open(store) as opened:
        wrong = ONE.data[:-1] + b"?"
        opened.connection.execute("UPDATE records SET data = ? WHERE id = 2", (wrong,))
        opened.connection.execute("UPDATE records SET data = ? WHERE id = 3", (BLOB.data,))
    outcome = lacec("store", "export", store)
    assert (outcome.code, outcome.out.encode()) == (1, BLOB.data + b"\n")
    assert f"the stored bytes of {ONE.hash} are damaged (wrong-digest: " in outcome.err
    assert f"the stored bytes of {TWO.hash} are damaged (wrong-hash: " in outcome.err
    outcome = lacec("store", "get", store, ONE.hash, "-o", str(tmp_path / "one"))
    assert outcome.code == 1
    assert "import the record again" in outcome.err
    assert not (tmp_path / "one").exists()
    (tmp_path / "all").write_bytes(b"".join(record.data + b"\n" for record in ALL))
    outcome = lacec("store", "import", store, str(tmp_path / "all"))
    assert (outcome.code, outcome.out) == (0, "0 admitted, 3 known, 0 refused\n")
    assert lacec("store", "export", store).out.encode() == (tmp_path / "all").read_bytes()
    assert lacec("store", "verify", store) == (0, "sound\n", "")


def test_list_takes_coordinates(store: str) -> None:
    outcome = lacec("store", "list", store)
    assert (outcome.code, outcome.err) == (0, "3 records\n")
    assert [line.split()[0] for line in outcome.out.splitlines()] == hashes(*ALL)
    assert outcome.out.splitlines()[1] == f"{ONE.hash}  {TAI}  //u//ding//links/one"
    outcome = lacec("store", "list", store, "//u//ding//links/", "--json")
    assert outcome.document == {
        "records": [
            {
                "hash": ONE.hash,
                "type": "P",
                "group": "u",
                "app": "ding",
                "name": "links/one",
                "tai": TAI,
            }
        ]
    }
    for where, found in (
        ("//u", [ONE, TWO]),
        ("//u//notes//it's", [TWO]),
        ("//x", []),
        (f"////{BLOB.hash}", [BLOB]),
    ):
        listed = lacec("store", "list", store, where, "--json").document["records"]
        assert [each["hash"] for each in listed] == hashes(*found)
    assert lacec("store", "list", store, "u/ding").code == 2


def test_get_writes_the_bytes(store: str, tmp_path: Path) -> None:
    assert lacec("store", "get", store, ONE.hash).out.encode() == ONE.data
    assert lacec("store", "get", store, f"////{ONE.hash}", "-o", str(tmp_path / "one")).code == 0
    assert (tmp_path / "one").read_bytes() == ONE.data
    other = samples()[-1].hash
    outcome = lacec("store", "get", store, other)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"the store has no record {other}" in outcome.err
    assert lacec("store", "get", store, "S.short.H3").code == 2
    assert lacec("store", "get", store, "////nonsense").code == 2


def test_rm_removes_and_compact_forgets(store: str) -> None:
    outcome = lacec("store", "rm", store, ONE.hash, f"////{samples()[-1].hash}", "--json")
    assert outcome.code == 1
    assert outcome.document == {"removed": [ONE.hash], "missing": [samples()[-1].hash]}
    assert lacec("store", "stats", store, "--json").document["removed"] == 1
    assert lacec("store", "compact", store) == (0, "", "")
    stats = lacec("store", "stats", store, "--json").document
    assert (stats["records"], stats["removed"], stats["last_id"]) == (2, 0, 3)
    assert stats["facts"]["Have/1"] == 2


def test_facts_are_sorted_lines_that_eval_reads(store: str, tmp_path: Path) -> None:
    outcome = lacec("store", "facts", store)
    lines = outcome.out.splitlines()
    assert lines == sorted(lines)
    assert f"Field('{TWO.hash}','Name','0','it\\'s')" in lines
    assert f"RecordLink('{TWO.hash}','+Link','0','see','{ONE.hash}')" in lines
    (tmp_path / "all.facts").write_text(outcome.out, encoding="utf-8")
    policy = tmp_path / "policy.lace"
    policy.write_text("Seen(T,K) :- RecordLink(P,_,_,'see',T), Field(P,'Name',_,K), Have(T).\n")
    over_store = lacec("eval", str(policy), "--store", store, "--json")
    over_lines = lacec("eval", str(policy), "--facts", str(tmp_path / "all.facts"), "--json")
    assert over_store.document == over_lines.document
    assert over_store.document == {"facts": {"Seen/2": [[ONE.hash, "it's"]]}}
    document = lacec("store", "facts", store, "--json").document
    assert document["facts"]["Have/1"] == sorted([hash] for hash in hashes(*ALL))


def test_eval_takes_a_store_and_facts_together(store: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.lace"
    policy.write_text("Mine(P) :- Have(P), Here(V), Field(P,'Group',_,V).\n")
    (tmp_path / "more.facts").write_text("Here('u')\nHave('S.x')\nField('S.x','Group','0','u')\n")
    more = str(tmp_path / "more.facts")
    outcome = lacec("eval", str(policy), "--store", store, "--facts", more, "--json")
    assert outcome.document == {
        "facts": {"Mine/1": [*sorted([h] for h in hashes(ONE, TWO)), ["S.x"]]}
    }


def test_query_and_explain_take_a_store(store: str, tmp_path: Path) -> None:
    outcome = lacec("query", "Field(P,'App',_,'ding')", "--store", store, "--json")
    assert outcome.document == {"columns": ["P"], "rows": [[ONE.hash]]}
    policy = tmp_path / "policy.lace"
    policy.write_text("Ding(P) :- Have(P), Field(P,'App',_,'ding').\n")
    rules = lacec("explain", str(policy), "--store", store, "--json").document["rules"]
    assert next(step["size"] for step in rules[0]["order"]) == 1


def test_limits_hold_for_a_store(store: str) -> None:
    outcome = lacec("query", "Have(P)", "--store", store, "--limit", "base_facts=5")
    assert outcome.code == 3
    outcome = lacec("query", "Have(P)", "--store", store, "--limit", "value_bytes=20", "--json")
    assert outcome.code == 1
    assert [each["name"] for each in outcome.document["diagnostics"]] == ["bad-fact"]


def test_verify_says_what_is_damaged(store: str) -> None:
    assert lacec("store", "verify", store) == (0, "sound\n", "")
    with Store.open(store) as opened:
        opened.settle()
    (segment,) = (Path(store) / "segments").iterdir()
    segment.write_bytes(segment.read_bytes()[:-9])
    outcome = lacec("store", "verify", store, "--json")
    assert outcome.code == 1
    assert [each["name"] for each in outcome.document["problems"]] == ["damaged-segment"]
    assert lacec("store", "verify", store).out == "1 problems\n"
    segment.unlink()
    (problem,) = lacec("store", "verify", store, "--json").document["problems"]
    assert problem["message"] == "the file is missing: run `lacec store compact` to write it anew"
    assert lacec("store", "compact", store) == (0, "", "")
    assert lacec("store", "verify", store) == (0, "sound\n", "")


def test_stats_are_a_table(store: str) -> None:
    outcome = lacec("store", "stats", store)
    assert "              3  records\n" in outcome.out


def test_backup_copies(store: str, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy")
    assert lacec("store", "backup", store, copy) == (0, "", "")
    assert lacec("store", "facts", copy).out == lacec("store", "facts", store).out
    outcome = lacec("store", "backup", store, copy)
    assert outcome.code == 1
    assert "there is a store already" in outcome.err


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("store ")])
def test_what_is_no_store_is_refused_without_a_traceback(command: str, tmp_path: Path) -> None:
    """And without a change."""
    (tmp_path / "note").write_text("mine")
    more = {
        "store import": ["-"],
        "store get": [ONE.hash],
        "store rm": [ONE.hash],
        "store backup": [str(tmp_path / "copy")],
    }
    outcome = lacec(*command.split(), str(tmp_path), *more.get(command, []))
    assert outcome.code == 1
    assert outcome.err.startswith("error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["note"]


def test_an_import_says_that_it_waits(store: str, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(samples()[0].data)
    with Store.open(store) as writer:
        with writer.writing():
            process = subprocess.Popen(
                [sys.executable, "-m", "lacec", "store", "import", store, str(tmp_path / "one")],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=process_environment(),
            )
            assert process.stderr is not None
            assert b"waiting for another process" in process.stderr.readline()
        out, _ = process.communicate(timeout=60)
    assert out == b"1 admitted, 0 known, 0 refused\n"


def test_commands_of_a_store_print_json_alone(store: str) -> None:
    for command in ("list", "facts", "verify", "stats"):
        outcome = lacec("store", command, store, "--json")
        assert outcome.err == ""
        assert isinstance(json.load(io.StringIO(outcome.out)), dict)
