"""Partition summaries of send sets (050, D19) that no computer holds: counts and Merkle roots.

In: the claims of both sides, as tables. Out: for each side the summary of the empty prefix
and those of the prefixes of standard length. The digests of a tree are cut into buckets by
their first bits. Counts of the buckets tell the place of each bucket's first leaf; with it
executors find the largest subtrees over each bucket, and only these come here.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import accumulate
from math import ceil, log2
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from lacec.runtime.interlace.reconcile.partitions import SYMBOLS, Summary
from lacec.runtime.interlace.reconcile.subtrees import Subtree, join_subtrees
from lacec.spark.advertising import SUBTREE_COLUMNS, Tree
from lacec.spark.archive import Executors

PREFIX_LENGTH = 2  # 050: the standard one
# A bucket is so many digests or fewer, if they fall as chance has it.
BUCKET = 2**14
# Buckets are made by the first two bytes of digests.
_BITS = 16


def prefix_of(hash: str) -> Column:
    """The partition of standard length that the hash in a column falls into."""
    return F.substring(hash, 3, PREFIX_LENGTH)


def summarise(
    claims: Sequence[DataFrame], sizes: Sequence[int], executors: Executors, bucket: int = BUCKET
) -> list[dict[str, Summary]]:
    """For each side its summaries by prefix; of standard length those that are not empty."""
    whole, standard = F.lit(""), prefix_of("hash")
    parts = []
    for side, (frame, size) in enumerate(zip(claims, sizes, strict=True)):
        parts.append(frame.select(*_leaf(side, whole, _bits(size, bucket))))
        few = size / len(SYMBOLS) ** PREFIX_LENGTH
        parts.append(frame.select(*_leaf(side, standard, _bits(few, bucket))))
    leaves = reduce(DataFrame.unionAll, parts)
    counts = leaves.groupBy("side", "prefix", "bucket").count().collect()
    firsts, totals = _places({tuple(row[:3]): row[3] for row in counts})
    ordered = leaves.repartition("side", "prefix", "bucket").sortWithinPartitions(*leaves.columns)
    schema = from_arrow_schema(SUBTREE_COLUMNS)
    planted = executors.run(ordered, "lacec.spark.advertising:plant", schema, firsts).toArrow()
    trees: dict[Tree, list[Subtree]] = defaultdict(list)
    for side, prefix, *subtree in zip(*(c.to_pylist() for c in planted.columns), strict=True):
        trees[side, prefix].append(Subtree(*subtree))
    empty = {(side, ""): 0 for side in range(len(claims))}
    found: list[dict[str, Summary]] = [{} for _ in claims]
    for (side, prefix), total in sorted((empty | totals).items()):
        root = join_subtrees(trees[side, prefix], total)
        found[side][prefix] = Summary(prefix, total, root)
    return found


def _leaf(side: int, prefix: Column, bits: int) -> list[Column]:
    start = F.conv(F.hex(F.substring("digest", 1, _BITS // 8)), 16, 10).cast("int")
    return [
        F.lit(side).alias("side"),
        prefix.alias("prefix"),
        F.shiftright(start, _BITS - bits).alias("bucket"),
        F.col("digest"),
    ]


def _bits(count: float, bucket: int) -> int:
    return min(_BITS, ceil(log2(count / bucket))) if count > bucket else 0


def _places(
    counts: Mapping[tuple[Any, ...], int],
) -> tuple[dict[tuple[int, str, int], int], dict[Tree, int]]:
    """The place of the first leaf of each bucket in its tree, and how many leaves a tree has."""
    of_tree: dict[Tree, dict[int, int]] = defaultdict(dict)
    for (side, prefix, bucket), count in sorted(counts.items()):
        of_tree[side, prefix][bucket] = count
    firsts = {
        (*tree, bucket): first
        for tree, buckets in of_tree.items()
        for bucket, first in zip(buckets, accumulate(buckets.values(), initial=0), strict=False)
    }
    return firsts, {tree: sum(buckets.values()) for tree, buckets in of_tree.items()}
