"""Noisy margins of one table, made to add up: generalised least squares, in closed form.

    sex x insured   9 cells ± 8        A table over all combinations of its factors' values, and
    sex             3 cells ± 8        any of its margins. For each set of factors there is what its
    insured         3 cells ± 8        values do together beyond what fewer do: a part that every
    all rows        1 cell  ± 8        margin with these factors holds, with noise of one shape.

So the parts of the margins are weighted by their inverse variances, each for itself. In a margin S
of n_S cells with noise of variance v, the part of the factors T, summed over the other factors, has
n_S / n_T · v times the projection on what T does together (analysis of variance); the parts of two
sets of factors are uncorrelated. A margin is the sum of its parts, T's divided by n_S / n_T.

Cells are rounded as differences of rounded sums: of all cells up to one, in every direction. A
released cell is off by at most 2^(|S| - 1), and all margins add up exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.integer_arrays import rounded
from dpsql.release.consistency.hierarchy import Floats, Indices

Factors = tuple[int, ...]
"""Indices of the factors of a margin, in ascending order."""


class Margins(Struct, frozen=True):
    """Margins of one table over all combinations of factors of these `sizes`.

    `levels` has the factors of each margin, distinct and in ascending order. `indices` has for each
    margin the position of each of its rows among all combinations of its factors, the last factor
    fastest.
    """

    sizes: tuple[int, ...]
    levels: tuple[Factors, ...]
    indices: tuple[Indices, ...]

    @property
    def work(self) -> int:
        """The number of floats that `solved` computes."""
        return sum(self._cells(level) * 2 ** len(level) for level in self.levels)

    def variances(self, own: Sequence[float]) -> tuple[float, ...]:
        """The variance of a cell of each margin after adding up; `own` are the margins' noises'."""
        precisions = self._precisions(own)
        return tuple(
            sum(
                (self._cells(part) / self._cells(level)) ** 2
                * math.prod(1 - 1 / self.sizes[factor] for factor in part)
                / precisions[part]
                for part in _parts(level)
            )
            + 2 ** len(level) / 12
            for level in self.levels
        )

    def solved(self, noisy: Sequence[Integers], own: Sequence[float]) -> tuple[Integers, ...]:
        """The integer margins that add up and are nearest to `noisy`, by inverse variances.

        `own` are the variances of the margins' noise.
        """
        sums: dict[Factors, Any] = {}
        for level, positions, values, variance in zip(
            self.levels, self.indices, noisy, own, strict=True
        ):
            grid = np.empty(self._cells(level))
            grid[positions] = values.astype(np.float64)
            for part, part_values in self._divided(level, grid.reshape(self._shape(level))):
                weight = self._cells(part) / (self._cells(level) * variance)
                sums[part] = sums.get(part, 0) + weight * part_values.reshape(self._shape(part))
        precisions = self._precisions(own)
        parts = {part: part_values / precisions[part] for part, part_values in sums.items()}
        margins = [self._joined(level, parts) for level in self.levels]
        whole = _whole(dict(zip(self.levels, margins, strict=True)))
        return tuple(
            np.asarray(whole[level].reshape(-1)[positions])
            for level, positions in zip(self.levels, self.indices, strict=True)
        )

    def _precisions(self, own: Sequence[float]) -> dict[Factors, float]:
        """The precision of each part: inverse variances summed over the margins that contain it."""
        precisions: dict[Factors, float] = {}
        for level, variance in zip(self.levels, own, strict=True):
            for part in _parts(level):
                weight = self._cells(part) / (self._cells(level) * variance)
                precisions[part] = precisions.get(part, 0) + weight
        return precisions

    def _divided(self, level: Factors, grid: Floats) -> Iterator[tuple[Factors, Floats]]:
        """The parts of a margin: sums over the other factors, less what fewer factors explain."""
        divided: list[tuple[Factors, Floats]] = [((), grid)]
        for axis, factor in enumerate(level):
            divided = [
                each
                for part, values in divided
                for each in (
                    (part, values.sum(axis, keepdims=True)),
                    ((*part, factor), values - values.mean(axis, keepdims=True)),
                )
            ]
        yield from divided

    def _joined(self, level: Factors, parts: dict[Factors, Floats]) -> Floats:
        """A margin as the sum of its parts."""
        margin: Floats = np.zeros(self._shape(level))
        for part in _parts(level):
            shape = [self.sizes[factor] if factor in part else 1 for factor in level]
            share = self._cells(part) / self._cells(level)
            margin += parts[part].reshape(shape) * share
        return margin

    def _cells(self, factors: Factors) -> int:
        return math.prod(self.sizes[factor] for factor in factors)

    def _shape(self, factors: Factors) -> tuple[int, ...]:
        return tuple(self.sizes[factor] for factor in factors)


def _parts(level: Factors) -> Iterator[Factors]:
    """All subsets of the factors of a margin."""
    for size in range(len(level) + 1):
        yield from combinations(level, size)


def _whole(margins: dict[Factors, Floats]) -> dict[Factors, Integers]:
    """Integers near `margins`, as differences of rounded cumulative sums.

    A cumulative sum at the end of an axis is one of the margin without that factor. Margins that
    share factors share those sums: what one has rounded, the others take over.
    """
    ends: dict[Factors, NDArray[Any]] = {}
    for level in sorted(margins, key=len, reverse=True):
        sums = margins[level]
        for axis in range(len(level)):
            sums = np.cumsum(sums, axis)
        rounded_sums = rounded(sums)
        slices = {p: tuple(slice(None) if f in p else -1 for f in level) for p in _parts(level)}
        for part, at in slices.items():
            if part in ends:
                rounded_sums[at] = ends[part]
        for part, at in slices.items():
            ends.setdefault(part, rounded_sums[at].copy())
    cells: dict[Factors, Integers] = {}
    for level in margins:
        whole = ends[level]
        for axis in range(len(level)):
            whole = np.diff(whole, axis=axis, prepend=0)
        cells[level] = whole
    return cells
