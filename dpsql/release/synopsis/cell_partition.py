"""Partitions of a grid of cells into boxes: each axis whole, or cut into blocks of neighbours.

An axis of 84 months is cut into blocks of 1, 2, 4, … 64 and 128: the last is the whole axis. A
partition has one size of blocks for each axis. Of an axis that has no order, neighbours have
nothing in common: it is whole, or each cell is a block. The partitions follow from the grid's shape
and from which axes have an order.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import product
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

MAX_PARTITIONS = 1_000
"""A round chooses among at most so many partitions: those with the fewest boxes."""

Shape = tuple[int, ...]


class CellTable(Protocol):
    """A table of a grid's cells that lists no cells, and can sum them."""

    def box_sums(self, partition: Partition, /) -> NDArray[Any]:
        """The sum of the cells in each box of `partition`, in its `box_shape`."""
        ...


class Partition(Struct, frozen=True):
    """Boxes of a grid of `shape`; `sizes` has the number of cells of a box along each axis."""

    shape: Shape
    sizes: tuple[int, ...]

    @property
    def boxes(self) -> int:
        """The number of boxes."""
        return math.prod(self.box_shape)

    @property
    def box_shape(self) -> Shape:
        """The number of boxes along each axis."""
        return tuple(-(-n // size) for n, size in zip(self.shape, self.sizes, strict=True))

    @property
    def single_axes(self) -> tuple[int, ...]:
        """The axes of several cells that it has in single ones: of a margin, what it is over."""
        axes = enumerate(zip(self.shape, self.sizes, strict=True))
        return tuple(axis for axis, (n, size) in axes if size == 1 < n)

    @property
    def merged(self) -> int:
        """The largest number of cells in a box."""
        return math.prod(min(n, size) for n, size in zip(self.shape, self.sizes, strict=True))

    def sums(self, cells: NDArray[Any] | CellTable) -> NDArray[Any]:
        """The sum of `cells`, of the grid's shape, in each box; exact for integers."""
        if not isinstance(cells, np.ndarray):
            return cells.box_sums(self)
        for axis, (n, size) in enumerate(zip(self.shape, self.sizes, strict=True)):
            if size > 1:
                cells = np.add.reduceat(cells, np.arange(0, n, size), axis=axis)
        return cells

    def spread(self, boxes: NDArray[Any]) -> NDArray[Any]:
        """The value of each cell's box, in the grid's shape."""
        for axis, (n, size) in enumerate(zip(self.shape, self.sizes, strict=True)):
            if size > 1:
                boxes = np.take(boxes, np.arange(n) // size, axis=axis)
        return boxes


def partitions(shape: Shape, unordered: Collection[int] = ()) -> tuple[Partition, ...]:
    """The partitions of the grid, by the number of boxes, without the one of a single box.

    The `unordered` axes are whole or in single cells.
    """
    sizes = [_sizes(n, is_ordered=axis not in unordered) for axis, n in enumerate(shape)]
    all_partitions = (Partition(shape, chosen) for chosen in product(*sizes))
    several = sorted((p for p in all_partitions if p.boxes > 1), key=lambda p: (p.boxes, p.sizes))
    return tuple(several[:MAX_PARTITIONS])


def count_partitions(shape: Shape, unordered: Collection[int] = ()) -> int:
    """The number of partitions that `partitions` returns."""
    sizes = [_sizes(n, is_ordered=axis not in unordered) for axis, n in enumerate(shape)]
    return min(math.prod(map(len, sizes)) - 1, MAX_PARTITIONS)


def _sizes(cells: int, *, is_ordered: bool) -> list[int]:
    """The sizes of blocks that an axis of so many cells may be cut into."""
    sizes = [2**k for k in range((cells - 1).bit_length() + 1)]
    return sizes if is_ordered else sorted({1, sizes[-1]})
