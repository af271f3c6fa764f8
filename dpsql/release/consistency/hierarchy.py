"""Noisy levels of which each divides the one before, made to add up: Hay et al. 2010.

    all rows          100 ± 6
    F, M               60 ± 6   49 ± 6
    F 1, F 2, M 1, M 2 …

Least squares in two passes, whatever the noise of each level and however many children a cell has.
Up, a cell's own value and its children's sum are weighted by their inverse variances; down, what
the children lack of what their parent is known to be is divided among them by their variances.
Cells are rounded along a line in which every cell of every level is a stretch: what is shown is the
difference of two rounded sums, so that it is less than 1 off and adds up exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.integer_arrays import rounded

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDING = 1 / 6
"""The variance of the difference of two numbers' rounding."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Levels from the coarsest on; `parents[n]` has each cell's place in level n for level n + 1.

    `sizes` are the levels' numbers of cells. Each cell but the finest has at least one child.
    """

    sizes: tuple[int, ...]
    parents: tuple[Indices, ...]

    def variances(self, own: Sequence[float]) -> tuple[float, ...]:
        """Of each level the largest variance of a cell that adds up, `own` being the noise's."""
        known, below = self._upwards(own)
        left = [known[0]]
        for level, parents in enumerate(self.parents):
            part = known[level + 1] / below[level][parents]
            rest = known[level + 1] * (1 - part)
            left.append(rest + part**2 * left[level][parents])
        return tuple(float(each.max()) + _ROUNDING for each in left)

    def solved(self, noisy: Sequence[Integers], own: Sequence[float]) -> tuple[Integers, ...]:
        """The levels nearest to `noisy` ones, by inverse variances, that add up: integers."""
        known, below = self._upwards(own)
        found = [level.astype(np.float64) for level in noisy]
        summed: list[Floats] = []
        for level in reversed(range(len(self.parents))):
            total = self._sums(level, found[level + 1])
            summed.insert(0, total)
            found[level] = known[level] * (found[level] / own[level] + total / below[level])
        for level, parents in enumerate(self.parents):
            lacking = (found[level] - summed[level]) / below[level]
            found[level + 1] += known[level + 1] * lacking[parents]
        return self._whole(found[-1])

    def _upwards(self, own: Sequence[float]) -> tuple[list[Floats], list[Floats]]:
        """Variances with what is below a cell, and of the sums of the cells right below it."""
        known = [np.full(size, of_level) for size, of_level in zip(self.sizes, own, strict=True)]
        below: list[Floats] = []
        for level in reversed(range(len(self.parents))):
            below.insert(0, self._sums(level, known[level + 1]))
            known[level] = 1 / (1 / known[level] + 1 / below[0])
        return known, below

    def _sums(self, level: int, children: Floats) -> Floats:
        sums = np.bincount(self.parents[level], children, self.sizes[level])
        return np.asarray(sums, dtype=np.float64)

    def _whole(self, finest: Floats) -> tuple[Integers, ...]:
        """The finest level as integers, and the sums of them above it."""
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
