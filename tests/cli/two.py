"""Two processes of lacec that exchange with each other, over every transport."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cli.listening import listening
from tests.cli.run import Outcome, process_environment, python
from tests.runtime.iltp.ends import authority, certified

RUN = ("-m", "lacec", "run-interlace")


def exchange(scheme: str, left: Sequence[str], right: Sequence[str]) -> tuple[Outcome, Outcome]:
    """How each ended: the one who connected, and the one who listened."""
    if scheme == "stdio":
        return _over_pipes(left, right)
    folder = Path.cwd()
    host = "localhost" if scheme == "wss" else "127.0.0.1"
    address = f"unix:{folder}/sock" if scheme == "unix" else f"{scheme}:{host}:0"
    shown: tuple[str, ...] = ()
    believed: tuple[str, ...] = ()
    if scheme == "wss":
        certified(folder, host)
        authority().cert_pem.write_to_path("authority.pem")
        shown = ("--tls-cert", "chain.pem", "--tls-key", "key.pem")
        believed = ("--tls-ca", "authority.pem")
    with listening(*right, "--listen", address, "--once", *shown) as listener:
        one = python([*RUN, *left, "--connect", listener.address, *believed])
        return one, listener.end()


def _over_pipes(left: Sequence[str], right: Sequence[str]) -> tuple[Outcome, Outcome]:
    """As through ssh. Results are on standard error, after the log; they are given as output."""
    there, back = os.pipe(), os.pipe()
    ways = (("--connect", left, back[0], there[1]), ("--listen", right, there[0], back[1]))
    processes = [
        subprocess.Popen(
            [sys.executable, *RUN, option, "stdio", *arguments],
            stdin=source,
            stdout=target,
            stderr=subprocess.PIPE,
            env=process_environment(),
        )
        for option, arguments, source, target in ways
    ]
    for pipe in (*there, *back):
        os.close(pipe)
    outcomes = []
    for process in processes:
        _, said = process.communicate()
        log, brace, document = said.decode().partition("{")
        outcomes.append(Outcome(process.returncode, brace + document, log))
    return outcomes[0], outcomes[1]
