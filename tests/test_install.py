"""Setting up: one line that says what to do when it fails; the demo wherever a checkout may be."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / ".ci" / "install.py"
NOBODY = 65534
PLENTY = 2**40


@pytest.fixture(scope="module")
def install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("version", [(2, 7), (3, 6), (3, 10)])
def test_an_old_python_says_so(install: ModuleType, version: tuple[int, int]) -> None:
    old = "{}.{}".format(*version)
    with pytest.raises(SystemExit, match=rf"or later, and this is {old}: make PYTHON=python3\.\d+"):
        install.check_python(version)
    install.check_python((3, 11))


def test_an_old_python_can_read_the_script() -> None:
    """As far as this one can tell: it has no syntax that came after 3.4."""
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 4))
    assert not any(
        isinstance(node, ast.JoinedStr | ast.AnnAssign)
        for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
    )


@pytest.mark.parametrize(
    ("said", "free", "what"),
    [
        ("OSError: [Errno 28] No space left on device", PLENTY, "the disk is full"),
        ("Command '[…, 'ensurepip']' returned non-zero exit status 1.", 0, "the disk is full"),
        (
            "PermissionError: [Errno 13] Permission denied: '/x/.venv'",
            PLENTY,
            "cannot write /x/.ve",
        ),
        ("Read-only file system: '/x/.venv'", PLENTY, "cannot write /x/.venv"),
        (
            "NewConnectionError('… Failed to establish a new connection: [Errno 111]')\n"
            "ERROR: No matching distribution found for numpy==2.4.6",
            PLENTY,
            "the package index cannot be reached",
        ),
        (
            "ERROR: No matching distribution found for hatchling==1.33.0",
            PLENTY,
            "the package index cannot be reached",
        ),
        (
            "ERROR: No matching distribution found for some-pack==1",
            PLENTY,
            "some-pack has no wheel",
        ),
        ("ERROR: Failed building wheel for coincurve", PLENTY, "coincurve has no wheel"),
        (
            "The user requested (constraint) numpy==2.4.6\nERROR: ResolutionImpossible",
            PLENTY,
            "numpy has no wheel",
        ),
        ("something\nERROR: it did not work", PLENTY, "pip failed: it did not work"),
        ("", PLENTY, "pip failed: pip said nothing"),
    ],
)
def test_what_went_wrong_is_told_apart(
    install: ModuleType, said: str, free: int, what: str
) -> None:
    found, remedy = install.explain(said, free)
    assert found.startswith(what)
    assert remedy


def copied(folder: Path) -> Path:
    """What git would have in a clone, and of the files not committed yet those that it would."""
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "build", "tests")
    shutil.copytree(ROOT, folder, ignore=ignored)
    return folder


def made(
    folder: Path, *arguments: str, env: Mapping[str, str], user: int | None = None
) -> subprocess.CompletedProcess[str]:
    """What make says in a folder, with no programs on the PATH but those that it is to need."""
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**kept_environment(), **env},
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def kept_environment() -> Mapping[str, str]:
    """How packages are found here, and nothing of how this process was started."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_", "REQUESTS_", "XDG_")) or name.lower().endswith("_proxy")
    }


# What `make demo` needs beside a Python: a shell, and what POSIX gives it. Not git.
PROGRAMS = ("make", "sh", "test", "mktemp", "cp", "rm", "cut", "dirname", "cat", "echo", "env")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a space in its name that any user may enter, and its programs."""
    folder = Path(tempfile.mkdtemp(prefix="a place ", dir="/tmp"))
    (folder / "bin").mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None, name
        (folder / "bin" / name).symlink_to(found)
    for path in (folder, folder / "bin"):  # whatever the umask is
        path.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


BASE = Path(sys._base_executable)  # type: ignore[attr-defined]


def other_user() -> int | None:
    """A user that may run this Python, if this is root; None if this is no root."""
    if os.getuid() != 0:
        return None
    try:
        subprocess.run([BASE, "-c", ""], user=NOBODY, cwd="/", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return NOBODY


def test_the_demo_needs_no_git_no_root_and_no_network_once_installed(place: Path) -> None:
    """From a path with a space; as another user, where this is root and others may run Python."""
    checkout, user = copied(place / "check out"), other_user()
    home = place / "home"
    home.mkdir()
    if user is not None:
        for path in (home, checkout, *checkout.rglob("*")):
            os.chown(path, user, user)
    words = {"PATH": str(place / "bin"), "HOME": str(home), "TMPDIR": "/tmp"}
    first = made(checkout, f"PYTHON={BASE}", "demo", env=words, user=user)
    if "the package index cannot be reached" in first.stderr:
        pytest.skip("the package index does not answer")
    assert first.returncode == 0, first.stderr
    assert "converged after" in first.stdout
    offline = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_NO_INDEX": "1"}
    again = made(checkout, "demo", env={**words, **offline}, user=user)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == first.stdout


def test_without_an_index_one_line_says_so(place: Path) -> None:
    checkout = copied(place / "checkout")
    environment = {
        **{"PATH": str(place / "bin"), "HOME": str(place)},
        **{"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""},
        **{"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"},
    }
    done = made(checkout, f"PYTHON={BASE}", "demo", env=environment)
    assert done.returncode != 0
    begun, said, *_ = done.stderr.splitlines()
    assert begun == "Installing into .venv ..."
    assert said.startswith("the package index cannot be reached: connect to the network")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(0)", None),
        ("import sys; sys.exit('ensurepip' in sys.argv[2])", "cannot make virtual environments"),
    ],
)
def test_without_venv_one_line_says_what_to_install(
    place: Path, code: str, said: str | None
) -> None:
    """As on Debian, where venv is a package of its own."""
    checkout = copied(place / "checkout")
    (place / "python").write_text(f"#!{BASE}\n{code}\n", encoding="utf-8")
    (place / "python").chmod(0o755)
    script = f"import runpy, sys; sys._base_executable = {str(place / 'python')!r}; " + (
        "sys.argv[1:] = ['run']; runpy.run_path('.ci/install.py', run_name='__main__')"
    )
    done = subprocess.run(
        [BASE, "-c", script], cwd=checkout, capture_output=True, encoding="utf-8", check=False
    )
    if said is not None:
        assert said in done.stderr
        assert f"apt-get install python3.{sys.version_info.minor}-venv" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode != 0


def test_a_python_that_is_not_there_is_named(place: Path) -> None:
    done = made(
        copied(place / "checkout"), "PYTHON=python9", "demo", env={"PATH": str(place / "bin")}
    )
    assert done.returncode != 0
    assert "there is no python9 here: install Python 3.11 or later" in done.stdout
