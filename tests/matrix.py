"""Try every Python that is claimed: `make matrix`, or `make matrix ONLY="3.14 3.15"`.

In a fresh clone of what is committed: `make demo`, `make test`, that under odd conditions, and the
built wheel with each extra. A Python that is on the PATH is taken as it is. For one that is not,
root gets a bare Debian that has it, by debootstrap, with Python, its venv and make, and nothing
else; `--bare` takes that for those on the PATH too. All of it stands in build/matrix, with a log
for each. Out: a table.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.pins import ROOT, claimed, extras

FOLDER = ROOT / "build" / "matrix"
# The suite of Debian that has a Python; none has 3.12.
SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "testing", "3.15": "testing"}

# In a namespace of its own, so that nothing stays mounted. $0 is the root, $1 where pip keeps what
# it fetched, and then comes what to run.
INSIDE = """
set -e
mkdir -p "$0/proc" "$0/dev/pts" "$0/cache"
mount -t proc proc "$0/proc"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts"
mount --bind "$1" "$0/cache"
root=$0
shift
exec chroot "$root" "$@"
"""


@dataclass
class Tried:
    """A Python, where it comes from, and what became of each step there."""

    python: str
    system: str
    steps: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return not self.steps or not all(each.startswith("ok") for each in self.steps.values())


Run = Callable[[Sequence[str]], int]
"""Runs a command in a fresh clone, its output in a log; gives its exit code."""


def find(python: str) -> str | None:
    """Return the program of a Python on the PATH; None if it does not run or has no venv."""
    program = shutil.which(f"python{python}")
    if program is None:
        return None
    code = subprocess.call([program, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL)
    return program if code == 0 else None


def clone(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.check_call(["git", "clone", "-q", "--no-hardlinks", ROOT, folder])
    return folder


def here(python: str, log: Path) -> tuple[str, Run]:
    """Return what runs commands in a clone on this machine."""
    checkout = clone(FOLDER / python / "lacec")
    # Without what the make that runs this tells those that it starts.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}

    def run(command: Sequence[str]) -> int:
        with log.open("ab") as file:
            return subprocess.call(command, cwd=checkout, env=kept, stdout=file, stderr=file)

    return "this machine", run


def bare(python: str, log: Path) -> tuple[str, Run]:
    """Return what runs commands in a clone on a Debian of its own."""
    suite, root = SUITES[python], FOLDER / python / "root"
    cache = FOLDER / "cache"
    cache.mkdir(parents=True, exist_ok=True)

    def enter(command: Sequence[str]) -> int:
        inside = ["unshare", "--mount", "--pid", "--kill-child", "sh", "-c", INSIDE, str(root)]
        words = ["env", "-i", *environment, "sh", "-c", 'cd /lacec && exec "$@"', "sh", *command]
        with log.open("ab") as file:
            return subprocess.call([*inside, str(cache), *words], stdout=file, stderr=file)

    environment = list[str]()
    if not (root / "lacec").exists():
        shutil.rmtree(root, ignore_errors=True)
        with log.open("ab") as file:
            built = ["debootstrap", "--variant=minbase", suite, str(root)]
            subprocess.check_call(built, stdout=file, stderr=file)
        (root / "lacec").mkdir()
    names = f"localhost {platform.node()}".strip()
    (root / "etc" / "hosts").write_text(f"127.0.0.1 {names}\n", encoding="utf-8")
    environment += _environment(root)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    packages = f"python{python} python{python}-venv make"
    # A mirror that is some days old is as good.
    updated = "apt-get -o Acquire::Check-Valid-Until=false update"
    install = f"{updated} && apt-get install -y --no-install-recommends {packages}"
    if enter(["sh", "-c", f"DEBIAN_FRONTEND=noninteractive; export DEBIAN_FRONTEND; {install}"]):
        raise OSError(f"Debian {suite} has no python{python}")
    clone(root / "lacec")
    return f"bare Debian {suite}", enter


def _environment(root: Path) -> list[str]:
    """Return what programs in a bare system are told, certificates of this machine among it."""
    told = ["HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"]
    told += ["PIP_CACHE_DIR=/cache/pip", "UV_CACHE_DIR=/cache/uv", "PIP_ROOT_USER_ACTION=ignore"]
    for name in ("SSL_CERT_FILE", "PIP_CERT"):
        if given := os.environ.get(name):
            inside = root / "etc" / "ssl" / "certs" / "of-this-machine.crt"
            inside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(given, inside)
            told.append(f"{name}=/{inside.relative_to(root)}")
    return told


def wheels(program: str) -> list[tuple[str, list[str]]]:
    """Return the steps that install the built wheel with each extra, and use it."""
    lines = [f"rm -rf wheel && {program} -m venv wheel/build"]
    lines += ["wheel/build/bin/pip wheel -q --no-deps -w wheel ."]
    made = [("wheel", ["sh", "-ec", "\n".join(["export PIP_CONSTRAINT=constraints.txt", *lines])])]
    for extra in extras():
        script = f"""
            export PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1
            {program} -m venv wheel/{extra}
            wheel/{extra}/bin/pip install -q "$(echo wheel/*.whl)[{extra}]"
            wheel/{extra}/bin/lacec check examples/links.lace
            rm -r wheel/{extra}
        """
        made.append((extra, ["sh", "-ec", script]))
    return made


# The tests once more where little is as usual: as a background job of a script, which ignores
# interrupts, with other times, letters and modes, and with a HOME that cannot be written.
ODD = """
trap '' INT
umask 077
export TZ=Pacific/Chatham LC_ALL=C HOME=/proc
exec make test
"""


def attempt(python: str, always_bare: bool, skip: set[str]) -> Tried:
    """Run the steps on one Python."""
    program, folder = find(python), FOLDER / python
    folder.mkdir(parents=True, exist_ok=True)
    log = FOLDER / f"{python}.log"
    log.write_bytes(b"")
    is_bare = python in SUITES and (always_bare or program is None)
    if is_bare and (os.geteuid() != 0 or shutil.which("debootstrap") is None):
        return Tried(python, "not tried: be root, and install debootstrap")
    if program is None and not is_bare:
        return Tried(python, f"not tried: there is no python{python}, and no Debian has it")
    make_system = bare if is_bare else here
    system, run = make_system(python, log)
    program = f"python{python}"
    tried = Tried(python, system)
    steps = [("demo", ["make", f"PYTHON={program}", "demo"]), ("tests", ["make", "test"])]
    steps += [("tests, oddly", ["sh", "-c", ODD])]
    for name, command in steps + wheels(program):
        if name in skip:
            continue
        print(f"Python {python}, {system}: {name} …", file=sys.stderr, flush=True)
        started = time.monotonic()
        code = run(command)
        took = f"{time.monotonic() - started:.0f} s"
        tried.steps[name] = f"ok, {took}" if code == 0 else f"exit code {code}, {took}"
    return tried


def table(rows: Sequence[Tried]) -> str:
    """Return a table for a terminal and for Markdown alike."""
    names = list(dict.fromkeys(name for row in rows for name in row.steps))
    lines = [
        "| " + " | ".join(["Python", "system", *names]) + " |",
        "|---" * (len(names) + 2) + "|",
    ]
    for row in rows:
        cells = [row.python, row.system, *(row.steps.get(name, "") for name in names)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="as in 3.14; all if none")
    parser.add_argument("--bare", action="store_true", help="in a bare system, if one has it")
    parser.add_argument("--skip", action="append", default=[], metavar="STEP", help="demo, tests …")
    given = parser.parse_args()
    rows = []
    for python in given.pythons or reversed(claimed()):
        try:
            rows.append(attempt(python, given.bare, set(given.skip)))
        except (OSError, subprocess.CalledProcessError) as error:
            rows.append(Tried(python, f"not tried: {error}"))
    print(table(rows))
    return any(row.failed for row in rows)


if __name__ == "__main__":
    sys.exit(main())
