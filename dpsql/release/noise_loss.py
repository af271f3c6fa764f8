"""What a statistic's noise loses where it moves, and Gaussian noise within a loss in μ²."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, integer_parts
from dpsql.privacy.allocation.joint_allocation import split_gaussian_jointly
from dpsql.privacy.allocation.noise_allocation import split_gaussian
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise, Noise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.structs import replace


def of_parts(bounded: BoundedRelease, noise: Sequence[IndependentNoise]) -> tuple[Noise, ...]:
    """`noise` of the release's integers, where the engine's are parts of them."""
    parts = integer_parts(bounded.limited)
    return tuple(noise) if parts == 1 else tuple(RoundedNoise.of(each, parts) for each in noise)


def rho_of_move(noise: Noise, change: int) -> Fraction:
    """The zCDP loss of one statistic that moves by `change` in one group."""
    match noise:
        case DiscreteGaussian():
            return noise.rho(change**2)
        case DiscreteLaplace():
            return noise.rho(change)
        case RoundedGaussian():
            raise TypeError("the loss of rounded Gaussian noise is counted in μ²")
        case KNormNoise() | OneDirectionNoise() | CorrelatedNoise():
            raise TypeError("noise that is drawn together has no loss of one statistic")
        case RoundedNoise(fine=fine, parts=parts):
            return rho_of_move(fine, change * parts)
        case missing:
            assert_never(missing)


def rounded_gaussian_noise(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    costs: Sequence[float],
    mu_squared: Fraction,
) -> tuple[tuple[Noise, ...], Fraction]:
    """Rounded Gaussian noise of each statistic, and its loss, at most `mu_squared`.

    The weights `costs` divide it. Where u units differ, moves are those of all of them together.
    """
    # Gaussian noise of ρ is √(2ρ)-GDP before it is rounded: the same variances are the best.
    norm, rho = sensitivity.l2, mu_squared / 2
    if norm.independent_bounds is not None:
        split = split_gaussian(norm.independent_bounds, costs, norm.groups_of_each, rho)
    else:
        split = split_gaussian_jointly(norm.corners, costs, norm.groups, rho)
    noise = tuple(RoundedGaussian(each.variance) for each in split)
    spent = norm.total(lambda index, change: noise[index].mu_squared(change**2))
    if spent > mu_squared:
        raise ArithmeticError("the noise split passed its grant")
    return of_parts(bounded, noise), spent


def with_rounded_laws(noise: Sequence[CorrelatedNoise]) -> tuple[CorrelatedNoise, ...]:
    """`noise` of rounded Gaussian draws in place of discrete ones: its μ² is twice their ρ."""
    return tuple(replace(each, law=replace(each.law, is_rounded=True)) for each in noise)
