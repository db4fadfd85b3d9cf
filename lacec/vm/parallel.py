"""One function over many items, on all cores. NumPy works outside the interpreter's lock."""

import os
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# More threads wait for the interpreter and for memory more than they do.
_MOST = 4


def in_order(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> Generator[Result, None, None]:
    """The result for each item, in order; what is not taken need not be made."""
    threads = min(_MOST, os.cpu_count() or 1, len(items))
    if threads < 2:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)
