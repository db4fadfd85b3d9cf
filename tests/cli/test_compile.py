"""lacec compile: the identity of a module, as text, as JSON and as files."""

import json
from pathlib import Path

import pytest

from lacec.bytecode.codec import decode
from lacec.bytecode.verify import verify
from lacec.canonical.identifiers import lacegram_id, rule_id
from tests.cli.run import DIAGNOSTIC_KEYS, lacec

POLICY = """\
# a comment
#:json {"label":"all","tags":["a"]}
Selected( P ):-Have(P),not Blocked(P).
Blocked(P) :- Field(P,'App',_,'blocked').
Selected(P) :- Have(P), not Blocked(P).
"""
BLOCKED = "Blocked(P) :- Field(P,'App',_,'blocked')."
SELECTED = "Selected(P) :- Have(P), not Blocked(P)."
CANONICAL = f"{BLOCKED}\n{SELECTED}"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.lace").write_text(POLICY, encoding="utf-8")


def test_json_has_the_identity_the_rules_and_the_strata() -> None:
    outcome = lacec("compile", "policy.lace", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document == {
        "id": lacegram_id(CANONICAL),
        "canonical": CANONICAL,
        "rules": [
            {"id": rule_id(BLOCKED), "line": 4, "text": BLOCKED, "annotations": {}},
            {
                "id": rule_id(SELECTED),
                "line": 3,
                "text": SELECTED,
                "annotations": {"label": "all", "tags": ["a"]},
            },
        ],
        "strata": [["Blocked/1"], ["Selected/1"]],
        "diagnostics": [],
    }


def test_json_keys_keep_their_order() -> None:
    document = lacec("compile", "policy.lace", "--json").document
    assert list(document) == ["id", "canonical", "rules", "strata", "diagnostics"]
    assert all(list(r) == ["id", "line", "text", "annotations"] for r in document["rules"])


def test_text_shows_the_same() -> None:
    outcome = lacec("compile", "policy.lace")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        f"{lacegram_id(CANONICAL)}  policy.lace\n\n"
        f"{rule_id(BLOCKED)}  {BLOCKED}\n"
        f"{rule_id(SELECTED)}  {SELECTED}\n\n"
        "stratum 0  Blocked/1\n"
        "stratum 1  Selected/1\n"
    )


def test_refusal_as_json_is_the_diagnostics_alone() -> None:
    outcome = lacec("compile", "-", "--json", source="Selected(P) :- Have(P)\n")
    assert (outcome.code, outcome.err) == (1, "")
    assert list(outcome.document) == ["diagnostics"]
    (found,) = outcome.document["diagnostics"]
    assert list(found) == DIAGNOSTIC_KEYS
    assert found["name"] == "missing-full-stop"
    assert found["file"] == "<stdin>"


def test_refusal_as_text_leaves_standard_output_empty() -> None:
    outcome = lacec("compile", "-", source="Selected(P) :- Have(P)\n")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error[missing-full-stop]: ")
    assert outcome.err.endswith("\n1 error in 1 file\n")


def test_warnings_stand_in_the_document_and_do_not_refuse() -> None:
    outcome = lacec("compile", "-", "--json", source="A(P) :- Have(P), Feild(P,'a',_,_).\n")
    assert outcome.code == 0
    (found,) = outcome.document["diagnostics"]
    assert (found["name"], found["severity"]) == ("misspelt-predicate", "warning")
    assert outcome.document["id"].startswith("R.")


def test_empty_source_is_valid_with_a_warning() -> None:
    outcome = lacec("compile", "-", "--json", source=b"")
    assert outcome.code == 0
    document = outcome.document
    assert document["id"] == lacegram_id("")
    assert (document["canonical"], document["rules"], document["strata"]) == ("", [], [])
    assert [found["name"] for found in document["diagnostics"]] == ["empty-source"]


def test_standard_input_has_the_identity_of_the_file() -> None:
    from_file = lacec("compile", "policy.lace", "--json")
    from_input = lacec("compile", "-", "--json", source=POLICY)
    assert from_input.out == from_file.out


def test_output_files_hold_canonical_bytes_and_annotations() -> None:
    outcome = lacec("compile", "policy.lace", "-o", "made/here")
    assert outcome.code == 0
    folder = Path("made/here")
    assert (folder / "policy.lacegram").read_bytes() == CANONICAL.encode()
    annotations = json.loads((folder / "policy.annotations.json").read_bytes())
    assert annotations == {rule_id(SELECTED): {"label": "all", "tags": ["a"]}}
    assert sorted(path.name for path in folder.iterdir()) == [
        "policy.annotations.json",
        "policy.lacegram",
        "policy.lbc",
    ]
    code = decode((folder / "policy.lbc").read_bytes())
    verify(code)
    assert [rule.text for rule in code.rules] == CANONICAL.split("\n")


def test_output_files_of_standard_input_are_called_stdin() -> None:
    assert lacec("compile", "-", "-o", "made", source=POLICY).code == 0
    assert Path("made/stdin.lacegram").read_bytes() == CANONICAL.encode()


def test_output_keeps_text_that_is_not_ascii() -> None:
    source = '#:json {"why":"für É"}\nGroup(\'É字\') :- true.\n'
    assert lacec("compile", "-", "-o", "made", source=source).code == 0
    assert Path("made/stdin.lacegram").read_bytes() == "Group('É字') :- true.".encode()
    assert "für É" in Path("made/stdin.annotations.json").read_text(encoding="utf-8")


def test_refusal_writes_no_files() -> None:
    assert lacec("compile", "-", "-o", "made", source="A(\n").code == 1
    assert not Path("made").exists()


def test_output_into_a_file_is_a_mistake_of_the_command_line() -> None:
    outcome = lacec("compile", "policy.lace", "-o", "policy.lace")
    assert outcome.code == 2
    assert "cannot write to policy.lace: file exists" in outcome.err


def test_linked_files_join_by_union_and_name_their_rules() -> None:
    Path("more.lace").write_text("More(P) :- Selected(P).\n", encoding="utf-8")
    outcome = lacec("compile", "policy.lace", "--with", "more.lace", "--json")
    assert outcome.code == 0
    assert [(rule["file"], rule["line"]) for rule in outcome.document["rules"]] == [
        ("policy.lace", 4),
        ("more.lace", 1),
        ("policy.lace", 3),
    ]
    joined = lacec("compile", "-", "--json", source=POLICY + "More(P) :- Selected(P).\n")
    assert outcome.document["id"] == joined.document["id"]


def test_the_standard_library_is_linked_by_name() -> None:
    source = (
        "Candidate(P,T) :- Have(P), Field(P,'TAI',_,T).\n"
        "Latest(P) :- Candidate(P,_), Cardinality(Newer(P,_),'<','100').\n"
    )
    outcome = lacec("compile", "-", "--with", "std:latest", "--json", source=source)
    assert outcome.code == 0
    assert outcome.document["diagnostics"] == []
    assert outcome.document["strata"] == [["Candidate/2", "Newer/2"], ["AmongLatest/1", "Latest/1"]]
    files = {rule["text"].partition("(")[0]: rule["file"] for rule in outcome.document["rules"]}
    assert files == {
        "AmongLatest": "std:latest",
        "Candidate": "<stdin>",
        "Latest": "<stdin>",
        "Newer": "std:latest",
    }


def test_an_unknown_library_lists_the_known_ones() -> None:
    outcome = lacec("compile", "policy.lace", "--with", "std:nothing")
    assert outcome.code == 2
    assert "there is no std:nothing; the standard library has std:blocklist, " in outcome.err


def test_a_library_name_cannot_climb_out_of_the_library() -> None:
    outcome = lacec("compile", "policy.lace", "--with", "std:../grammar/lacegram")
    assert outcome.code == 2
    assert "there is no std:../grammar/lacegram" in outcome.err


def test_facet_decides_what_is_missing() -> None:
    outcome = lacec("compile", "policy.lace", "--facet", "selector", "--json")
    assert outcome.code == 1
    names = [found["name"] for found in outcome.document["diagnostics"]]
    assert names == ["missing-export", "missing-export"]


def test_facet_changes_no_identifier() -> None:
    source = "AllowQueryRecord(V,P) :- Peer(V), Have(P).\n"
    plain = lacec("compile", "-", "--json", source=source)
    expose = lacec("compile", "-", "--json", "--facet", "expose", source=source)
    assert plain.out == expose.out


def test_limits_can_be_changed() -> None:
    assert lacec("compile", "policy.lace", "--limit", "rules=2").code == 0
    outcome = lacec("compile", "policy.lace", "--limit", "rules=1", "--json")
    assert outcome.code == 1
    assert [found["name"] for found in outcome.document["diagnostics"]] == ["too-many-rules"]


@pytest.mark.parametrize("given", ["rules", "rules=", "rules=-1", "rules=x", "depth=3", "=1"])
def test_a_limit_that_is_none_is_a_mistake_of_the_command_line(given: str) -> None:
    outcome = lacec("compile", "policy.lace", "--limit", given)
    assert outcome.code == 2
    assert f"{given!r} is not a limit; write NAME=VALUE with one of rules, " in outcome.err


def test_an_unknown_facet_lists_the_known_ones() -> None:
    outcome = lacec("compile", "policy.lace", "--facet", "selektor")
    assert outcome.code == 2
    assert all(facet in outcome.err for facet in ("plain", "selector", "expose"))


def test_a_rule_that_becomes_too_much_code_is_stopped(tmp_path: Path) -> None:
    pairs = ", ".join(f"A(P,V{n}), A(V{n},P)" for n in range(20))
    source = f"A(P,P) :- Have(P), {pairs}."
    limit = ("--limit", "instructions=100")
    outcome = lacec("compile", "-", "-o", str(tmp_path), "--json", *limit, source=source)
    assert (outcome.code, outcome.document["limit"]["name"]) == (3, "instructions")
