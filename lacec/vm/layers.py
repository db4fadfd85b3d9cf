"""A layer of symbols: values that never change, as arrays from memory or from a file.

A value of the layer has an id from `first` on. Each array is fetched when it is
first needed, so that a layer in a file costs only what is read of it.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from lacec.vm.arrays import among
from lacec.vm.text import PADDING, Bytes, Offsets, Words, hash_slices

Ids = npt.NDArray[np.int32]
Arrays = dict[str, npt.NDArray[Any]]
Load = Callable[[str], npt.NDArray[Any]]


# The names of the arrays of a layer.
ARRAYS = ("bytes", "offsets", "heads", "hashes", "hash_ids", "others")


class Layer:
    def __init__(self, first: int, count: int, load: Load) -> None:
        self.first = first
        self.count = count
        self.load = load

    @cached_property
    def buffer(self) -> Bytes:
        """The bytes of all values, one after the other, then padding."""
        return self.load("bytes")

    @cached_property
    def offsets(self) -> Offsets:
        """Where each value begins; one more than there are values."""
        return self.load("offsets")

    @cached_property
    def heads(self) -> Words:
        """The first eight bytes of each value."""
        return self.load("heads")

    @cached_property
    def hashes(self) -> Words:
        """The hashes that belong to values of this layer, sorted."""
        return self.load("hashes")

    @cached_property
    def hash_ids(self) -> Ids:
        """The value of each hash."""
        return self.load("hash_ids")

    @cached_property
    def others(self) -> Ids:
        """The values whose hash belongs to another, of this layer or one below."""
        return self.load("others")


def freeze(data: Bytes, offsets: Offsets, heads: Words, below: Sequence[Layer]) -> Layer:
    """A layer of values that no layer below has."""
    first = sum(layer.count for layer in below)
    hashes = hash_slices(data, offsets[:-1], offsets[1:])
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    owns = np.ones(len(order), bool)
    owns[1:] = ordered[1:] != ordered[:-1]
    for layer in below:
        owns &= ~among(ordered, layer.hashes)
    arrays: Arrays = {
        "bytes": data,
        "offsets": offsets,
        "heads": heads,
        "hashes": ordered[owns],
        "hash_ids": (order[owns] + first).astype(np.int32),
        "others": (np.sort(order[~owns]) + first).astype(np.int32),
    }
    return Layer(first, len(order), arrays.__getitem__)


def common_count(one: Sequence[Layer], other: Sequence[Layer]) -> int:
    """How many values two stacks of layers have in common from the bottom up."""
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False))
    return sum(layer.count for layer, _ in pairs)


def merge_layers(low: Layer, high: Layer) -> Layer:
    """Two layers as one, the second standing on the first; no value changes its id."""
    size = low.offsets[-1]
    hashes = np.concatenate((low.hashes, high.hashes))
    order = np.argsort(hashes, kind="stable")
    arrays: Arrays = {
        "bytes": np.concatenate((low.buffer[: len(low.buffer) - PADDING], high.buffer)),
        "offsets": np.concatenate((low.offsets[:-1], high.offsets + size)),
        "heads": np.concatenate((low.heads, high.heads)),
        "hashes": hashes[order],
        "hash_ids": np.concatenate((low.hash_ids, high.hash_ids))[order],
        "others": np.concatenate((low.others, high.others)),
    }
    return Layer(low.first, low.count + high.count, arrays.__getitem__)
