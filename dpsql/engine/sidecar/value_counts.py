"""What a sidecar counts of a column: of each row, its unit's rows with this value, and its values.

A row's number is a hash of its unit and its value. Rows are sorted by unit and number, so that rows
of one value are neighbours. Two values of one unit may have one number: `value_counts` then counts
nothing, and asks for numbers that tell them apart. What is counted of a unit follows from its own
rows and their positions in its own order, whichever numbers it took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.engine.sidecar.row_columns import COUNT_CAP
from dpsql.structs import field_names

_Any = TypeVar("_Any", bound=np.generic)

Indices = NDArray[np.int64]
Counts = NDArray[np.uint16]
Flags = NDArray[np.bool_]
Same = Callable[[Indices, Indices], Flags]
"""Of rows on the left and on the right, whether each has the value of the one on its right."""


_AT_ONCE: Final = 200_000
"""Rows that are counted at a time. Arrays of so many stay in the processor's caches, and their
memory is used again: of a million it takes three times as long a row."""

_INDEX_BITS: Final = 32
"""Of 63 bits, those that number rows: of a unit's number the others."""

_INDEX_MASK: Final = (1 << _INDEX_BITS) - 1


class UnitBlocks(Struct, frozen=True):
    """Rows in the order of their units: unit n has `sizes[n]` of the indices `rows`, one or more.

    `unit_numbers` has n beside each of these indices, and `positions` the row's place in the unit's
    own order: those of a unit are the numbers from its block's start on.
    """

    rows: Indices
    unit_numbers: Indices
    sizes: Indices
    positions: Indices

    @classmethod
    def of(cls, unit_of_row: Indices, order: Indices) -> UnitBlocks:
        """The blocks of rows of which each has the number of its unit, from 0 to the highest.

        Each unit's rows have their positions in this `order` of all rows, which is a permutation.
        """
        rows, unit_numbers = _by_unit(unit_of_row)
        in_order, _ = _by_unit(unit_of_row[order])
        position_of_row = _back(np.arange(len(rows)), order[in_order])
        return cls(rows, unit_numbers, np.bincount(unit_of_row), position_of_row[rows])

    def pieces(self) -> Iterator[UnitBlocks]:
        """The blocks in their order, few at a time: of some `_AT_ONCE` rows, or of one unit."""
        ends, first = np.cumsum(self.sizes), 0
        while first == 0 or first < len(ends):
            start = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, start + _AT_ONCE, side="right")))
            rows = slice(start, ends[last - 1] if len(ends) else 0)
            yield UnitBlocks(
                self.rows[rows],
                self.unit_numbers[rows] - first,
                self.sizes[first:last],
                self.positions[rows] - start,
            )
            first = last

    @property
    def starts(self) -> Indices:
        """Where each unit's block begins."""
        return np.cumsum(self.sizes) - self.sizes


class ValueCounts(Struct, frozen=True):
    """What is counted of a column, of each row in the order of blocks; counts are capped.

    `rows` of its unit have its value, which is the `rank`-th of its unit's `values`. It is the
    `number`-th of these rows by their positions, from 1 on. `max_rows` is each unit's highest
    number of rows of one value.
    """

    rows: Counts
    number: Counts
    rank: Counts
    values: Counts
    max_rows: Indices


def value_counts(blocks: UnitBlocks, numbers: NDArray[np.uint64], same: Same) -> ValueCounts | None:
    """Count by `numbers`, of each row; None if rows of one unit have one number and two values."""
    counted = []
    for piece in blocks.pieces():
        counts = _counts(piece, numbers, same)
        if counts is None:
            return None
        counted.append(counts)
    columns = {
        name: np.concatenate([getattr(each, name) for each in counted])
        for name in field_names(ValueCounts)
    }
    return ValueCounts(**columns)


def _counts(blocks: UnitBlocks, numbers: NDArray[np.uint64], same: Same) -> ValueCounts | None:
    """The same where all blocks are counted at once."""
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
    by_position = np.sort(value_numbers << _INDEX_BITS | blocks.positions[order]) & _INDEX_MASK
    starts = np.cumsum(value_sizes) - value_sizes
    numbers = np.arange(len(order)) - starts[value_numbers] + 1
    return ValueCounts(
        _back(capped(value_sizes)[value_numbers], order),
        _back(capped(numbers), by_position)[blocks.positions],
        _back(capped(ranks), order),
        np.repeat(capped(values), blocks.sizes),  # one for all rows of a unit
        np.maximum.reduceat(value_sizes, first_values) if len(values) else values,
    )


def _by_unit(unit_of_row: Indices) -> tuple[Indices, Indices]:
    """The rows sorted by unit and, of one unit, as they come; and the unit of each."""
    # One sort of integers is a tenth of the work of one that moves indices beside them.
    keys = np.sort(unit_of_row << _INDEX_BITS | np.arange(len(unit_of_row)))
    return keys & _INDEX_MASK, keys >> _INDEX_BITS


def capped(counts: Indices) -> Counts:
    """Counts of 16 bits: COUNT_CAP means so many or more."""
    return np.minimum(counts, COUNT_CAP).astype(np.uint16)


def _back(sorted_values: NDArray[_Any], order: Indices) -> NDArray[_Any]:
    values = np.empty_like(sorted_values)
    values[order] = sorted_values
    return values
