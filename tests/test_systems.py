"""Systems that lack what only POSIX has: the core works there, and the rest says what is missing.

Each command runs in a process from which the modules and functions of POSIX are hidden, as they
are missing on Windows. This is no proof that lacec works there, which has not been tried.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.listening import listening
from tests.cli.run import Outcome, process_environment

EXAMPLES = Path(__file__).parent.parent / "examples"

HIDE = """
import asyncio, os, shutil, signal, socket, subprocess, sys

for name in ("pwd", "grp", "fcntl", "termios", "tty", "resource", "posix_ipc"):
    sys.modules[name] = None  # an import of it is an ImportError
for holder, names in {
    asyncio: ("open_unix_connection", "start_unix_server"),
    os: ("O_DIRECTORY", "O_NOFOLLOW", "fork", "getuid", "geteuid", "getloadavg", "sysconf",
         "fchmod", "chown", "killpg", "set_blocking", "mkfifo"),
    signal: ("SIGHUP", "SIGQUIT", "SIGKILL", "SIGUSR1", "SIGPIPE", "SIGALRM", "pause"),
    socket: ("SO_PEERCRED",),
}.items():
    for name in names:
        if hasattr(holder, name):
            delattr(holder, name)

def no_signals(*_):
    raise NotImplementedError
asyncio.SelectorEventLoop.add_signal_handler = no_signals
asyncio.SelectorEventLoop.remove_signal_handler = no_signals

true_open = os.open
def open_file(path, *rest, **more):
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return true_open(path, *rest, **more)
os.open = open_file

class Popen(subprocess.Popen):
    def __init__(self, *words, **options):
        for name in ("pass_fds", "preexec_fn"):
            assert not options.get(name), f"{name} is only supported on POSIX"
        super().__init__(*words, **options)
subprocess.Popen = Popen
"""
RUN = f"{HIDE}\nfrom lacec.__main__ import main\nsys.argv[0] = 'lacec'\nmain()"


def lacec(folder: Path, *arguments: str, code: str = RUN) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=process_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two stores of a few hundred records, of which enough are signed."""
    folder = tmp_path_factory.mktemp("stores")
    for side, seed in (("left", 1), ("right", 2)):
        made = lacec(folder, side, str(seed), code=CORPUS)
        assert made.err == ""
        assert lacec(folder, "store", "init", side).code == 0
        imported = lacec(folder, "store", "import", side, f"{side}.records", "--json")
        assert (imported.code, imported.err) == (0, "")
        assert len(imported.document["admitted"]) == 400
    return folder


CORPUS = f"""{HIDE}
from pathlib import Path
import lacec
side, seed = sys.argv[1:]
records = lacec.corpus(400, seed=int(seed), groups=2, members=4)
Path(side + ".records").write_bytes(b"".join(record.data + b"\\n" for record in records))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", "links.lace"),
        ("check", "links.lace"),
        ("fmt", "--check", "links.lace"),
        ("eval", "links.lace", "--facts", "links.facts"),
        ("explain", "links.lace", "Selected('S.1')", "--facts", "links.facts"),
        ("explain", "links.lace", "Selected('S.2')", "--facts", "links.facts", "--not"),
        ("test", "."),
    ],
    ids=lambda arguments: " ".join(arguments[:1]),
)
def test_the_core_needs_nothing_of_posix(arguments: tuple[str, ...]) -> None:
    outcome = lacec(EXAMPLES, *arguments)
    assert (outcome.code, outcome.err.count("Traceback")) == (0, 0), outcome.err


def test_a_store_needs_nothing_of_posix(stores: Path) -> None:
    assert json.loads(lacec(stores, "store", "verify", "left", "--json").out)["problems"] == []
    copied = lacec(stores, "store", "backup", "left", "copy")
    assert (copied.code, copied.err) == (0, "")
    assert lacec(stores, "eval", str(EXAMPLES / "members.lace"), "--store", "copy").code == 0


def test_an_exchange_in_one_process_needs_nothing_of_posix(stores: Path) -> None:
    given = ("--left", "left", "--right", "right", "--policy", str(EXAMPLES / "members.lace"))
    done = lacec(stores, "run-interlace", *given, "--expose", "selected", "--json")
    assert (done.code, done.err) == (0, "")


def test_a_connection_hears_signals_without_those_of_the_loop(stores: Path) -> None:
    """Over TCP; the listener ends when it is told to, with its results."""
    given = ("--policy", str(EXAMPLES / "members.lace"), "--expose", "selected")
    options = ("--store", "left", "--listen", "tcp:127.0.0.1:0", *given)
    with listening(*options, cwd=stores, program=("-c", RUN)) as listener:
        connect = ("--store", "right", "--connect", listener.address, *given)
        done = lacec(stores, "run-interlace", *connect)
        assert (done.code, "converged" in done.out) == (0, True), done.err
        ended = listener.stop()
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--listen", "unix:/there"), "this system has no Unix sockets"),
        (("--connect", "unix:/there"), "this system has no Unix sockets"),
        (("--listen", "tcp:127.0.0.1:1", "--user", "root=V"), "does not say whose process"),
    ],
)
def test_what_is_missing_is_named(stores: Path, arguments: tuple[str, ...], said: str) -> None:
    policy = str(EXAMPLES / "members.lace")
    done = lacec(stores, "run-interlace", "--store", "left", "--policy", policy, *arguments)
    assert done.code != 0
    assert said in done.err
    assert "Traceback" not in done.err
