"""The tests of what changed since main: `make quick`.

In: what git says has changed, committed or not. Out: the test files and folders that mirror it,
which pytest then runs, and those that keep the tree in order.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
ALWAYS = "tests/test_tidy.py"


def changed(base: str = "main") -> list[str]:
    """Return the files that differ from where this branch left `base`, new ones included."""
    start = _git("merge-base", base, "HEAD").strip()
    listed = _git("diff", "--name-only", start) + _git("ls-files", "--others", "--exclude-standard")
    return sorted(set(listed.splitlines()))


def _git(*words: str) -> str:
    return subprocess.check_output(["git", *words], cwd=ROOT, encoding="utf-8")


def select(paths: Iterable[str]) -> list[str]:
    """Return what to run for changed files: tests themselves, and what mirrors a part of lacec."""
    found = {ALWAYS}
    for path in map(Path, paths):
        if path.parts[0] == "tests" and path.name.startswith("test_"):
            found.add(path.as_posix())
        elif path.parts[0] in ("lacec", "tests"):
            found.update(_nearest(Path("tests", *path.parts[1:])))
        elif path.parts[0] in ("docs", "examples") or path.suffix == ".md":
            found.add("tests/test_docs.py")
    return sorted(each for each in found if (ROOT / each).exists() and not _is_inside(each, found))


def _nearest(mirrored: Path) -> list[str]:
    """Return the test of one file, or else the folder of tests that is nearest to it."""
    test = mirrored.with_name(f"test_{mirrored.name}")
    if (ROOT / test).is_file():
        return [test.as_posix()]
    for folder in mirrored.parents:
        if (ROOT / folder).is_dir() and len(folder.parts) > 1:
            return [folder.as_posix()]
    # At the top: the functions of the package, and the whole path.
    return ["tests/test_api.py", "tests/test_plan_api.py"]


def _is_inside(path: str, others: Iterable[str]) -> bool:
    return any(path != other and path.startswith(f"{other}/") for other in others)


if __name__ == "__main__":
    sys.stdout.write(" ".join(select(changed())) + "\n")
