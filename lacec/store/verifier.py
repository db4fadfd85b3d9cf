"""A process that verifies signatures for an import: `python -m lacec.store.verifier`.

On standard input come batches: a line with a number, then as many lines of Plex hash, verifier
and signature. To standard output go as many bytes, 1 or 0. It ends when its input does.
"""

import os

from lacec.records import b64a
from lacec.records.signature import verify


def main() -> None:
    with os.fdopen(0, "rb") as requests, os.fdopen(1, "wb") as answers:
        while count := requests.readline():
            answers.write(bytes(_is_valid(requests.readline()) for _ in range(int(count))))
            answers.flush()


def _is_valid(line: bytes) -> bool:
    plex_hash, verifier, signature = line.decode("ascii").split()
    return verify(b64a.decode(plex_hash[2:-3]), verifier, signature)


if __name__ == "__main__":
    main()
