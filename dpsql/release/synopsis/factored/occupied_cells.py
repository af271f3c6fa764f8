"""Exact counts of those cells of a large grid that have rows, summed to margins of all cells.

A cell without a row adds nothing to any margin, so the sums are those over the whole grid, of which
no list is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.integer_arrays import summable
from dpsql.release.synopsis.cell_partition import Partition, Shape


class OccupiedCells(Struct, frozen=True):
    """Cells of a grid of `shape`: along each axis the position of each, and the count of each.

    Each sum is found once, and kept: every round asks for those of all margins.
    """

    shape: Shape
    positions: tuple[NDArray[np.int64], ...]
    counts: Integers
    known_sums: dict[Partition, NDArray[Any]] = field(default_factory=dict)

    def box_sums(self, partition: Partition) -> NDArray[Any]:
        """The sum of the counts in each box of `partition`, in the boxes' shape: exact."""
        sums = self.known_sums.get(partition)
        if sums is None:
            sums = self.known_sums[partition] = self._summed(partition)
        return sums

    def _summed(self, partition: Partition) -> NDArray[Any]:
        counts = summable(self.counts)
        boxes = np.zeros(counts.size, dtype=np.int64)
        for positions, n, size in zip(self.positions, self.shape, partition.sizes, strict=True):
            if size < n:
                boxes = boxes * -(-n // size) + positions // size
        sums = np.zeros(partition.boxes, dtype=counts.dtype)
        np.add.at(sums, boxes, counts)
        return sums.reshape(partition.box_shape)
