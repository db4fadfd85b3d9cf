"""The entry point of `lacec` and `python -m lacec`."""

import sys


def main() -> None:
    try:
        if sys.argv[1:] in (["--version"], ["-V"]):
            # Answered before anything else is imported: scripts ask this often.
            from lacec import __version__

            sys.stdout.write(f"lacec {__version__}\n")
            return
        from lacec.cli import run

        run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
