"""Whole columns of integers: int64 where all of them fit, Python's integers where one doesn't.

Both are exact. Nothing that may overflow is computed in int64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers

OUTSIDE_64_BITS = 2**63
"""All integers nearer to 0 than this fit int64."""


def of_column(column: pa.ChunkedArray) -> Integers:
    """The integers of a column, 0 for NULL; its type is integer, or decimal without a scale."""
    kind = column.type
    if not column.null_count and pa.types.is_signed_integer(kind):
        whole = column if column.type == pa.int64() else column.cast(pa.int64())
        return np.asarray(whole.to_numpy())
    if not column.null_count and pa.types.is_decimal128(kind) and not kind.scale:
        low, high = _halves(column)
        if np.array_equal(low >> 63, high):
            return low
    return of_list([0 if value is None else int(value) for value in column.to_pylist()])


def of_list(values: Sequence[int]) -> Integers:
    """`values` as an array of int64 if they fit, else of Python integers."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def rounded(values: NDArray[np.float64]) -> Integers:
    """The nearest integers, exact whatever their size."""
    whole = np.rint(values)
    if not whole.size or float(np.abs(whole).max()) < 2**62:
        return np.asarray(whole.astype(np.int64))
    return np.asarray(np.vectorize(int, otypes=[object])(whole))


def largest(values: Integers) -> int:
    """The largest absolute value; 0 if there are no values."""
    return max(abs(int(values.min())), abs(int(values.max()))) if values.size else 0


def summable(values: Integers) -> Integers:
    """`values` in an array in which no sum of them overflows: of Python integers, if need be."""
    if values.dtype != object and largest(values) * values.size >= OUTSIDE_64_BITS:
        return values.astype(object)
    return values


def combined(
    terms: Sequence[tuple[int, int]], vectors: Sequence[Integers], factor_limit: int = 1
) -> NDArray[np.int64] | None:
    """Σ factor · vectors[index] over the (index, factor) in `terms`.

    None if a vector is of Python integers, or `factor_limit` times the sum could overflow int64.
    """
    if any(vectors[index].dtype == object for index, _ in terms):
        return None
    reach = sum(abs(f) * max(largest(vectors[p]), 1) for p, f in terms)
    if factor_limit * reach >= OUTSIDE_64_BITS:
        return None
    sums = np.zeros(vectors[0].size if vectors else 0, dtype=np.int64)
    for index, factor in terms:
        sums += vectors[index] * np.int64(factor)
    return sums


def decimals(values: NDArray[np.int64], kind: pa.Decimal128Type) -> pa.Array:
    """`values` as an array of decimals of type `kind`, whose digits they are."""
    wide = np.empty((values.size, 2), dtype="<i8")
    wide[:, 0] = values
    wide[:, 1] = values >> 63
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(wide)])


def numbers(values: NDArray[Any]) -> pa.Array:
    """Machine numbers as an Arrow array over the same memory.

    `pa.array` looks for masks, for which it imports numpy.ma.
    """
    contiguous = np.ascontiguousarray(values)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(contiguous.dtype), contiguous.size, [None, pa.py_buffer(contiguous)]
    )


def _halves(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The low and high words of 128-bit integers."""
    parts = [np.empty((0, 2), dtype="<i8")]
    for chunk in filter(len, column.chunks):
        words = np.frombuffer(chunk.buffers()[1], dtype="<i8").reshape(-1, 2)
        parts.append(words[chunk.offset : chunk.offset + len(chunk)])
    both = np.concatenate(parts)
    return both[:, 0].copy(), both[:, 1].copy()
