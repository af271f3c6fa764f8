"""What a sidecar counts of a column: of each row, its unit's rows with this value, and its values.

A row's number is a hash of its unit and its value. Rows are sorted by unit and number, so that rows
of one value are neighbours. Two values of one unit may have one number: `value_counts` then counts
nothing, and asks for numbers that tell them apart. What is counted of a unit follows from its own
rows, whichever numbers it took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.engine.sidecar.row_columns import COUNT_CAP

_Any = TypeVar("_Any", bound=np.generic)

Indices = NDArray[np.int64]
Counts = NDArray[np.uint16]
Flags = NDArray[np.bool_]
Same = Callable[[Indices, Indices], Flags]
"""Of rows on the left and on the right, whether each has the value of the one on its right."""


class UnitBlocks(Struct, frozen=True):
    """Rows in the order of their units: unit n has `sizes[n]` of the indices `rows`, one or more.

    `unit_numbers` has n beside each of these indices.
    """

    rows: Indices
    unit_numbers: Indices
    sizes: Indices

    @classmethod
    def of(cls, unit_of_row: Indices) -> UnitBlocks:
        """The blocks of rows of which each has the number of its unit, from 0 to the highest."""
        rows = np.argsort(unit_of_row, kind="stable")
        return cls(rows, unit_of_row[rows], np.bincount(unit_of_row))

    @property
    def starts(self) -> Indices:
        """Where each unit's block begins."""
        return np.cumsum(self.sizes) - self.sizes


class ValueCounts(Struct, frozen=True):
    """What is counted of a column, of each row in the order of blocks; counts are capped.

    `rows` of its unit have its value, which is the `rank`-th of its unit's `values`. `first` is
    true in one row of each value. `max_rows` is each unit's highest number of rows of one value.
    """

    rows: Counts
    rank: Counts
    values: Counts
    first: Flags
    max_rows: Indices


def value_counts(blocks: UnitBlocks, numbers: NDArray[np.uint64], same: Same) -> ValueCounts | None:
    """Count by `numbers`, of each row; None if rows of one unit have one number and two values."""
    # The unit's number stands before as much of the row's number as there is room for: one sort of
    # integers does for both.
    bits = np.uint64(max(1, len(blocks.sizes).bit_length()))
    keys = numbers[blocks.rows] >> bits
    keys |= blocks.unit_numbers.astype(np.uint64) << (np.uint64(64) - bits)
    order = np.argsort(keys)
    keys = keys[order]
    begins = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    (again,) = np.nonzero(~begins)
    sorted_rows = blocks.rows[order]
    if not same(sorted_rows[again - 1], sorted_rows[again]).all():
        return None
    return _counted(blocks, order, begins)


def _counted(blocks: UnitBlocks, order: Indices, begins: Flags) -> ValueCounts:
    """The counts where rows in `order` are sorted by unit and value, and a value `begins`."""
    value_sizes = np.diff(np.append(np.flatnonzero(begins), len(begins)))
    value_numbers = np.cumsum(begins) - 1
    first_values = value_numbers[blocks.starts]  # of each unit
    values = np.diff(np.append(first_values, len(value_sizes)))
    ranks = value_numbers - np.repeat(first_values, blocks.sizes) + 1
    return ValueCounts(
        _back(capped(value_sizes)[value_numbers], order),
        _back(capped(ranks), order),
        np.repeat(capped(values), blocks.sizes),  # one for all rows of a unit
        _back(begins, order),
        np.maximum.reduceat(value_sizes, first_values) if len(values) else values,
    )


def capped(counts: Indices) -> Counts:
    """Counts of 16 bits: COUNT_CAP means so many or more."""
    return np.minimum(counts, COUNT_CAP).astype(np.uint16)


def _back(sorted_values: NDArray[_Any], order: Indices) -> NDArray[_Any]:
    values = np.empty_like(sorted_values)
    values[order] = sorted_values
    return values
