"""Claims as bytes, for a file of this machine: columns as they are, and the values they name.

In: claims. Out: bytes, and claims again from bytes. A file may be damaged: everything that
would not be noticed later is checked when it is read, sizes first.
"""

import re
import struct

import numpy as np
from blake3 import blake3

from lacec.core.limits import DEFAULT_LIMITS
from lacec.records.links import is_typed_hash
from lacec.runtime.exchange.advertisement_columns import Columns, Fields, carry, columns_of
from lacec.runtime.interlace.advertisements import Claims
from lacec.vm.arrays import unique
from lacec.vm.symbols import Symbols
from lacec.vm.text import PADDING, Offsets

_COUNTS = struct.Struct("<4Q")  # records, fields, values, and the bytes of all values
_DIGEST = 32
_DECIMAL = re.compile("[0-9]{1,18}")


class UnpackError(ValueError):
    """Bytes that are no claims."""


def pack(claims: Claims) -> bytes:
    columns, symbols = columns_of(claims, DEFAULT_LIMITS), Symbols()
    rows, *named = columns.fields
    carried = carry([columns.ids, columns.sources, *named], columns.symbols, symbols)
    values = symbols.buffer[:-PADDING]
    counts = _COUNTS.pack(len(columns), len(rows), len(symbols), len(values))
    arrays = [symbols.offsets.astype("<i8"), rows.astype("<i4")]
    arrays += [column.astype("<i4") for column in carried]
    body = b"".join((counts, *(array.tobytes() for array in arrays), values.tobytes()))
    return blake3(body).digest() + body


def unpack(data: bytes) -> Columns:
    """The claims again; UnpackError if the bytes are not those that were packed."""
    body = memoryview(data)[_DIGEST:]
    if len(body) < _COUNTS.size:
        raise UnpackError("too short")
    records, fields, count, size = _COUNTS.unpack_from(body)
    if len(body) != _COUNTS.size + 8 * (count + 1) + 4 * (2 * records + 4 * fields) + size:
        raise UnpackError("another size than its counts say")
    if blake3(body).digest() != data[:_DIGEST]:
        raise UnpackError("another digest")
    at = _COUNTS.size
    offsets = np.frombuffer(body, "<i8", count + 1, at).astype(np.int64)
    at += 8 * (count + 1)
    columns = []
    for length, most in (
        (fields, records),
        (records, count),
        (records, count),
        *[(fields, count)] * 3,
    ):
        column = np.frombuffer(body, "<i4", length, at).astype(np.int32)
        if column.min(initial=0) < 0 or column.max(initial=-1) >= most:
            raise UnpackError("a number of nothing")
        columns.append(column)
        at += 4 * length
    rows, hashes, sources, *named = columns
    if (np.diff(hashes) <= 0).any():
        raise UnpackError("hashes that do not ascend")
    symbols = _symbols(body[at:], offsets)
    if not all(map(is_typed_hash, symbols.texts(hashes))):
        raise UnpackError("a hash that is none")
    if not all(map(_DECIMAL.fullmatch, symbols.texts(unique(named[1])))):
        raise UnpackError("an index that is no number")
    return Columns(symbols, hashes, sources, Fields(rows, *named))


def _symbols(values: memoryview, offsets: Offsets) -> Symbols:
    """The values in a table, where each has the number that it was packed with."""
    if offsets[0] != 0 or offsets[-1] != len(values) or (np.diff(offsets) < 0).any():
        raise UnpackError("values that begin nowhere")
    data = np.zeros(len(values) + PADDING, np.uint8)
    data[: len(values)] = np.frombuffer(values, np.uint8)
    str(values, "utf-8")  # UnicodeDecodeError, which is a ValueError too
    if (data[offsets[:-1]] & 0xC0 == 0x80).any():
        raise UnpackError("a value that begins within a character")
    symbols = Symbols()
    ids = symbols.intern_slices(data, offsets[:-1], offsets[1:])
    if not np.array_equal(ids, np.arange(len(ids))):
        raise UnpackError("a value twice")
    return symbols
