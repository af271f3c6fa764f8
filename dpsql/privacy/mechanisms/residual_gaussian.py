"""Gaussian noise on the residuals of marginals: what each adds to the marginals below it.

(Xiao, He, Zhang & Kifer 2023, "An Optimal and Scalable Matrix Mechanism for Noisy Marginals under
Convex Loss Functions".) Cells lie on a grid with n_i values along axis i. The marginal on a set A
of axes is M_A·x, the sums of the cells x over all other axes. Its residual is P_A·M_A·x, where P_A
takes the mean away along each axis of A. The residuals of all A within B are orthogonal parts of
the marginal on B:
    (M_B·x)[b] = Σ_{A ⊆ B} (P_A·M_A·x)[b_A] / Π_{i ∈ B∖A} n_i.
So that what is computed of noisy residuals adds up: each marginal sums to those below it.

With D_A = Π_{i ∈ A} n_i, D_A·P_A·M_A·x are integers, whatever the integers x are. Discrete Gaussian
noise of variance D_A²·s_A² on each of them, all independent, loses for two databases whose cells
differ by d
    ρ = Σ_A ‖D_A·P_A·M_A·d‖²/(2·D_A²·s_A²) = Σ_A ‖P_A·M_A·d‖²/(2·s_A²) = d·K·d/2
of zCDP, exactly (Canonne, Kamath & Steinke 2020, Theorem 14). Divided by D_A, and with P_A applied
once more, which leaves residuals what they are and takes the part of the noise away that is none,
the noise is P_A·G with independent G of variance s_A²: by postprocessing. With rounded Gaussian
noise of the same variances the same is 2ρ of μ² in Gaussian DP.

K[e, f] for two cells depends on S, the axes along which they agree, alone:
    K_S = Σ_A 1/s_A² · Π_{i ∈ A∩S} (1 - 1/n_i) · Π_{i ∈ A∖S} (-1/n_i),
and for a cell with itself it is K_all = Σ_A 1/s_A² · Π_{i ∈ A} (1 - 1/n_i). As K is positive
semidefinite, no K_S is above that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.noise.sampler import check_parameter
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness

Axes = tuple[int, ...]
"""The axes of a marginal, ascending: none for the total."""

Shape = tuple[int, ...]

RESIDUAL_NOISE: Final = "gaussian, on residuals of marginals"
"""The mechanism's name in reports."""

MAX_ENUMERATED_AXES = 8
"""Of so many axes all sets are looked at, along which two cells may agree."""


class Residual(Struct, frozen=True):
    """A measured residual: its axes, each of two values or more, and s², the noise's variance."""

    axes: Axes
    variance: Fraction

    def __post_init__(self) -> None:
        check_parameter(self.variance)
        if list(self.axes) != sorted(set(self.axes)):
            raise ValueError("axes are distinct, and ascending")


class UnitMoves(Struct, frozen=True):
    """How a unit that is added moves the cells: Σ|u| <= cells·per_cell, Σu² <= cells·per_cell².

    `is_signed`: it moves some up and others down.
    """

    cells: int
    per_cell: int
    is_signed: bool

    def __post_init__(self) -> None:
        if self.cells < 1 or self.per_cell < 1:
            raise ValueError("a unit moves a cell at least, by 1 at least")


class ResidualGaussian(Struct, frozen=True):
    """The residuals of one grid of integers, of `shape`, that are measured, each with its noise.

    Their noise is that of discrete Gaussians or, if `is_rounded`, of rounded ones.
    """

    shape: Shape
    residuals: tuple[Residual, ...]
    is_rounded: bool = False

    def __post_init__(self) -> None:
        for one in self.residuals:
            if any(axis >= len(self.shape) or self.shape[axis] < 2 for axis in one.axes):
                raise ValueError("a residual is along axes of two values or more")
        if len({one.axes for one in self.residuals}) != len(self.residuals):
            raise ValueError("each residual is measured once")

    def noise(self, residual: Residual) -> DiscreteGaussian | RoundedGaussian:
        """The noise of the integers of `residual`, which are D times what it is."""
        variance = residual.variance * self._scale(residual) ** 2
        return RoundedGaussian(variance) if self.is_rounded else DiscreteGaussian(variance)

    def rho(self, moves: UnitMoves, distance: NeighborDistance) -> Fraction:
        """Return the zCDP loss on neighbours at `distance`, of whose units each `moves` cells.

        If `is_rounded`, twice that is its μ².
        One unit has u·K·u <= K_all·Σu² + k·((Σ|u|)² - Σu²), where k >= K_S for all cells that
        differ, and k >= |K_S| where signs do. A unit in the place of another moves by u - v, and
        (u - v)·K·(u - v) <= u·K·u + v·K·v + 2·k'·Σu·Σv where k' >= -K_S, or without such a k' at
        most twice the first two. Several units' moves are no longer than all of one's together
        (triangle inequality).
        """
        own, alike, opposite = self._kernel()
        if moves.is_signed:
            alike = opposite = max(alike, opposite)
        cells = moves.cells
        one = cells * own + cells * (cells - 1) * alike
        if distance.is_replacement:
            # Signs of u - v in one cell may be any, and both units may be there: u·K·v in a shared
            # cell is positive where neither has a sign, and then only lessens the move.
            twice = 4 * one
            one = twice if moves.is_signed else min(twice, 2 * one + 2 * cells**2 * opposite)
        return (moves.per_cell * distance.units) ** 2 * one / 2

    def release(self, cells: Integers, randomness: Randomness) -> NDArray[np.float64]:
        """Return estimates of all `cells`, by measured residuals alone; those of others are 0.

        `cells` has the grid's shape, of int64 or Python integers. Raises ValueError for another.
        """
        if cells.shape != self.shape:
            raise ValueError("the cells have another shape")
        estimates = np.zeros(self.shape)
        for one in self.residuals:
            exact = scaled_residual(cells, one.axes)
            noisy = self.noise(one).release_vector(exact.ravel(), randomness)
            estimates += _spread(one.axes, noisy.astype(np.float64).reshape(exact.shape))
        estimates /= math.prod(self.shape)
        return estimates

    def variance(self, taken: Sequence[int]) -> Fraction | None:
        """Return the variance of the estimated sum over a box of `taken` values along each axis.

        None where it has a part that isn't measured, which noise doesn't tell. All values along an
        axis are a marginal that lacks it. The mean of P_A·G's squares is s_A²·(1 - 1/n_i) a cell
        along each axis: of m values it is m - m²/n.
        """
        narrowed = [
            n for n, (m, size) in enumerate(zip(taken, self.shape, strict=True)) if m < size
        ]
        if any(m < 1 for m in taken):
            raise ValueError("a box has a cell at least")
        parts = [one for one in self.residuals if set(one.axes) <= set(narrowed)]
        if len(parts) < 2 ** len(narrowed):
            return None
        total = Fraction(0)
        for one in parts:
            part = self.noise(one).variance / self._scale(one) ** 2
            for axis in narrowed:
                share = Fraction(taken[axis], self.shape[axis])
                part *= taken[axis] * (1 - share) if axis in one.axes else share**2
            total += part
        return total

    @property
    def finest_variance(self) -> Fraction:
        """The variance of a cell of the marginal whose residual was listed last."""
        finest = self.residuals[-1].axes
        box = [1 if axis in finest else size for axis, size in enumerate(self.shape)]
        variance = self.variance(box)
        if variance is None:
            raise ArithmeticError("a residual without those below it")
        return variance

    def _scale(self, residual: Residual) -> int:
        """D: the number of the cells of the marginal."""
        return math.prod(self.shape[axis] for axis in residual.axes)

    def _kernel(self) -> tuple[Fraction, Fraction, Fraction]:
        """K_all; the largest K_S of cells that differ; the largest -K_S of these; none below 0.

        Of many axes, both of the latter are bounds: |K_S| is at most the sum of its terms without
        their signs, which grows with S as 1/n_i <= 1 - 1/n_i, so that S lacks but one axis.
        """
        sizes, zero = self.shape, Fraction(0)
        terms = [
            (one.axes, 1 / (one.variance * math.prod(sizes[axis] for axis in one.axes)))
            for one in self.residuals
        ]
        own = sum((w * math.prod(sizes[a] - 1 for a in axes) for axes, w in terms), zero)
        measured = sorted({axis for axes, _ in terms for axis in axes})
        # Cells that differ along other axes alone move the same sums.
        values = [own] if any(n > 1 for a, n in enumerate(sizes) if a not in measured) else []
        if len(measured) > MAX_ENUMERATED_AXES:
            lost = dict.fromkeys(measured, zero)
            for axes, weight in terms:
                whole = weight * math.prod(sizes[a] - 1 for a in axes)
                for axis in axes:
                    lost[axis] += whole * Fraction(sizes[axis] - 2, sizes[axis] - 1)
            bound = max(*values, *(own - less for less in lost.values()))
            return own, bound, bound
        for agreeing in product((False, True), repeat=len(measured)):
            if not all(agreeing):
                pairs = zip(measured, agreeing, strict=True)
                factor = {axis: sizes[axis] - 1 if agrees else -1 for axis, agrees in pairs}
                values.append(
                    sum((w * math.prod(factor[a] for a in axes) for axes, w in terms), zero)
                )
        return own, max([zero, *values]), max([zero, *(-value for value in values)])


class MarginalNoise(Struct, frozen=True):
    """The noise of the residuals of each statistic of a release, all over one grid."""

    statistics: tuple[ResidualGaussian, ...]

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return RESIDUAL_NOISE

    def variance(
        self, terms: Iterable[tuple[Fraction, int]], taken: Sequence[int]
    ) -> Fraction | None:
        """Return the variance of a sum of worths times statistics, by their indices, over a box.

        None where a part of it isn't measured; see `ResidualGaussian.variance`.
        """
        total = Fraction(0)
        for worth, index in terms:
            variance = self.statistics[index].variance(taken)
            if variance is None:
                return None
            total += worth**2 * variance
        return total


def scaled_residual(cells: Integers, axes: Axes) -> Integers:
    """D times the residual of `cells` along `axes`: exact integers, with 1 along the other axes."""
    others = tuple(axis for axis in range(cells.ndim) if axis not in axes)
    sizes = [cells.shape[axis] for axis in axes]
    if cells.dtype != object:
        largest = max(abs(int(cells.max())), abs(int(cells.min()))) if cells.size else 0
        if largest * cells.size * math.prod(2 * size for size in sizes) >= 2**62:
            cells = cells.astype(object)
    part: Any = cells.sum(axis=others, keepdims=True) if others else cells
    for axis, size in zip(axes, sizes, strict=True):
        part = size * part - part.sum(axis=axis, keepdims=True)
    return np.asarray(part)


def _spread(axes: Axes, noisy: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a noisy residual, times D, adds to each cell, times the number of all cells.

    That is Π over the other axes of their n_i times what it adds: it is spread evenly along them.
    """
    for axis in axes:
        noisy = noisy - noisy.mean(axis=axis, keepdims=True)
    return noisy
