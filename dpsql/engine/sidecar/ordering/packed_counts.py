"""A row's four counts of a column, which are one integer while rows wait to be put in order.

So many rows of its unit have its value; it is the so-many-th of its unit's values; so many values
its unit has; and it is the so-many-th of the rows with its value, from 1 on, from the lowest bits
to the highest. Each has 16 bits and is capped.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.engine.sidecar.row_columns import COUNT_CAP

Indices = NDArray[np.int64]
Numbers = NDArray[np.uint64]
Counts = NDArray[np.uint16]

_AT_ONCE: Final = 100_000
"""Rows whose counts are split at a time: what is picked of so many stays in caches."""


class ValueCounts(Struct, frozen=True):
    """The packed `counts` of each row, in the order of blocks.

    `max_rows` is each unit's highest number of rows of one value.
    """

    counts: Numbers
    max_rows: Indices

    def of_rows(self, indices: Indices, kinds: int) -> tuple[Counts, ...]:
        """Each of the first `kinds` of counts, of the rows with these indices."""
        split = tuple(np.empty(len(indices), dtype=np.uint16) for _ in range(kinds))
        for start in range(0, len(indices), _AT_ONCE):
            end = start + _AT_ONCE
            counts = self.counts[indices[start:end]]
            for number, each in enumerate(split):
                each[start:end] = counts >> _below(number)  # the lowest bits are left
        return split


class SortedValues(Struct, frozen=True):
    """Rows that are sorted by unit and value: where each begins, and how many it has.

    Value n has the `rows` that begin at `first_rows[n]`, and unit n the `values` that begin at
    `first_values[n]`.
    """

    first_rows: Indices
    rows: Indices
    first_values: Indices
    values: Indices

    def packed(self) -> Numbers:
        """The counts of each row, where no unit has more than COUNT_CAP.

        Ranks and numbers begin anew with each unit and value. What they would be too high by is
        taken away before it is repeated; what is borrowed of higher bits is given back by then.
        """
        of_unit = _placed(self.values, 2) - _placed(self.first_values, 1)
        of_value = np.repeat(of_unit, self.values)
        of_value += self.rows.view(np.uint64)
        of_value += _placed(np.arange(1, len(self.rows) + 1), 1)
        of_value -= _placed(self.first_rows, 3)
        of_row = np.repeat(of_value, self.rows)
        of_row += _placed(np.arange(1, len(of_row) + 1), 3)
        return of_row

    def packed_and_capped(self) -> Numbers:
        """The counts of each row."""
        ranks = np.arange(1, len(self.rows) + 1) - np.repeat(self.first_values, self.values)
        values = np.repeat(self.values, self.values)
        of_value = sum(_placed(_capped(c), n) for n, c in enumerate((self.rows, ranks, values)))
        of_row = np.repeat(of_value, self.rows)
        numbers = np.arange(1, len(of_row) + 1) - np.repeat(self.first_rows, self.rows)
        return of_row + _placed(_capped(numbers), 3)


def capped(counts: Indices) -> Counts:
    """Counts of 16 bits: COUNT_CAP means so many or more."""
    return _capped(counts).astype(np.uint16)


def _capped(counts: Indices) -> Indices:
    return np.minimum(counts, COUNT_CAP)


def _placed(counts: Indices, number: int) -> Numbers:
    """The counts of this number, from 0 on, in their bits."""
    return counts.view(np.uint64) << _below(number)


def _below(number: int) -> np.uint64:
    """How many bits are below those of this count."""
    return np.uint64(16 * number)
