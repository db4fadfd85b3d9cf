"""A mutating fuzzer: changes seeds a little, keeps what ends in a new way, and changes that."""

import resource
import signal
from dataclasses import dataclass
from random import Random
from types import FrameType
from typing import NoReturn

from tests.fuzz.targets import WORDS, Target

MOST_BYTES = 32 * 2**10
MOST_KEPT = 4096
A_HANG = 10.0  # seconds of work for one input, whatever else the machine does meanwhile


def mutate(data: bytes, other: bytes, random: Random) -> bytes:
    """A few changes, each at a place."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        at = random.randint(0, len(changed))
        size = random.choice((1, 1, 2, 8, random.randint(0, 200)))
        match random.randrange(8):
            case 0:
                if at < len(changed):
                    changed[at] ^= 1 << random.randrange(8)
            case 1:
                del changed[at : at + size]
            case 2:
                changed[at:at] = random.choice(WORDS)
            case 3:
                word = random.choice(WORDS)
                changed[at : at + len(word)] = word
            case 4:
                changed[at:at] = changed[at : at + size] * random.choice((1, 2, 16))
            case 5:
                start = random.randint(0, len(other))
                changed[at : at + size] = other[start : start + size]
            case 6:
                changed[at:at] = random.randbytes(min(size, 16))
            case _:
                del changed[at:]
    return bytes(changed[:MOST_BYTES])


@dataclass
class Found:
    """How many inputs were tried, and in how many ways they ended."""

    inputs: int
    ways: int


def fuzz(target: Target, seed: int, inputs: int) -> Found:
    """So many inputs are tried. It raises what a target does, and where it hangs; for that it has
    to be the main thread."""
    signal.signal(signal.SIGPROF, _hangs)
    try:
        return _fuzz(target, seed, inputs)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _hangs(_: int, __: FrameType | None) -> NoReturn:
    raise TimeoutError(f"one input takes more than {A_HANG} s")


def _fuzz(target: Target, seed: int, inputs: int) -> Found:
    random = Random(seed)
    kept = list(target.seeds())
    ways = {target.run(data) for data in kept}
    for tried in range(inputs):
        data = mutate(random.choice(kept), random.choice(kept), random)
        signal.setitimer(signal.ITIMER_PROF, A_HANG)
        try:
            way = target.run(data)
        except BaseException as error:
            error.add_note(f"{target.name}, seed {seed}, input {tried}: {data!r}")
            raise
        if way not in ways and len(kept) < MOST_KEPT:
            ways.add(way)
            kept.append(data)
    return Found(inputs, len(ways))


def most_memory() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
