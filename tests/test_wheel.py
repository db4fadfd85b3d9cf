"""The wheel: installed into an empty environment, away from the checkout, all of it is there."""

import json
import os
import runpy
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from lacec import __version__
from lacec.core.resources import stdlib_names

ROOT = Path(__file__).parent.parent
explain = runpy.run_path(str(ROOT / ".ci" / "install.py"))["explain"]
UNREACHABLE = "the package index cannot be reached"
POLICY = "Candidate(P,T) :- Have(P), Field(P,'TAI',_,T).\n"


class Installed(NamedTuple):
    """The folder of an environment's programs, and a folder away from the checkout."""

    programs: Path
    elsewhere: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.elsewhere,
            env=environment(NO_COLOR="1"),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


def environment(**more: str) -> Mapping[str, str]:
    """This one, without what would lead Python back to the checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, **more}


def pip(*arguments: str) -> None:
    # Relative, since pip takes a space in it for the end of a name.
    constraints = "constraints.txt"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
        cwd=ROOT,
        env=environment(PIP_CONSTRAINT=constraints, PIP_BUILD_CONSTRAINT=constraints),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0 and explain(done.stdout + done.stderr, 2**40)[0] == UNREACHABLE:
        pytest.skip(UNREACHABLE)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"lacec-{__version__}-py3-none-any.whl"
    venv.create(folder / "venv", with_pip=False)
    programs = folder / "venv" / "bin"
    pip("--python", str(programs / "python"), "install", "--no-compile", str(wheel))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "policy.lace").write_text(POLICY, encoding="utf-8")
    return Installed(programs, elsewhere)


def test_the_command_is_installed(installed: Installed) -> None:
    result = installed.run("lacec", "--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"lacec {__version__}\n", "")


def test_check(installed: Installed) -> None:
    result = installed.run("lacec", "check", "policy.lace")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "no problems in 1 file\n")


def test_compile(installed: Installed) -> None:
    result = installed.run("lacec", "compile", "policy.lace", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    assert document["canonical"] == POLICY.rstrip("\n")
    assert document["strata"] == [["Candidate/2"]]


def test_compile_with_the_standard_library(installed: Installed) -> None:
    result = installed.run("lacec", "compile", "policy.lace", "--with", "std:latest", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    files = {rule["file"] for rule in json.loads(result.stdout)["rules"]}
    assert files == {"policy.lace", "std:latest"}


def test_explain(installed: Installed) -> None:
    result = installed.run("lacec", "explain", "bad-head")
    page = (ROOT / "docs" / "rules" / "bad-head.md").read_text(encoding="utf-8")
    assert (result.returncode, result.stdout, result.stderr) == (0, page, "")


def test_explain_writes_a_page(installed: Installed) -> None:
    result = installed.run("lacec", "explain", "policy.lace", "--html", "page.html")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "wrote page.html\n")
    page = (installed.elsewhere / "page.html").read_text(encoding="utf-8")
    assert "<style>:root" in page


FIND = """
import json, lacec
from lacec.core.resources import grammar_path, rule_page_path, stdlib_names, stdlib_path
found = [grammar_path(), rule_page_path("bad-head"), *map(stdlib_path, stdlib_names())]
print(json.dumps([lacec.__file__, *(str(path) for path in found if path.is_file())]))
"""


def test_the_resources_are_inside_the_package(installed: Installed) -> None:
    result = installed.run("python", "-c", FIND)
    assert (result.returncode, result.stderr) == (0, "")
    package, *found = map(Path, json.loads(result.stdout))
    assert "site-packages" in package.parts
    library = {f"{name}.lace" for name in stdlib_names()}
    assert {path.name for path in found} == {"lacegram.lark", "bad-head.md"} | library
    assert all(path.is_relative_to(package.parent) for path in found)


def test_types_are_announced(installed: Installed) -> None:
    result = installed.run("python", "-c", "import lacec; print(lacec.__path__[0])")
    assert (Path(result.stdout.strip()) / "py.typed").is_file()
