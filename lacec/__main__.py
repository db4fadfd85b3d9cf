"""The entry point of `lacec` and `python -m lacec`."""

import gc
import os
import sys


def main() -> None:
    try:
        # Streams that the caller closed swallow what is written to them.
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if sys.argv[1:] in (["--version"], ["-V"]):
            # Answered before anything else is imported: scripts ask this often.
            from lacec import __version__

            sys.stdout.write(f"lacec {__version__}\n")
            return
        # A command builds its trees once and ends: looking for cycles often only costs time.
        gc.set_threshold(50_000, 20, 50)
        from lacec.cli import run

        run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        # What cannot be written now cannot be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if sys.stderr is not None:
            sys.stderr.write(f"lacec: {(error.strerror or str(error)).lower()}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
