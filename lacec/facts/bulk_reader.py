"""Files of fact lines (050, D17): facts from text into a database, and back.

In: the bytes of a file of lines `Predicate('constant',...)`, blank lines and `#`
lines. Out: columns of ids in a database, or a diagnostic for everything that is
wrong. Plain lines are found by the block (blocks.py); all others are read one
at a time.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lacec.core.diagnostics import Diagnostic, sort
from lacec.core.errors import FactError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.facts.blocks import File, Plain
from lacec.facts.line import Fact, carriage_return, read_line
from lacec.syntax.show import show_fact
from lacec.vm.database import Database, check_sizes
from lacec.vm.parallel import in_order
from lacec.vm.relation import Ids
from lacec.vm.symbols import Symbols
from lacec.vm.text import PADDING, Rows

MOST_PROBLEMS = 100
# Below this many bytes, reading line by line costs less than preparing to read by the block.
SMALL = 1 << 12
# Long enough that threads seldom wait for the interpreter, and short enough for the cache.
_BLOCK = 1 << 22


def read_facts(
    name: str, data: bytes, database: Database, limits: Limits
) -> tuple[Diagnostic, ...]:
    """Add the facts of a file to a database, or say in order what is wrong with them.

    LimitError when they are too many. After an error the database is not to be used.
    """
    reader = _Reader(name, data, limits)
    reader.read()
    if not reader.problems:
        reader.add_to(database)
    return sort(reader.problems, [name])[:MOST_PROBLEMS]


def write_facts(predicate: Predicate, rows: Iterable[Sequence[str]]) -> bytes:
    """A fact line for each row; FactError for a value that no line can hold."""
    lines = [_fact_line(predicate.name, row) for row in rows]
    text = "".join(lines)
    if "\r" in text or text.count("\n") > len(lines):
        raise FactError(f"a value of {predicate} has a line break, which a fact line cannot hold")
    return text.encode("utf-8")


def _fact_line(name: str, row: Sequence[str]) -> str:
    text = "','".join(row)
    if not row or "\\" in text or text.count("'") > 2 * len(row) - 2:
        return show_fact(name, *row) + "\n"
    return f"{name}('{text}')\n"


class _Reader:
    """What has been read of one file: plain lines as arrays, other facts as text, problems."""

    def __init__(self, file: str, data: bytes, limits: Limits) -> None:
        self.problems: list[Diagnostic] = []
        self._name = file
        self._limits = limits
        self._file = File(self._without_carriage_returns(data), limits, len(data) > _BLOCK)
        self._names: dict[bytes, int] = {}
        self._blocks: list[Plain] = []
        # The other facts: how many of each predicate, and their values one after the other.
        self._counts: dict[Predicate, int] = {}
        self._values: dict[Predicate, list[str]] = {}
        self._total = 0

    def _without_carriage_returns(self, data: bytes) -> bytes:
        """One problem for all lines that end in CR LF; they are then read like others."""
        at = data.find(b"\r\n") if b"\r" in data else -1  # one byte is found much faster
        if at < 0:
            return data
        count = data.count(b"\r\n")
        lines = "this line ends" if count == 1 else f"{count} lines end"
        before = data[data.rfind(b"\n", 0, at) + 1 : at].decode("utf-8", "replace")
        problem = carriage_return(len(before), f"{lines} in CR LF, and lines end in LF alone")
        self.problems.append(problem.at(self._name, data.count(b"\n", 0, at) + 1))
        return data.replace(b"\r\n", b"\n")

    def read(self) -> None:
        """Block by block, several at once; the last few lines are no block.

        Windows over the last line of a block must not reach past the buffer.
        """
        data, line = self._file.data, 1
        bounds = _blocks(data)
        for lines, plain, others in in_order(lambda of: self._file.read_block(*of), bounds):
            self._take(plain)
            for number, start, end in others:
                self._read_line(data[start:end], line + number)
            if len(self.problems) >= MOST_PROBLEMS:
                return
            line += lines
        for number, raw in enumerate(data[bounds[-1][1] if bounds else 0 :].split(b"\n"), line):
            self._read_line(raw, number)

    def _take(self, block: Plain | None) -> None:
        """Number the names of a block as those of the whole file."""
        if block is not None and len(block.named):
            known = [self._names.setdefault(name, len(self._names)) for name in block.names]
            self._blocks.append(block._replace(named=np.array(known).take(block.named)))
            self._count(len(block.named))

    def _read_line(self, raw: bytes, number: int) -> None:
        if len(self.problems) >= MOST_PROBLEMS:
            return
        found = read_line(raw, number == 1, self._limits)
        if isinstance(found, Fact):
            self._counts[found.predicate] = self._counts.get(found.predicate, 0) + 1
            self._values.setdefault(found.predicate, []).extend(found.values)
            self._count(1)
        elif found is not None:
            self.problems.extend(problem.at(self._name, number) for problem in found)

    def _count(self, facts: int) -> None:
        """Stop early where there are too many facts, whatever their predicates."""
        self._total += facts
        if self._total > self._limits.base_facts + self._limits.runtime_facts:
            self._check_counts(self._plain_groups())

    def _check_counts(self, groups: Mapping[Predicate, Rows]) -> None:
        counts = dict(self._counts)
        for predicate, rows in groups.items():
            counts[predicate] = counts.get(predicate, 0) + len(rows)
        check_sizes(counts, self._limits)

    def add_to(self, database: Database) -> None:
        """Intern the values, after a look at how many facts there are."""
        groups = self._plain_groups()
        self._check_counts(groups)
        for predicate, count in self._counts.items():
            ids = database.symbols.intern_all(self._values[predicate])
            columns = np.ascontiguousarray(ids.reshape(count, predicate.arity).T)
            database.add(predicate, list(columns), count)
        if not groups:
            return
        ids = self._intern(database.symbols)
        arities = np.concatenate([block.arities for block in self._blocks])
        first = np.cumsum(arities) - arities
        for predicate, rows in groups.items():
            at = first[rows]
            database.add(predicate, [ids[at + column] for column in range(predicate.arity)])

    def _intern(self, symbols: Symbols) -> Ids:
        """The ids of the values of all plain lines, one line after the other."""
        blocks, buffer = self._blocks, self._file.buffer
        starts = np.concatenate([block.starts for block in blocks])
        ends = np.concatenate([block.ends for block in blocks])
        if any(block.hashes is None for block in blocks):
            return symbols.intern_slices(buffer, starts, ends)
        hashes = np.concatenate([block.hashes for block in blocks])
        ids = symbols.intern_hashed(buffer, starts, ends, hashes)
        of_block = np.split(ids, np.cumsum([len(block.starts) for block in blocks])[:-1])
        each = [some[block.which] for some, block in zip(of_block, blocks, strict=True)]
        return np.concatenate(each)

    def _plain_groups(self) -> dict[Predicate, Rows]:
        """The plain lines of each predicate."""
        if not self._blocks:
            return {}
        most = self._limits.arity + 1
        keys = np.concatenate([block.named for block in self._blocks]) * most + np.concatenate(
            [block.arities for block in self._blocks]
        )
        small = keys.astype(np.min_scalar_type(len(self._names) * most))
        order = np.argsort(small, kind="stable")  # linear, for small numbers
        heads = np.flatnonzero(np.diff(keys[order], prepend=-1))
        names = [name.decode("ascii") for name in self._names]
        return {
            Predicate(names[key // most], key % most): rows
            for key, rows in zip(
                keys[order[heads]].tolist(), np.split(order, heads[1:]), strict=True
            )
        }


def _blocks(data: bytes) -> list[tuple[int, int]]:
    """Where each block of whole lines begins and ends."""
    last = data.rfind(b"\n", 0, -PADDING) + 1 if len(data) >= SMALL else 0
    found, at = [], 0
    while at < last:
        end = data.rfind(b"\n", at, at + _BLOCK) + 1 or data.index(b"\n", at) + 1
        found.append((at, min(end, last)))
        at = min(end, last)
    return found
