"""Measured margins → estimates of every margin, in closed form as far as they were measured.

A margin over a set A of axes is the sum of its residuals: of what each B within A adds to the sets
below it, spread evenly over the other axes of A,
    (M_A·x)[a] = Σ_{B ⊆ A} (P_B·M_B·x)[a_B] / Π_{i ∈ A∖B} n_i.
Each measured margin over S ⊇ B tells the residual of B once, with noise of S's variance times
Π_{i ∈ S∖B} n_i. Residuals are orthogonal parts of a margin, so that averages of them by precisions
are the least squares of all measurements together (Mullins, Fuentes, Xiao, Kifer, Musco & Sheldon
2024, "Efficient and Private Marginal Reconstruction with Local Non-Negativity", GReM-MLE; Xiao, He,
Zhang & Kifer 2023, "ResidualPlanner+"). From the smallest set on, each margin is moved to the
nearest one without counts below zero that adds up to those below it.

A set that is within no measured one has no such estimate. Its margin is the most even one that
agrees with the largest sets within it that have one. Of a and c, each measured with b, that is made
of all three, and summed over b: what they have in common by b is no part of what is even.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsql.release.synopsis.cell_partition import Partition, Shape
from dpsql.release.synopsis.factored.margin_choice import Axes
from dpsql.release.synopsis.factored.nonnegative import interaction, nonnegative
from dpsql.release.synopsis.factored.raking import raked
from dpsql.release.synopsis.weight_fit import Estimates, Measured

_MAX_LINKS, _MAX_LINKED_CELLS = 2, 20_000
"""So many axes are summed over at most, of margins of no more cells."""


class MarginModel:
    """The estimates of all margins of a grid of `shape`, by what is `measured` alone.

    The number of rows is measured, and all else that is are margins.
    """

    def __init__(self, shape: Shape, measured: Sequence[Measured]) -> None:
        self._shape = shape
        self._measured = [
            (axes, one.counts.reshape([shape[axis] for axis in axes]), one.variance)
            for one in measured
            for axes in [one.partition.single_axes]
        ]
        self._sets = {frozenset(axes) for axes, _, _ in self._measured}
        self._margins: dict[Axes, Estimates] = {}
        self._residuals: dict[Axes, Estimates] = {}

    def box_sums(self, partition: Partition) -> NDArray[Any]:
        """The estimates of `partition`, a margin, in its boxes' shape."""
        return self.margin(partition.single_axes).reshape(partition.box_shape)

    def margin(self, axes: Axes) -> Estimates:
        """The estimated counts of the margin over `axes`, each of two values or more."""
        estimates = self._margins.get(axes)
        if estimates is None:
            estimates = self._known(axes) if self._is_known(axes) else self._even(axes)
            self._margins[axes] = estimates
        return estimates

    def _is_known(self, axes: Axes) -> bool:
        return any({*axes} <= measured for measured in self._sets)

    def _known(self, axes: Axes) -> Estimates:
        """The sum of all residuals, without counts below zero."""
        below = sum(
            (
                self._spread(part, axes, self._residual(part))
                for part in _parts(axes)
                if part != axes
            ),
            np.zeros([self._shape[axis] for axis in axes]),
        )
        return nonnegative(below + interaction(self._mean(axes)) if axes else self._mean(axes))

    def _residual(self, axes: Axes) -> Estimates:
        """What the margin over `axes`, as it is estimated, adds to those below it."""
        if axes not in self._residuals:
            self._residuals[axes] = interaction(self.margin(axes))
        return self._residuals[axes]

    def _mean(self, axes: Axes) -> Estimates:
        """The margin over `axes` by all that were measured above it, each by its precision."""
        total, precision = np.zeros([self._shape[axis] for axis in axes]), 0.0
        for measured, counts, variance in self._measured:
            if {*axes} <= {*measured}:
                others = [axis for axis in measured if axis not in axes]
                merged = tuple(measured.index(axis) for axis in others)
                weight = 1 / (variance * math.prod(self._shape[axis] for axis in others))
                total = total + weight * counts.sum(axis=merged)
                precision += weight
        return total / precision

    def _spread(self, part: Axes, axes: Axes, residual: Estimates) -> Estimates:
        """What a residual adds to each cell of a larger margin, to be broadcast."""
        others = [axis for axis in axes if axis not in part]
        positions = tuple(axes.index(axis) for axis in others)
        return np.expand_dims(residual, positions) / math.prod(self._shape[axis] for axis in others)

    def _even(self, axes: Axes) -> Estimates:
        """The most even margin that agrees with those that were measured of its axes and links."""
        linked = self._linked(axes)
        if linked != axes:
            merged = tuple(linked.index(axis) for axis in linked if axis not in axes)
            return np.asarray(self._raked(linked).sum(axis=merged))
        return self._raked(axes)

    def _linked(self, axes: Axes) -> Axes:
        """`axes` with up to two others that were measured with several of them, each by itself."""
        for _ in range(_MAX_LINKS):
            links = [(self._pairs_linked(axes, axis), -axis) for axis in range(len(self._shape))]
            gain, link = max(links)
            if not gain:
                break
            axes = tuple(sorted((*axes, -link)))
        return axes

    def _pairs_linked(self, axes: Axes, link: int) -> int:
        """How many pairs of `axes` were each measured with `link`, and never together."""
        cells = math.prod(self._shape[axis] for axis in axes) * self._shape[link]
        if link in axes or self._shape[link] < 2 or cells > _MAX_LINKED_CELLS:
            return 0
        near = [axis for axis in axes if self._is_known((axis, link))]
        return sum(not self._is_known(pair) for pair in combinations(near, 2))

    def _raked(self, axes: Axes) -> Estimates:
        """The most even margin that agrees with those that were measured of some of `axes`."""
        sets = {tuple(axis for axis in axes if axis in measured) for measured in self._sets}
        known = [one for one in sets if not any({*one} < {*other} for other in sets)]
        margins = {
            tuple(axes.index(axis) for axis in part): np.maximum(self.margin(part), 0.0)
            for part in sorted(known)
        }
        return raked(tuple(self._shape[axis] for axis in axes), margins)


def _parts(axes: Axes) -> Iterator[Axes]:
    """All subsets of `axes`, the smallest first."""
    for size in range(len(axes) + 1):
        yield from combinations(axes, size)
