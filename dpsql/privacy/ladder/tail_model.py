"""How fast units thin out toward the top of a ladder: a model fitted to all noisy counts there.

Counts of few units are lost in the noise rung by rung, but not together: incomes, orders and visits
thin out from rung to rung, steadily or faster and faster. So the logarithm of the number of units
that are expected in a rung is taken for a parabola about the top, straight or bent downward, which
may end:

    ln λ(x) = level - slope·x - bend·x·(x + 1)/2 for x <= end, λ(x) = 0 beyond,

x being half octaves above the top, and the slope that from -1 to 0. Power laws (Pareto, Zipf) are
straight, log-normal values are bent, and uniform ones end. Empty rungs above the top speak as
loudly as those below it: without them, values that end sharply would be extrapolated absurdly.
"""

from __future__ import annotations

import math
from typing import Final, assert_never

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.ladder import laplace_rate
from dpsql.privacy.ladder.lattice import DRAWS, Floats
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian

BEYOND: Final = 24
"""No unit is expected so many rungs above the top, which is 2^12 times as high."""

NEAR: Final = 3
"""More half octaves above the top, a tail that thins out has few units left in each rung."""

_EVIDENCE_OF_ONE: Final = 3.0
"""No count there speaks for units by more than e^3 to one."""

_NONE: Final = 1e-9
"""Units in a rung that has none, so that logarithms are finite."""

_MISFIT: Final = 0.12
"""How far, relatively, rungs of many units lie beside the parabola; more where it is steep."""

# The grid of parameters, with prior weights. A slope of 0.35·a is a power law of exponent a.
_LEVELS: Final = np.linspace(-2.1, 1.2, 21)
_SLOPES: Final = np.array(
    (
        *(-0.6, -0.3, -0.1, 0.05, 0.15, 0.25, 0.33, 0.4, 0.47, 0.54, 0.61, 0.7, 0.8, 0.92),
        *(1.1, 1.3, 1.6, 2.0, 2.5, 3.1, 4.0, 5.0, 6.5),
    )
)
_BENDS: Final = np.array([0.0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.4, 2.2, 3.4])
_BEND_PRIOR: Final = np.array([3.0, 1, 1, 1, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, 0.1])
_ENDS: Final = np.array([0, 1, 2, 3, 5, 8, BEYOND])
_END_PRIOR: Final = np.array([0.05, 0.04, 0.04, 0.04, 0.05, 0.05, 0.73])


class FittedRungs(Struct, frozen=True, eq=False):
    """What the model is fitted to, from low to high: noisy counts, where rungs are, and how wide.

    `middle` is in half octaves above the top, `width` in half octaves.
    """

    counts: Floats
    middle: Floats
    width: Floats


def expected_units(
    rungs: FittedRungs, at_top: float, noise: IndependentNoise
) -> tuple[Floats, Floats]:
    """Return draws of λ for each rung from the posterior, and of a number's variance about it.

    Both have the shape (DRAWS, rungs). `at_top` is the noisy count of the top.
    """
    counts, middle = rungs.counts, rungs.middle
    level = math.log(max(at_top, 4 * math.sqrt(noise.variance), 3)) + _LEVELS
    slope, bend = (grid.reshape(-1, 1) for grid in np.meshgrid(_SLOPES, _BENDS, indexing="ij"))
    shapes = np.log(rungs.width) - slope * middle - bend * middle * (middle + 1) / 2
    logs = (level[:, None, None] + shapes).reshape(-1, counts.size)
    rates = np.exp(np.clip(logs, -30.0, 40.0))
    misfit = _MISFIT * (1 + np.abs(slope + bend * (middle + 0.5)))
    spread = rates + (np.tile(misfit, (level.size, 1)) * rates) ** 2
    none = np.full((1, counts.size), _NONE)
    gain = log_likelihood(counts, rates, spread, noise) - log_likelihood(counts, none, none, noise)
    # One draw of noise far above the top, 20 where there is nobody, is evidence enough for a tail
    # that goes on for ever, were it believed: it counts for no more than a few units there would.
    gain = np.where(middle > NEAR + 0.5, np.minimum(gain, _EVIDENCE_OF_ONE), gain)
    # What lies beyond each end is as likely as nothing is.
    ends = np.searchsorted(middle, _ENDS + 0.5) - 1
    prior = np.log(_BEND_PRIOR) - ((_SLOPES[:, None] - 0.5) / 0.6) ** 2 / 2
    by_end = np.cumsum(gain, axis=1)[:, ends] + np.log(_END_PRIOR)
    posterior = by_end + np.tile(prior.ravel(), level.size)[:, None]
    cumulative = np.cumsum(np.exp(posterior - posterior.max()))
    points = (np.arange(DRAWS) + 0.5) / DRAWS * cumulative[-1]
    chosen, end = np.divmod(np.searchsorted(cumulative, points), _ENDS.size)
    is_before_end = np.arange(counts.size) <= ends[end][:, None]
    return np.where(is_before_end, rates[chosen], _NONE), np.where(
        is_before_end, spread[chosen], _NONE
    )


def log_likelihood(
    counts: Floats, rates: Floats, spread: Floats, noise: IndependentNoise
) -> Floats:
    """Return how likely noisy counts are, where numbers of units have such means and variances."""
    off = counts - rates
    match noise:
        case DiscreteLaplace():
            # Laplace noise upon a nearly normal number is nearly hyperbolic: ∝ e^-√(d² + (off/b)²),
            # with the same curvature at 0 and the same tails; its integral is 2·d·K₁(d)·b, and
            # e^d·2·d·K₁(d) is √(4 + 2πd) within 2 %.
            rate = laplace_rate(noise)
            d = spread * rate**2
            return np.asarray(d - np.hypot(d, off * rate) - np.log(4 + 2 * math.pi * d) / 2)
        case DiscreteGaussian(variance=variance) | RoundedGaussian(variance=variance):
            total = spread + float(variance)
            return np.asarray(-(off**2) / (2 * total) - np.log(total) / 2)
        case missing:
            assert_never(missing)


def likeliest_units(
    expected: Floats, spread: Floats, counts: Floats, noise: IndependentNoise
) -> Floats:
    """Return the likeliest numbers of units, given their mean and variance, and noisy counts.

    Laplace noise moves a number toward its count by the same factor wherever the count is, and
    stops at it; Gaussian noise moves it in proportion.
    """
    match noise:
        case DiscreteLaplace():
            reach = np.exp(np.minimum(spread * laplace_rate(noise) / expected, 50.0))
            return np.asarray(np.clip(counts, expected / reach, expected * reach))
        case DiscreteGaussian(variance=variance) | RoundedGaussian(variance=variance):
            moved = expected + (counts - expected) * spread / (spread + float(variance))
            return np.asarray(np.maximum(moved, _NONE))
        case missing:
            assert_never(missing)
