"""Noise allocation for statistics that can't all be extreme at once.

A block is a group of statistics whose change is, in any weighted norm, at most that of one of its
corners (`analysis.joint_sensitivity`). The noise parameters are found numerically and then scaled,
exactly, until the worst corners of all blocks are within the loss: a poor search costs accuracy,
never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from dpsql.privacy.allocation.noise_allocation import PerStatistic, Weights, broadcast, rounded_up
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

Corners = Sequence[Sequence[int]]
"""For each corner of a block, the change of every statistic; 0 for those outside the block."""

_ROUNDS = 60


def split_gaussian_jointly(
    blocks: Sequence[Corners], weights: Weights, groups: PerStatistic, rho: Fraction
) -> tuple[DiscreteGaussian, ...]:
    """Return Gaussian noise for each statistic, whose loss at the worst corners is at most rho.

    The loss is Σ over blocks of groups·max over corners of Σ c²/(2·variance), in zCDP. `groups` is
    the number of groups that change, of each block or of all; `weights` has each statistic's weight
    in the error to minimise.
    """
    many = broadcast(groups, len(blocks))
    variances = [s**2 for s in _scales_of(blocks, weights, many, power=2)]
    worst = sum(
        number * max(sum(c * c / v for c, v in zip(k, variances, strict=True)) for k in block)
        for block, number in zip(blocks, many, strict=True)
    )
    factor = worst / (2 * rho)
    return tuple(DiscreteGaussian(rounded_up(factor * v)) for v in variances)


def split_laplace_jointly(
    blocks: Sequence[Corners], weights: Weights, groups: PerStatistic, epsilon: Fraction
) -> tuple[DiscreteLaplace, ...]:
    """Return Laplace noise for each statistic, whose loss at the worst corners is at most epsilon.

    The loss is Σ over blocks of groups·max over corners of Σ c/scale. The arguments are those of
    split_gaussian_jointly.
    """
    many = broadcast(groups, len(blocks))
    scales = _scales_of(blocks, weights, many, power=1)
    worst = sum(
        number * max(sum(c / s for c, s in zip(k, scales, strict=True)) for k in block)
        for block, number in zip(blocks, many, strict=True)
    )
    factor = worst / epsilon
    return tuple(DiscreteLaplace(rounded_up(factor * s)) for s in scales)


def _scales_of(
    blocks: Sequence[Corners], weights: Weights, groups: tuple[int, ...], *, power: int
) -> tuple[Fraction, ...]:
    hashable = tuple(tuple(map(tuple, block)) for block in blocks)
    return _relative_scales(hashable, tuple(weights), groups, power=power)


@lru_cache(maxsize=64)
def _relative_scales(
    blocks: tuple[tuple[tuple[int, ...], ...], ...],
    weights: tuple[Fraction | float, ...],
    groups: tuple[int, ...],
    *,
    power: int,
) -> tuple[Fraction, ...]:
    """Scales, up to a common factor, that minimise Σ weight·scale² at a given loss.

    The loss is Σ over blocks of groups·the worst corner's Σ (change / scale)^power: 2 for variances
    of Gaussian noise (Lagrange: variance ∝ change / √weight), 1 for scales of Laplace noise (scale³
    ∝ change / weight). Mixtures of corners are fitted by multiplicative updates. No loss is asked
    for, so that a statement at another ε finds them.
    """
    widest = [max(corner[j] for block in blocks for corner in block) for j in range(len(weights))]
    if any(width < 1 for width in widest):
        raise ValueError("every statistic changes by 1 or more in some corner")
    heaviest = max(weights)
    costs = [float(Fraction(w) / Fraction(heaviest)) for w in weights]
    # Statistics are measured by their widest change, so that nothing overflows.
    max_groups = max(groups)
    shapes = [
        [
            [(c / w) ** power * (number / max_groups) for c, w in zip(corner, widest, strict=True)]
            for corner in block
        ]
        for block, number in zip(blocks, groups, strict=True)
    ]
    prices = [c * float(Fraction(w, max(widest))) ** 2 for c, w in zip(costs, widest, strict=True)]
    mixtures = [[1 / len(block)] * len(block) for block in blocks]
    best, lowest_cost = [1.0] * len(weights), math.inf
    for _ in range(_ROUNDS):
        scales = _scales(shapes, mixtures, prices, power)
        loads = [[_load(corner, scales, power) for corner in block] for block in shapes]
        loss = sum(map(max, loads))
        cost = loss ** (2 / power) * sum(p * s * s for p, s in zip(prices, scales, strict=True))
        if cost < lowest_cost:
            best, lowest_cost = scales, cost
        mixtures = [_updated(m, load) for m, load in zip(mixtures, loads, strict=True)]
        if all(len(block) == 1 for block in blocks):
            break
    smallest = min(best)
    # 20 bits are as near to the optimum as can be told.
    return tuple(
        Fraction(round(scale / smallest * 2**20), 2**20) * width
        for scale, width in zip(best, widest, strict=True)
    )


def _scales(
    shapes: list[list[list[float]]], mixtures: list[list[float]], prices: list[float], power: int
) -> list[float]:
    """The optimal scales if each block changed as its mixture of corners does."""
    mixed = [
        sum(
            m * corner[j]
            for block, mixture in zip(shapes, mixtures, strict=True)
            for corner, m in zip(block, mixture, strict=True)
        )
        for j in range(len(prices))
    ]
    return [
        max(a / max(p, 1e-300), 1e-300) ** (1 / (power + 2))
        for a, p in zip(mixed, prices, strict=True)
    ]


def _load(corner: list[float], scales: list[float], power: int) -> float:
    """What a corner adds to the loss at these scales."""
    return sum(c / s**power for c, s in zip(corner, scales, strict=True))


def _updated(mixture: list[float], loads: list[float]) -> list[float]:
    """The mixture with more weight on the corners of larger load."""
    top = max(loads)
    grown = [m * math.exp(load / top - 1) for m, load in zip(mixture, loads, strict=True)]
    total = sum(grown)
    return [max(g / total, 1e-9) for g in grown]
