"""Noise allocation: the statistics of a release share its loss so that weighted variance is least.

Statistic j moves by at most sensitivities[j] in each of groups[j] groups. Σ weights[j]·Var_j is
minimised by Lagrange's rule; shares are then fixed as integers, and everything after is exact: each
parameter is rounded up, so the losses add up to no more than the loss to share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise

MIN_RHO_FOR_LAPLACE = Fraction(3, 2)
"""Below this zCDP loss of one statistic in one group, Gaussian noise has less variance."""

_HALVINGS = 16

_MAX_REMEMBERED = 256
"""Splits that are remembered: questions that differ in a constant mostly share the loss alike."""

_AS_CONTINUOUS = 8
"""From this parameter on, a discrete Gaussian's variance is the parameter, to 60 digits."""

Weights = Sequence[Fraction | float]
"""The weight of each statistic's variance in the error that is minimised; positive and finite."""

PerStatistic = int | Sequence[int]
"""The number of groups that change, for each statistic or block, or one number for all."""


def has_gaussian_noise(query_loss: PrivacyLoss) -> bool:
    """Whether sums may have Gaussian noise at such a loss."""
    match query_loss.accounting:
        case Accounting.PURE:
            return False
        case Accounting.ZCDP | Accounting.GDP:
            return True
        case Accounting.APPROX:
            return query_loss.delta > 0
        case missing:
            assert_never(missing)


def split_gaussian(
    sensitivities: Sequence[int], weights: Weights, groups: PerStatistic, rho: Fraction
) -> tuple[DiscreteGaussian, ...]:
    """Return Gaussian noise, Σ groups_j·Δ_j²/(2·variance_j) <= rho, least in Σ c_j·variance_j.

    `sensitivities` are Δ_j, in each of groups_j groups, and `weights` c_j. Raises ValueError for a
    loss or weights that aren't positive, and for sensitivities or groups below 1.
    """
    # Minimise Σ c·v subject to Σ D²/(2v) = rho, D = √groups·Δ: v ∝ D/√c, that is, rho_j ∝ D_j·√c_j.
    many = broadcast(groups, len(sensitivities))
    return _gaussian(tuple(sensitivities), tuple(weights), many, rho)


@lru_cache(maxsize=_MAX_REMEMBERED)
def _gaussian(
    sensitivities: tuple[int, ...],
    weights: tuple[Fraction | float, ...],
    groups: tuple[int, ...],
    rho: Fraction,
) -> tuple[DiscreteGaussian, ...]:
    shares = _shares(sensitivities, weights, groups, rho, powers=(1.0, 0.5, 0.5))
    return tuple(
        DiscreteGaussian(rounded_up(number * delta**2 / (2 * rho * share)))
        for delta, number, share in zip(sensitivities, groups, shares, strict=True)
    )


def split_laplace(
    sensitivities: Sequence[int], weights: Weights, groups: PerStatistic, epsilon: Fraction
) -> tuple[DiscreteLaplace, ...]:
    """Return Laplace noise with Σ groups_j·Δ_j/scale_j <= ε, least in Σ c_j·2·scale_j².

    The arguments, and what is raised, are those of split_gaussian.
    """
    # Minimise Σ c·2b² subject to Σ D/b = ε, D = groups·Δ: b³ ∝ D/c, that is, ε_j ∝ D_j^⅔·c_j^⅓.
    many = broadcast(groups, len(sensitivities))
    return _laplace(tuple(sensitivities), tuple(weights), many, epsilon)


@lru_cache(maxsize=_MAX_REMEMBERED)
def _laplace(
    sensitivities: tuple[int, ...],
    weights: tuple[Fraction | float, ...],
    groups: tuple[int, ...],
    epsilon: Fraction,
) -> tuple[DiscreteLaplace, ...]:
    shares = _shares(sensitivities, weights, groups, epsilon, powers=(2 / 3, 1 / 3, 2 / 3))
    return tuple(
        DiscreteLaplace(rounded_up(number * delta / (epsilon * share)))
        for delta, number, share in zip(sensitivities, groups, shares, strict=True)
    )


def laplace_where_less(
    split: Sequence[DiscreteGaussian], sensitivities: Sequence[int]
) -> tuple[IndependentNoise, ...]:
    """Replace Gaussian by Laplace noise wherever that has less variance at the same zCDP loss.

    It has where the loss is generous: from about 1.6 in each group on, as the variance of Gaussian
    noise falls with 1/ρ, but that of Laplace noise with e^-ρ.
    """
    return tuple(
        _laplace_if_less(noise, delta) for noise, delta in zip(split, sensitivities, strict=True)
    )


def _laplace_if_less(noise: DiscreteGaussian, delta: int) -> IndependentNoise:
    """The Laplace noise with the zCDP loss of `noise`, if its variance is less; else `noise`."""
    rho = noise.rho(delta**2)
    if rho < MIN_RHO_FOR_LAPLACE:
        return noise
    # What loses ε loses no more than ε in ρ, and no less than ε - 1 (ε + e^-ε - 1 on fine grids).
    low, high = delta / (rho + 1), delta / rho
    for _ in range(_HALVINGS):
        middle = rounded_up((low + high) / 2)
        low, high = (low, middle) if DiscreteLaplace(middle).rho(delta) <= rho else (middle, high)
    laplace = DiscreteLaplace(rounded_up(high))
    return laplace if laplace.variance < _variance(noise) else noise


def _variance(noise: DiscreteGaussian) -> float:
    """The true variance, which is well below the parameter where that is below 1."""
    if noise.variance > _AS_CONTINUOUS:
        return float(noise.variance)
    weights = {x: math.exp(-x * x / (2 * noise.variance)) for x in range(1, 40)}
    return 2 * sum(x * x * w for x, w in weights.items()) / (1 + 2 * sum(weights.values()))


def _shares(
    sensitivities: Sequence[int],
    weights: Weights,
    groups: Sequence[int],
    loss: Fraction,
    powers: tuple[float, float, float],
) -> tuple[Fraction, ...]:
    """Return each statistic's part of the loss; the parts add up to 1.

    They are in proportion to Δ_j^powers[0]·c_j^powers[1]·groups_j^powers[2].
    """
    if loss <= 0 or any(number < 1 for number in (*groups, *sensitivities)):
        raise ValueError("a split takes a positive loss, and sensitivities and groups from 1 on")
    if not all(0 < weight < float("inf") for weight in weights):
        raise ValueError("error weights are positive and finite")
    # Relative to the largest, so that nothing overflows.
    widest, heaviest, max_groups = max(sensitivities), max(weights), max(groups)
    wishes = [
        float(Fraction(delta, widest)) ** powers[0]
        * float(Fraction(weight) / Fraction(heaviest)) ** powers[1]
        * (number / max_groups) ** powers[2]
        for delta, weight, number in zip(sensitivities, weights, groups, strict=True)
    ]
    # Any positive integers keep the loss; 40 bits are as near to the optimum as can be told. No
    # share is 0, whatever the weights: a statistic without loss could not be released.
    largest = max(wishes)
    parts = [max(round(wish / largest * 2**40), 1) for wish in wishes]
    total = sum(parts)
    return tuple(Fraction(part, total) for part in parts)


def broadcast(groups: PerStatistic, count: int) -> tuple[int, ...]:
    """The number of groups of each of `count` statistics or blocks."""
    return (groups,) * count if isinstance(groups, int) else tuple(groups)


def rounded_up(parameter: Fraction) -> Fraction:
    """Round up to 16 or 17 significant bits: by 2^-15 of the parameter at most.

    Few bits keep the samplers' exact arithmetic cheap, and let releases share their tables.
    """
    spare = 16 - (parameter.numerator.bit_length() - parameter.denominator.bit_length())
    unit = Fraction(1, 1 << spare) if spare >= 0 else Fraction(1 << -spare)
    return -(-parameter // unit) * unit
