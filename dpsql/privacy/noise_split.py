"""How the statistics of one vector release share its loss so that weighted variance is least.

Statistic j moves by at most sensitivities[j] in each of `groups` groups. Σ weights[j]·Var_j is
minimised by Lagrange's rule; shares are then fixed as integers, and everything after is exact:
each parameter is rounded up, so the losses add up to no more than was granted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpsql.privacy.mechanisms.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.laplace import DiscreteLaplace

LEAST_FOR_LAPLACE = Fraction(3, 2)
"""Below this zCDP loss of one statistic in one group, Gaussian noise is always less."""

_HALVINGS = 16

_AS_CONTINUOUS = 8
"""A discrete Gaussian of this variance has it, to 60 digits."""

Weights = Sequence[Fraction | float]


def split_gaussian(
    sensitivities: Sequence[int], weights: Weights, groups: int, rho: Fraction
) -> tuple[DiscreteGaussian, ...]:
    """Return mechanisms with Σ groups·Δ_j²/(2·variance_j) <= rho, least in Σ c_j·variance_j."""
    # Minimise Σ c·v subject to Σ D²/(2v) = rho, D = √groups·Δ: v ∝ D/√c, that is, rho_j ∝ Δ_j·√c_j.
    shares = _shares(sensitivities, weights, groups, rho, powers=(1.0, 0.5))
    return tuple(
        DiscreteGaussian(rounded_up(groups * delta**2 / (2 * rho * share)))
        for delta, share in zip(sensitivities, shares, strict=True)
    )


def split_laplace(
    sensitivities: Sequence[int], weights: Weights, groups: int, epsilon: Fraction
) -> tuple[DiscreteLaplace, ...]:
    """Return mechanisms with Σ groups·Δ_j/scale_j <= ε, least in Σ c_j·2·scale_j²."""
    # Minimise Σ c·2b² subject to Σ D/b = ε, D = groups·Δ: b³ ∝ D/c, that is, ε_j ∝ Δ_j^⅔·c_j^⅓.
    shares = _shares(sensitivities, weights, groups, epsilon, powers=(2 / 3, 1 / 3))
    return tuple(
        DiscreteLaplace(rounded_up(groups * delta / (epsilon * share)))
        for delta, share in zip(sensitivities, shares, strict=True)
    )


def laplace_where_less(
    split: Sequence[DiscreteGaussian], sensitivities: Sequence[int]
) -> tuple[DiscreteLaplace | DiscreteGaussian, ...]:
    """Return Laplace noise for each statistic that it has less variance in at the same zCDP loss.

    So it has where the loss is generous: from about 1.6 in each group on, as the variance of
    Gaussian noise falls with 1/ρ, but that of Laplace noise with e^-ρ.
    """
    return tuple(
        _laplace_if_less(noise, delta) for noise, delta in zip(split, sensitivities, strict=True)
    )


def _laplace_if_less(noise: DiscreteGaussian, delta: int) -> DiscreteLaplace | DiscreteGaussian:
    rho = noise.rho(delta**2)
    if rho < LEAST_FOR_LAPLACE:
        return noise
    # What loses ε loses no more than ε in ρ, and no less than ε - 1 (ε + e^-ε - 1 on fine grids).
    low, high = delta / (rho + 1), delta / rho
    for _ in range(_HALVINGS):
        middle = rounded_up((low + high) / 2)
        low, high = (low, middle) if DiscreteLaplace(middle).rho(delta) <= rho else (middle, high)
    found = DiscreteLaplace(rounded_up(high))
    return found if found.variance < _variance(noise) else noise


def _variance(noise: DiscreteGaussian) -> float:
    """The true variance, which is well below the parameter where that is below 1."""
    if noise.variance > _AS_CONTINUOUS:
        return float(noise.variance)
    weights = {x: math.exp(-x * x / (2 * noise.variance)) for x in range(1, 40)}
    return 2 * sum(x * x * w for x, w in weights.items()) / (1 + 2 * sum(weights.values()))


def _shares(
    sensitivities: Sequence[int],
    weights: Weights,
    groups: int,
    loss: Fraction,
    powers: tuple[float, float],
) -> tuple[Fraction, ...]:
    """Return what part of the loss each statistic gets: ∝ Δ_j^powers[0]·c_j^powers[1], 1 in all."""
    if loss <= 0 or groups < 1 or any(delta < 1 for delta in sensitivities):
        raise ValueError("a split takes a positive loss, and sensitivities and groups from 1 on")
    if not all(0 < weight < float("inf") for weight in weights):
        raise ValueError("error weights are positive and finite")
    # Relative to the largest, so that nothing overflows.
    widest, heaviest = max(sensitivities), max(weights)
    wishes = [
        float(Fraction(delta, widest)) ** powers[0]
        * float(Fraction(weight) / Fraction(heaviest)) ** powers[1]
        for delta, weight in zip(sensitivities, weights, strict=True)
    ]
    # Any positive integers keep the loss; 40 bits are as near to the optimum as can be told. No
    # share is 0, whatever the weights: a statistic without loss could not be released.
    largest = max(wishes)
    parts = [max(round(wish / largest * 2**40), 1) for wish in wishes]
    total = sum(parts)
    return tuple(Fraction(part, total) for part in parts)


def rounded_up(parameter: Fraction) -> Fraction:
    """Round up to 16 or 17 significant bits: by 2^-15 of the parameter at most.

    Few bits keep the samplers' exact arithmetic cheap, and let releases share their tables.
    """
    spare = 16 - (parameter.numerator.bit_length() - parameter.denominator.bit_length())
    unit = Fraction(1, 1 << spare) if spare >= 0 else Fraction(1 << -spare)
    return -(-parameter // unit) * unit
