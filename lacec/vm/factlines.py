"""Files of fact lines (050, D17): facts from text into a database, and back.

In: the bytes of a file of lines `Predicate('constant',...)`, blank lines and `#`
lines. Out: columns of ids in a database, or a diagnostic for everything that is
wrong. Lines that are just that, with no escape and no white space, are plain: they
are found by the block, and no line and no value of theirs becomes a Python object.
All others are read one at a time.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lacec.diagnostics import Diagnostic, sort
from lacec.errors import FactError
from lacec.limits import Limits
from lacec.predicates import Predicate
from lacec.syntax.show import show_fact
from lacec.vm.database import Database, check_sizes
from lacec.vm.factline import Fact, carriage_return, is_predicate_name, read_line
from lacec.vm.relation import Ids
from lacec.vm.symbols import Symbols
from lacec.vm.text import PADDING, Bytes, Mask, Offsets, Rows, Words, hash_and_match

MOST_PROBLEMS = 100
# Below this many bytes, reading line by line costs less than preparing to read by the block.
SMALL = 1 << 12
# The bytes of a block, and what is made of them, stay in the processor's cache.
_BLOCK = 1 << 19
# The names of a block that are looked for in all its lines at once.
_FEW_NAMES = 8
_LF, _QUOTE, _BACKSLASH, _OPEN, _CLOSE, _COMMA = b"\n'\\(),"


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
        self._file = file
        self._limits = limits
        self._data = self._without_carriage_returns(data)
        self._buffer: Bytes = np.frombuffer(self._data, np.uint8)
        self._names: dict[bytes, int] = {}
        # For each block of plain lines: the number of each line's name and how many values
        # it has; the values as slices of the buffer. In a long file only those that differ,
        # with their hashes, and for each value which of them it is.
        self._named: list[Rows] = []
        self._arities: list[Rows] = []
        self._starts: list[Offsets] = []
        self._ends: list[Offsets] = []
        self._hashes: list[Words] = []
        self._which: list[Rows] = []
        self._different = 0
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
        self.problems.append(problem.at(self._file, data.count(b"\n", 0, at) + 1))
        return data.replace(b"\r\n", b"\n")

    def read(self) -> None:
        """Cut the file into blocks of whole lines; the last few lines are no block.

        Windows over the last line of a block must not reach past the buffer.
        """
        data = self._data
        blocks_end = data.rfind(b"\n", 0, -PADDING) + 1 if len(data) >= SMALL else 0
        at, line = 0, 1
        while at < blocks_end and len(self.problems) < MOST_PROBLEMS:
            end = data.rfind(b"\n", at, at + _BLOCK) + 1 or data.index(b"\n", at) + 1
            line += self._read_block(at, min(end, blocks_end), line)
            at = min(end, blocks_end)
        for number, raw in enumerate(data[at:].split(b"\n"), line):
            self._read_line(raw, number)

    def _read_block(self, at: int, end: int, first_line: int) -> int:
        """Read whole lines, and say how many they are."""
        text, block = self._data[at:end], self._buffer[at:end]
        mask = block == _QUOTE
        mask |= block == _LF
        marks = np.flatnonzero(mask)
        is_end = block[marks] == _LF
        marks += at
        nth = np.flatnonzero(is_end)
        ends = marks[nth]
        starts = np.concatenate(([at], ends[:-1] + 1))
        plain = np.zeros(len(ends), bool)
        if _is_sound(text):
            counts = np.diff(nth, prepend=-1) - 1
            plain = (counts & 1 == 0) & (counts > 0) & (counts <= 2 * self._limits.arity)
            if b"\\" in text:
                plain[np.searchsorted(ends, np.flatnonzero(block == _BACKSLASH) + at)] = False
            self._read_plain(starts, ends, marks[~is_end], counts, plain)
        for number in np.flatnonzero(~plain).tolist():
            self._read_line(self._data[starts[number] : ends[number]], first_line + number)
        return len(ends)

    def _read_plain(
        self, starts: Offsets, ends: Offsets, quotes: Offsets, counts: Rows, plain: Mask
    ) -> None:
        """Take those of the lines called plain that are; of the others, take the mark away."""
        rows = np.flatnonzero(plain)
        if not len(rows):
            return
        if len(rows) < len(plain):
            quotes = quotes[np.repeat(plain, counts)]
        opens, closes, arities = quotes[0::2], quotes[1::2], counts[rows] >> 1
        lasts = np.cumsum(arities) - 1
        firsts = lasts - arities + 1
        next_opens = np.empty(len(opens), np.intp)
        next_opens[:-1] = opens[1:]
        next_opens[lasts] = ends[rows]
        separators = np.full(len(opens), _COMMA, np.uint8)
        separators[lasts] = _CLOSE
        good = (next_opens - closes == 2) & (self._buffer[closes + 1] == separators)
        good &= closes - opens <= self._limits.value_bytes + 1
        names = self._numbers_of_names(starts[rows], opens[firsts] - 1)
        fits = names >= 0
        if not good.all():
            fits &= np.logical_and.reduceat(good, firsts)
        if not fits.all():
            plain[rows[~fits]] = False
            of_value = np.repeat(fits, arities)
            opens, closes = opens[of_value], closes[of_value]
            names, arities = names[fits], arities[fits]
        if not len(names):
            return
        self._named.append(names)
        self._arities.append(arities)
        self._count(len(names))
        if len(self._data) > _BLOCK:
            self._match(opens + 1, closes)
        else:
            self._starts.append(opens + 1)
            self._ends.append(closes)

    def _match(self, starts: Offsets, ends: Offsets) -> None:
        """Keep the values of a block that differ, while its bytes are in the cache."""
        hashes, same_as = hash_and_match(self._buffer, starts, ends)
        different = np.flatnonzero(same_as == np.arange(len(same_as)))
        number = np.empty(len(same_as), np.intp)
        number[different] = np.arange(self._different, self._different + len(different))
        self._which.append(number[same_as])
        self._starts.append(starts[different])
        self._ends.append(ends[different])
        self._hashes.append(hashes[different])
        self._different += len(different)

    def _numbers_of_names(self, starts: Offsets, ends: Offsets) -> Rows:
        """The number of the name a line begins with, -1 where none stands before a `(`."""
        numbers = np.full(len(starts), -1)
        lengths = ends - starts
        left = np.flatnonzero((self._buffer[ends] == _OPEN) & (lengths > 0))
        # A block has few names: all the lines that have the first, then the next.
        for _ in range(_FEW_NAMES):
            if not len(left):
                return numbers
            start, length = int(starts[left[0]]), int(lengths[left[0]])
            name = self._data[start : start + length]
            view = np.ndarray((len(self._data) - length,), f"S{length}", self._data, strides=(1,))
            same = lengths[left] == length
            same[same] = view[starts[left[same]]] == name
            numbers[left[same]] = self._number_of_name(name)
            left = left[~same]
        for row in left.tolist():
            numbers[row] = self._number_of_name(self._data[starts[row] : ends[row]])
        return numbers

    def _number_of_name(self, name: bytes) -> int:
        number = self._names.get(name, -1)
        if number < 0 and is_predicate_name(name.decode("utf-8")):
            number = self._names[name] = len(self._names)
        return number

    def _read_line(self, raw: bytes, number: int) -> None:
        if len(self.problems) >= MOST_PROBLEMS:
            return
        found = read_line(raw, number == 1, self._limits)
        if isinstance(found, Fact):
            self._counts[found.predicate] = self._counts.get(found.predicate, 0) + 1
            self._values.setdefault(found.predicate, []).extend(found.values)
            self._count(1)
        elif found is not None:
            self.problems.extend(problem.at(self._file, number) for problem in found)

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
        arities = np.concatenate(self._arities)
        first = np.cumsum(arities) - arities
        for predicate, rows in groups.items():
            at = first[rows]
            database.add(predicate, [ids[at + column] for column in range(predicate.arity)])

    def _intern(self, symbols: Symbols) -> Ids:
        """The ids of the values of all plain lines, one line after the other."""
        starts, ends = np.concatenate(self._starts), np.concatenate(self._ends)
        if not self._hashes:
            return symbols.intern_slices(self._buffer, starts, ends)
        hashes, which = np.concatenate(self._hashes), np.concatenate(self._which)
        return symbols.intern_hashed(self._buffer, starts, ends, hashes)[which]

    def _plain_groups(self) -> dict[Predicate, Rows]:
        """The plain lines of each predicate."""
        if not self._named:
            return {}
        most = self._limits.arity + 1
        keys = np.concatenate(self._named) * most + np.concatenate(self._arities)
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


def _is_sound(block: bytes) -> bool:
    """Whether whole lines are text that facts may hold; every part of NFC text is NFC."""
    if b"\r" in block:
        return False
    if block.isascii():
        return True
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return unicodedata.is_normalized("NFC", text)
