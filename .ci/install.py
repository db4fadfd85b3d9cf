"""Install what a target of the Makefile needs into .venv: `python3 .ci/install.py [EXTRA]`.

It does nothing when all is there. When something cannot be installed, it ends with one line that
says what to do. The syntax is that of old Pythons too, so that they can say that they are too old.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys

OLDEST, NEWEST = (3, 11), (3, 15)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(FOLDER, "bin", "python")
DONE = os.path.join(FOLDER, "installed")
LOG = os.path.join(FOLDER, "install.log")
SEEN = ".venv/install.log has what pip said"


def main(extra):
    """Install one extra, or lacec alone if it is `run`."""
    check_python(sys.version_info[:2])
    state = current_state()
    done = read_done()
    extras = set(done[1:]) if done[:1] == [state] and works() else set()
    if extra in extras:
        return
    if not extras:
        make_environment()
    install(extra)
    write(DONE, "\n".join([state] + sorted(extras | {"run", extra})))


def check_python(version):
    if version >= OLDEST:
        return
    others = ["python3.%d" % minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    found = [name for name in others if runs(name)] or ["python3.13"]
    fail(
        "lacec needs Python %d.%d or later, and this is %d.%d" % (OLDEST + version[:2]),
        "make PYTHON=%s demo" % found[0],
    )


def runs(name):
    """Return whether there is such a Python, and not only a stand-in for one."""
    with open(os.devnull, "w") as nothing:
        try:
            return subprocess.call([name, "-c", ""], stdout=nothing, stderr=nothing) == 0
        except OSError:
            return False


def current_state():
    """Return one line that changes when all has to be installed anew."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return "%d.%d %s %s" % (sys.version_info[:2] + (digest.hexdigest()[:16], ROOT))


def read_done():
    try:
        with open(DONE, encoding="utf-8") as file:
            return file.read().split("\n")
    except (IOError, OSError):
        return []


def works():
    """Return whether the environment has a Python that runs, of the version that runs this."""
    code = "import pip, sys; sys.exit(sys.version_info[:2] != %r)" % (sys.version_info[:2],)
    try:
        return subprocess.call([PYTHON, "-c", code], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_environment():
    if works():
        return
    base = getattr(sys, "_base_executable", None) or sys.executable
    code = "import ensurepip, venv"
    if subprocess.call([base, "-c", code], stderr=subprocess.DEVNULL) != 0:
        package = "python%d.%d-venv" % sys.version_info[:2]
        fail(
            "this Python cannot make virtual environments",
            "install its venv package (on Debian and Ubuntu: apt-get install %s)" % package,
        )
    shutil.rmtree(FOLDER, ignore_errors=True)
    said = run([base, "-m", "venv", FOLDER])
    if said is not None:
        free = shutil.disk_usage(ROOT).free
        shutil.rmtree(FOLDER, ignore_errors=True)
        fail_for(said, free)


def install(extra):
    sys.stderr.write("Installing into .venv ...\n")
    what = "." if extra == "run" else ".[%s]" % extra
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    said = run(pip + ["--progress-bar", "off", "-e", what])
    if said is not None:
        free = shutil.disk_usage(ROOT).free
        try:
            write(LOG, said)
        except OSError:
            pass  # no room for it
        fail_for(said, free)


def run(command):
    """Run a command to its end; return what it said if it failed."""
    environment = dict(os.environ)
    # Relative, since pip takes a space in it for the end of a name.
    environment["PIP_CONSTRAINT"] = environment["PIP_BUILD_CONSTRAINT"] = "constraints.txt"
    try:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        return "cannot run %s: %s" % (command[0], error)
    said = process.communicate()[0].decode("utf-8", "replace")
    return None if process.returncode == 0 else said


# What pip and venv say, in the order in which one explains the others.
FULL = re.compile(r"No space left on device|Errno 28|Disk quota exceeded")
UNWRITABLE = re.compile(r"(?:Permission denied|Read-only file system): '?([^'\n]*)")
UNREACHABLE = re.compile(
    r"Failed to establish a new connection|Temporary failure in name resolution|getaddrinfo failed"
    r"|Name or service not known|Network is unreachable|Connection refused|ConnectTimeout"
    r"|Read timed out|ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED|Connection reset"
)
NO_WHEEL = re.compile(
    r"No matching distribution found for ([\w.-]+)|Failed building wheel for ([\w.-]+)"
    r"|Failed to build '?([\w.-]+)|The user requested \(constraint\) ([\w.-]+)"
)
# With less room than this it is the disk that failed, whatever was said.
ROOM = 64 * 2**20


def explain(said, free):
    """Return what went wrong, and what to do, from the output of pip or venv and the free bytes."""
    if FULL.search(said) or free < ROOM:
        return "the disk is full", "make room for .venv (make test takes 2 GB) and try again"
    found = UNWRITABLE.search(said)
    if found:
        return "cannot write %s" % (
            found.group(1).strip() or ".venv"
        ), "own this folder, or copy it"
    found = NO_WHEEL.search(said)
    name = next(filter(None, found.groups())) if found else None
    # hatchling comes first and has a wheel for all, so an index that lacks it is not there.
    if UNREACHABLE.search(said) or name == "hatchling":
        return "the package index cannot be reached", "connect to the network, or name a proxy"
    if name:
        what = "%s has no wheel for Python %d.%d here" % ((name,) + sys.version_info[:2])
        claimed = "%d.%d to %d.%d" % (OLDEST + NEWEST)
        return what, "use a CPython of %s, as in make PYTHON=python3.13 demo" % claimed
    errors = [line for line in said.splitlines() if line.strip()] or ["pip said nothing"]
    wrong = [line for line in errors if line.lower().startswith("error:")] or errors
    return "pip failed: %s" % re.sub(r"(?i)^error: *", "", wrong[-1].strip()), "see its output"


def fail_for(said, free):
    what, remedy = explain(said, free)
    fail(what, remedy + ("; " + SEEN if os.path.exists(LOG) else ""))


def fail(what, remedy):
    sys.exit("%s: %s" % (what, remedy))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "run")
    except KeyboardInterrupt:  # what is there is used the next time
        sys.exit(130)
