"""lacec key: secrets go to files, verifiers to the reader."""

import re
import stat
from pathlib import Path

import pytest

from lacec.records.signature import Secret
from tests.cli.run import lacec

VERIFIER = re.compile(r"V\.[0-9A-Z_a-z~]{43}\.H3\n")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "alice.key"
    assert lacec("key", "new", "-o", str(path)).code == 0
    return path


def test_new_keeps_the_secret_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "alice.key"
    outcome = lacec("key", "new", "-o", str(path))
    assert outcome.code == 0
    assert VERIFIER.fullmatch(outcome.out)
    assert outcome.err == ""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = Secret.from_text(path.read_text(encoding="ascii").strip())
    assert outcome.out == f"{secret.verifier}\n"


def test_new_without_a_file_prints_the_secret() -> None:
    outcome = lacec("key", "new")
    secret = Secret.from_text(outcome.out.strip())
    assert outcome.err == f"the verifier is {secret.verifier}\n"


def test_new_in_json(tmp_path: Path) -> None:
    document = lacec("key", "new", "--json").document
    assert Secret.from_text(document["secret"]).verifier == document["verifier"]
    kept = lacec("key", "new", "--json", "-o", str(tmp_path / "b.key")).document
    assert list(kept) == ["verifier"]


def test_new_does_not_write_over_a_key(key: Path) -> None:
    before = key.read_bytes()
    outcome = lacec("key", "new", "-o", str(key))
    assert (outcome.code, outcome.out) == (2, "")
    assert "file exists" in outcome.err
    assert key.read_bytes() == before


def test_show_prints_the_verifier_and_not_the_secret(key: Path) -> None:
    hidden = key.read_text(encoding="ascii").strip()
    outcome = lacec("key", "show", str(key))
    assert outcome == (0, f"{Secret.from_text(hidden).verifier}\n", "")
    assert list(lacec("key", "show", str(key), "--json").document) == ["verifier"]


def test_show_prints_the_secret_when_it_is_told_to(key: Path) -> None:
    hidden = key.read_text(encoding="ascii").strip()
    assert lacec("key", "show", str(key), "--secret").out.endswith(f"\n{hidden}\n")
    assert lacec("key", "show", str(key), "--secret", "--json").document["secret"] == hidden


def test_a_key_that_others_may_read_is_refused(key: Path) -> None:
    key.chmod(0o644)
    outcome = lacec("key", "show", str(key))
    assert (outcome.code, outcome.out) == (2, "")
    assert "chmod 600" in outcome.err


def test_a_file_without_a_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch(0o600)
    assert "holds no signing secret" in lacec("key", "show", str(path)).err
    assert "no such file" in lacec("key", "show", str(tmp_path / "none")).err


def test_a_secret_in_place_of_its_file_is_not_shown(key: Path) -> None:
    hidden = key.read_text(encoding="ascii").strip()
    for arguments, what in (
        (("key", "show", hidden), "lacec key show"),
        (("record", "sign", "-", "--key", hidden), "--key"),
        (("record", "new", "--group=u", "--app=a", "--name=n", "--key", hidden), "--key"),
    ):
        outcome = lacec(*arguments)
        assert outcome.code == 2
        assert f"{what} takes the file of a secret, not the secret" in outcome.err
        assert hidden[2:-3] not in outcome.out + outcome.err
