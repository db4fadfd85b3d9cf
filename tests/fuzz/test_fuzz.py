"""Fuzzing of all that reads what a peer says: no crash, no hang, no growth of memory."""

import multiprocessing
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutate import Found, fuzz, most_memory
from tests.fuzz.targets import TARGETS, WORDS

# How a seed ends that is read to its end.
READ = {
    "stream": {"OFFER whole=True"},
    "records": {"S", "B", "P"},
    "blocks": {" ".join(["malformed-fact-block"] * 5 + ["Request"])},
    "transcripts": {"read"},
    "recordings": {"read"},
}
INPUTS = 5_000  # for each target; `make fuzz` goes on for longer
SOAK_INPUTS = 1_000_000
WARM = 2000
GROWTH = 48 * 2**20


def fuzz_apart(name: str, seed: int, inputs: int) -> tuple[Found, int]:
    """In a process of its own: what was found, and how much its memory grew once it was warm."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_fuzz, (name, seed, inputs))


def _fuzz(name: str, seed: int, inputs: int) -> tuple[Found, int]:
    fuzz(TARGETS[name], seed, WARM)
    before = most_memory()
    found = fuzz(TARGETS[name], seed + 1, inputs)
    return found, most_memory() - before


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(name: str) -> None:
    """A fuzzer whose seeds are refused at once would find nothing."""
    target = TARGETS[name]
    ways = {target.run(seed) for seed in target.seeds()}
    assert ways & READ[name]


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_seeds(name: str) -> None:
    found, growth = fuzz_apart(name, 1, INPUTS)
    assert found.inputs == INPUTS
    assert found.ways > 3, "the mutations reach something"
    assert growth < GROWTH


@pytest.mark.soak
@pytest.mark.parametrize("name", TARGETS)
def test_millions_of_mutated_seeds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = monotonic()
    found, growth = fuzz_apart(name, 2, SOAK_INPUTS)
    seconds = monotonic() - start
    assert found.inputs == SOAK_INPUTS
    assert growth < GROWTH
    with capsys.disabled():
        grown = f"{growth / 2**20:.1f} MiB more"
        print(f"\n{name}: {found.inputs} inputs, {found.ways} ends, {grown}, {seconds:.0f} s")


# Words in an order that nobody would write: hypothesis makes a failure small.
words = st.lists(st.sampled_from(WORDS) | st.binary(max_size=12), max_size=30).map(b"".join)


@pytest.mark.parametrize("name", TARGETS)
@given(data=words)
@settings(max_examples=150, deadline=None)
def test_words_in_any_order(name: str, data: bytes) -> None:
    assert isinstance(TARGETS[name].run(data), str)
