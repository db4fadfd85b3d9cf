"""Coverage-guided fuzzing of one target, with atheris: `make fuzz` runs all.

python -m tests.fuzz.guided stream -max_total_time=60
"""

import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit(
        "fuzzing needs atheris, which has no release for this Python: use Python 3.14 or earlier, "
        "as in make PYTHON=python3.14 fuzz"
    )

with atheris.instrument_imports(include=["lacec"]):
    from tests.fuzz.targets import TARGETS, WORDS


def main(name: str, options: list[str]) -> None:
    """What libFuzzer is told, and what it says, are its own; it ends the process."""
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(target.seeds()):
            (Path(folder) / f"seed{number}").write_bytes(seed)
        words = Path(folder) / "words"
        words.write_text("".join(map(_entry, WORDS)))
        given = [f"-dict={words}", "-max_len=32768", "-timeout=10", "-rss_limit_mb=1024", *options]
        atheris.Setup([sys.argv[0], *given, folder], target.run)
        atheris.Fuzz()


def _entry(word: bytes) -> str:
    """A word as libFuzzer reads it."""
    escaped = "".join(f"\\x{byte:02x}" for byte in word)
    return f'"{escaped}"\n'


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
