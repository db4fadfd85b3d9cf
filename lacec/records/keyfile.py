"""A secret in a file that only its owner reads, one line `&.….H3`.

Like ssh, lacec refuses a file that others may read: what they may have read is no secret.
"""

import os
import stat
from pathlib import Path

from lacec.records.signature import Secret, SecretError

_MOST_BYTES = 256


def write_secret(path: Path, secret: Secret) -> None:
    """Make a new file that only its owner can read; FileExistsError if there is one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{secret.reveal()}\n")
        file.flush()
        os.fsync(descriptor)


def read_secret(path: Path) -> Secret:
    """The secret in a file; SecretError if it is none, or others may read it."""
    with path.open("rb") as file:
        # Windows has no such bits; who may read is decided by other means there.
        if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise SecretError(
                f"others may read or change {path}: run chmod 600 on it, "
                "and make a new key if they may have read it"
            )
        data = file.read(_MOST_BYTES)
    text = data.decode("ascii", "replace").removesuffix("\n")
    try:
        return Secret.from_text(text)
    except SecretError as error:
        raise SecretError(f"{path} holds no signing secret: {error}") from None
