"""Files of secrets: made for their owner alone, and refused when others may read them."""

import os
import stat
from pathlib import Path

import pytest

from lacec.records.keyfile import read_secret, write_secret
from lacec.records.signature import SecretError, generate


def test_a_secret_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    path, secret = tmp_path / "a.key", generate()
    old = os.umask(0)
    try:
        write_secret(path, secret)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="ascii") == f"{secret.reveal()}\n"
    assert read_secret(path).verifier == secret.verifier


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    write_secret(path, generate())
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        write_secret(path, generate())
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o602, 0o610])
def test_a_file_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.key"
    write_secret(path, generate())
    path.chmod(mode)
    with pytest.raises(SecretError, match="chmod 600"):
        read_secret(path)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_the_owner_may_protect_it_further(tmp_path: Path, mode: int) -> None:
    path, secret = tmp_path / "a.key", generate()
    write_secret(path, secret)
    path.chmod(mode)
    assert read_secret(path).verifier == secret.verifier


@pytest.mark.parametrize("change", ["\n", " ", "x", "\n\n"])
def test_a_file_of_anything_else_is_refused_and_not_repeated(tmp_path: Path, change: str) -> None:
    path, secret = tmp_path / "a.key", generate()
    write_secret(path, secret)
    path.write_text(f"{secret.reveal()}\n{change}", encoding="ascii")
    with pytest.raises(SecretError) as caught:
        read_secret(path)
    assert secret.reveal()[2:10] not in str(caught.value)
    assert "a.key" in str(caught.value)


def test_a_large_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    path.touch(0o600)
    with path.open("r+b") as file:
        file.truncate(2**40)
    with pytest.raises(SecretError):
        read_secret(path)
