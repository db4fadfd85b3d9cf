"""A process that verifies signatures for an import: `python -m lacec.runtime.store.verifier R W`.

From the file descriptor R come batches: a line with a number, then as many lines of Plex
hash, verifier and signature. To W go as many bytes, 1 or 0. It ends when R does.
"""

import os
import sys

from lacec.records import b64a
from lacec.records.signature import verify


def main(read: int, write: int) -> None:
    with os.fdopen(read, "rb") as requests, os.fdopen(write, "wb") as answers:
        while count := requests.readline():
            answers.write(bytes(_is_valid(requests.readline()) for _ in range(int(count))))
            answers.flush()


def _is_valid(line: bytes) -> bool:
    plex_hash, verifier, signature = line.decode("ascii").split()
    return verify(b64a.decode(plex_hash[2:-3]), verifier, signature)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
