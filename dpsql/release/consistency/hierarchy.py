"""Noisy levels of which each divides the one before, made to add up: Hay et al. 2010.

    all rows          100 ± 6
    F, M               60 ± 6   49 ± 6
    F 1, F 2, M 1, M 2 …

Least squares in two passes, whatever the noise of each level and however many children a cell has.
Upwards, a cell's own value and its children's sum are weighted by their inverse variances;
downwards, the difference of a parent's value and its children's sum is divided among the children
by their variances. Cells are rounded along a line in which every cell of every level is a stretch:
a released cell is the difference of two rounded sums, so that it is less than 1 off and adds up
exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.integer_arrays import rounded

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDING = 1 / 6
"""The variance of the difference of two numbers' rounding."""


class Hierarchy(Struct, frozen=True):
    """Levels of cells from the coarsest to the finest, each of which divides the one before.

    `parents[n]` has, for each cell of level n + 1, the index of its parent in level n. `sizes` are
    the levels' numbers of cells. Each cell but those of the finest level has at least one child.
    """

    sizes: tuple[int, ...]
    parents: tuple[Indices, ...]

    def variances(self, own: Sequence[float]) -> tuple[float, ...]:
        """The largest variance of a cell of each level, once added up; `own` are the noises'."""
        known, below = self._upwards(own)
        left = [known[0]]
        for level, parents in enumerate(self.parents):
            part = known[level + 1] / below[level][parents]
            rest = known[level + 1] * (1 - part)
            left.append(rest + part**2 * left[level][parents])
        return tuple(float(each.max()) + _ROUNDING for each in left)

    def solved(self, noisy: Sequence[Integers], own: Sequence[float]) -> tuple[Integers, ...]:
        """The integer levels that add up and are nearest to `noisy`, weighted by inverse variances.

        `own` are the variances of the levels' noise.
        """
        known, below = self._upwards(own)
        values = [level.astype(np.float64) for level in noisy]
        summed: list[Floats] = []
        for level in reversed(range(len(self.parents))):
            total = self._sums(level, values[level + 1])
            summed.insert(0, total)
            values[level] = known[level] * (values[level] / own[level] + total / below[level])
        for level, parents in enumerate(self.parents):
            lacking = (values[level] - summed[level]) / below[level]
            values[level + 1] += known[level + 1] * lacking[parents]
        return self._whole(values[-1])

    def _upwards(self, own: Sequence[float]) -> tuple[list[Floats], list[Floats]]:
        """The variance of each cell given all cells below it, and of the sum of its children."""
        known = [np.full(size, of_level) for size, of_level in zip(self.sizes, own, strict=True)]
        below: list[Floats] = []
        for level in reversed(range(len(self.parents))):
            below.insert(0, self._sums(level, known[level + 1]))
            known[level] = 1 / (1 / known[level] + 1 / below[0])
        return known, below

    def _sums(self, level: int, children: Floats) -> Floats:
        """The sum of each cell's children."""
        sums = np.bincount(self.parents[level], children, self.sizes[level])
        return np.asarray(sums, dtype=np.float64)

    def _whole(self, finest: Floats) -> tuple[Integers, ...]:
        """The finest level rounded to integers, and the coarser levels as sums of it."""
        ancestors = [np.arange(self.sizes[-1])]
        for parents in reversed(self.parents):
            ancestors.insert(0, parents[ancestors[0]])
        line = np.lexsort(ancestors[::-1])
        ends = rounded(np.cumsum(finest[line]))
        cells = np.empty_like(ends)
        cells[line] = np.diff(ends, prepend=0)
        levels: list[Integers] = [cells]
        for level in reversed(range(len(self.parents))):
            sums = np.zeros(self.sizes[level], dtype=cells.dtype)
            np.add.at(sums, self.parents[level], levels[0])
            levels.insert(0, sums)
        return tuple(levels)
