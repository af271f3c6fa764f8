"""How a loss is shared by the residuals of marginals, so that the marginals' variance is least.

(Xiao, He, Zhang & Kifer 2023, Section 4: a sum of variances has a closed form.) A cell of the
marginal on B has the variance Σ_{A ⊆ B} s_A² · Π_{i ∈ A} (1 - 1/n_i) · Π_{i ∈ B∖A} 1/n_i². With
weights on marginals, what is minimised is Σ_A v_A·s_A², under Σ_A a_A/s_A² <= 2ρ: by Cauchy and
Schwarz the least is (Σ_A √(a_A·v_A))²/(2ρ), at s_A² ∝ √(a_A/v_A).

Where a unit is in one cell, a_A is what it moves residual A by, squared, and this is the least
variance of all noise that is Gaussian. Where it may be in several, the exact loss is by the worst
pair of cells, so that a_A is that of a typical pair; what is returned is scaled to the exact loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations

from msgspec import Struct

from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.residual_gaussian import (
    Axes,
    Residual,
    ResidualGaussian,
    Shape,
    UnitMoves,
)

_BITS = 16
"""Significant bits of one over a variance: few, so that sums of thousands stay short."""

MAX_RESIDUALS = 100_000
"""A plan measures at most so many."""


class WeightedMarginal(Struct, frozen=True):
    """The marginal on `axes`; `weight` is that of the variance of each of its cells."""

    axes: Axes
    weight: float


class MarginalWorkload(Struct, frozen=True):
    """The marginals that are wanted of one statistic, and how a unit moves its cells."""

    marginals: tuple[WeightedMarginal, ...]
    moves: UnitMoves


def split_residuals(
    shape: Shape,
    workloads: Sequence[MarginalWorkload],
    distance: NeighborDistance,
    rho: Fraction,
) -> tuple[ResidualGaussian, ...]:
    """Return the noise of each statistic of `workloads`, over one grid of `shape`.

    Together they lose at most `rho` on neighbours at `distance`, and are nearly least in
    Σ weight·variance over the cells of all marginals. Raises ValueError for a loss or weights that
    aren't positive, for no marginal, and for too many residuals.
    """
    if rho <= 0 or not workloads:
        raise ValueError("a plan takes a positive loss, and a statistic at least")
    wished = [_precisions(shape, workload) for workload in workloads]
    heaviest = max(max(each.values()) for each in wished)
    relative = [{axes: p / heaviest for axes, p in each.items()} for each in wished]
    moves = [workload.moves for workload in workloads]
    factor = Fraction(1)
    while True:
        noise = _scaled(shape, relative, factor)
        spent = _loss(noise, moves, distance)
        if spent <= rho and factor != 1:
            return noise
        # Rounding one residual down may raise what two cells have in common: so a little less.
        factor = Fraction(float(factor * rho / spent) * (1 - 2.0**-_BITS))


def optimal_variance(shape: Shape, workload: MarginalWorkload, rho: Fraction) -> float:
    """Return (Σ_A √(a_A·v_A))²/(2ρ), the closed form for units that are removed or added."""
    parts = _coefficients(shape, workload)
    return sum(math.sqrt(cost * value) for cost, value in parts.values()) ** 2 / (2 * float(rho))


def _loss(
    noise: Sequence[ResidualGaussian], moves: Sequence[UnitMoves], distance: NeighborDistance
) -> Fraction:
    losses = (one.rho(each, distance) for one, each in zip(noise, moves, strict=True))
    return sum(losses, Fraction(0))


def _precisions(shape: Shape, workload: MarginalWorkload) -> dict[Axes, float]:
    """One over the variance of each residual, up to a common factor."""
    return {
        axes: math.sqrt(value / cost)
        for axes, (cost, value) in _coefficients(shape, workload).items()
    }


def _coefficients(shape: Shape, workload: MarginalWorkload) -> dict[Axes, tuple[float, float]]:
    """Of each residual below the marginals: a_A and v_A, in the same order in every run."""
    if not workload.marginals or not all(0 < m.weight < math.inf for m in workload.marginals):
        raise ValueError("there is a marginal, and weights are positive and finite")
    values: dict[Axes, float] = {}
    for marginal in workload.marginals:
        own_axes = [axis for axis in marginal.axes if shape[axis] > 1]
        if 2 ** len(own_axes) + len(values) > MAX_RESIDUALS:
            raise ValueError("these are too many residuals")
        weight = marginal.weight * math.prod(shape[axis] for axis in own_axes)
        for below in _subsets(own_axes):
            part = weight
            for axis in own_axes:
                part *= 1 - 1 / shape[axis] if axis in below else 1 / shape[axis] ** 2
            values[below] = values.get(below, 0.0) + part
    moves = workload.moves
    measured = {axis for axes in values for axis in axes}
    costs: dict[Axes, tuple[float, float]] = {}
    for axes in sorted(values, key=lambda a: (len(a), a)):
        own = math.prod(1 - 1 / shape[axis] for axis in axes)
        # Two cells that differ along one axis agree in this much of a residual, on average.
        other = sum(1 / (shape[axis] - 1) for axis in axes) + len(measured) - len(axes)
        common = own * other / max(len(measured), 1)
        cost = moves.per_cell**2 * moves.cells * (own + (moves.cells - 1) * common)
        costs[axes] = cost, values[axes]
    return costs


def _subsets(axes: Sequence[int]) -> chain[Axes]:
    return chain.from_iterable(combinations(axes, size) for size in range(len(axes) + 1))


def _scaled(
    shape: Shape, precisions: Sequence[dict[Axes, float]], factor: Fraction
) -> tuple[ResidualGaussian, ...]:
    """Noise whose precisions are these times `factor`, rounded down to few bits."""
    return tuple(
        ResidualGaussian(
            shape,
            tuple(
                Residual(axes, 1 / _rounded_down(Fraction(precision) * factor))
                for axes, precision in each.items()
            ),
        )
        for each in precisions
    )


def _rounded_down(precision: Fraction) -> Fraction:
    spare = _BITS - (precision.numerator.bit_length() - precision.denominator.bit_length())
    unit = Fraction(1, 1 << spare) if spare >= 0 else Fraction(1 << -spare)
    return precision // unit * unit
