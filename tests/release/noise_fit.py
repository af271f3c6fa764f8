"""How well integers fit the law of a mechanism's noise: chi-squared over even bins."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy import stats

from dpsql.privacy.mechanisms.level_law import level_cuts
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.structs import replace

BINS = 12


def noise_fit(noise: np.ndarray, mechanism: Noise, wider: float = 1.0) -> float:
    """The probability of a worse fit of `noise` to the law, its scale times `wider`."""
    match mechanism:
        case DiscreteLaplace(scale=scale):
            spread = float(scale) * wider
            reach = int(40 * spread) + 10
            weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / spread)
        case DiscreteGaussian(variance=variance):
            spread = float(Fraction(variance)) ** 0.5 * wider
            reach = int(10 * spread) + 10
            weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * spread**2))
        case RoundedGaussian(normal_variance=variance):
            spread = float(variance) ** 0.5 * wider
            reach = int(10 * spread) + 10
            weights = np.diff(stats.norm.cdf(np.arange(-reach, reach + 2) - 0.5, scale=spread))
        case CorrelatedNoise():
            # Nearly, as its half-widths take it.
            spread = math.sqrt(mechanism.variance) * wider
            reach = int(10 * spread) + 10
            weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * spread**2))
        case KNormNoise(law=declared, index=index):
            joint = replace(declared, epsilon=declared.epsilon / Fraction(wider))
            edges = np.arange(len(level_cuts(joint, 64))) * joint.moves[index] // joint.levels
            starts = (0, *level_cuts(joint, 64))
            p = np.array([float(b - a) for a, b in pairwise(starts)]) / (2 * edges + 1)
            reach = int(edges[-1])
            # An integer is as likely as all levels up to whose edges it is make it.
            beyond = np.append(np.cumsum(p[::-1])[::-1], 0.0)
            least = np.searchsorted(edges, np.abs(np.arange(-reach, reach + 1)))
            weights = beyond[least]
        case OneDirectionNoise(law=directed, index=index):
            narrower = replace(directed, epsilon=directed.epsilon / Fraction(wider))
            step, starts = narrower.steps[index], (0, *level_cuts(narrower, 64))
            own = np.arange(len(starts) - 1)
            p = np.array([float(b - a) for a, b in pairwise(starts)])
            p /= (own + 1) * (own * step + 1.0)
            reach = int(own[-1]) * step
            # Of S levels, S - ⌈z/step⌉ + 1 intervals have z.
            beyond = np.append(np.cumsum(np.cumsum(p[::-1]))[::-1], 0.0)
            weights = beyond[-(-np.abs(np.arange(-reach, reach + 1)) // step)]
        case RoundedNoise():
            raise NotImplementedError("what is rounded has a law that depends on its value")
    law = weights / weights.sum()
    # A bin takes values until it has its share, so that its number says nothing of the draws.
    bins = np.minimum((law.cumsum() * BINS).astype(int), BINS - 1)
    expected = np.bincount(bins, law, BINS) * noise.size
    seen = np.bincount(bins[np.clip(noise, -reach, reach) + reach], minlength=BINS)
    used = expected > 0
    worst = ((seen - expected)[used] ** 2 / expected[used]).sum()
    return float(stats.chi2.sf(worst, used.sum() - 1))
