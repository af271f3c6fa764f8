"""How far apart the laws of two noisy integers are, by the law of each mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.release.exact_answers import NoNoise


def is_gaussian(mechanism: Noise | NoNoise) -> bool:
    """Whether noise is Gaussian, of integers or of parts of them."""
    fine = mechanism.fine if isinstance(mechanism, RoundedNoise) else mechanism
    return isinstance(fine, DiscreteGaussian | RoundedGaussian)


def loss_of_change(mechanism: Noise, change: int) -> Fraction:
    """How well noise of `mechanism` lets an integer be told from one that is `change` larger.

    It is ε of Laplace noise, and μ² of Gaussian noise, or twice ρ. Of noise that is drawn for
    several integers it is ε, had the others not changed.
    """
    match mechanism:
        case DiscreteLaplace(scale=scale):
            return abs(change) / scale
        case DiscreteGaussian(variance=variance) | RoundedGaussian(normal_variance=variance):
            return Fraction(change**2) / variance
        case KNormNoise(law=law, index=index) | OneDirectionNoise(law=law, index=index):
            return law.epsilon * abs(change) / law.moves[index]
        case CorrelatedNoise():
            return Fraction(change**2) / mechanism.variance
        case RoundedNoise(fine=fine):
            return loss_of_change(fine, change)  # of parts
        case missing:
            assert_never(missing)


def log_likelihood_ratio(
    answers: Integers, one: int, other: int, mechanism: Noise
) -> NDArray[np.float64]:
    """The logarithm of how much likelier each integer is around `one` than around `other`."""
    first, second = (np.asarray(answers - centre).astype(np.float64) for centre in (one, other))
    match mechanism:
        case DiscreteLaplace(scale=scale):
            return np.asarray((np.abs(second) - np.abs(first)) / float(scale))
        case DiscreteGaussian(variance=variance) | RoundedGaussian(normal_variance=variance):
            return np.asarray((second**2 - first**2) / (2 * float(variance)))
        case KNormNoise(law=law, index=index) | OneDirectionNoise(law=law, index=index):
            # As if the others were nearer to their centres: a score, of which sums are one, too.
            rate = float(law.epsilon / law.moves[index])
            return np.asarray((np.abs(second) - np.abs(first)) * rate)
        case CorrelatedNoise():
            return np.asarray((second**2 - first**2) / (2 * float(mechanism.variance)))
        case RoundedNoise(fine=fine, parts=parts):
            # Answers are rounded, and `one` and `other` are numbers of parts. What ranks answers
            # needn't be their exact law.
            return log_likelihood_ratio(answers.astype(object) * parts, one, other, fine)
        case missing:
            assert_never(missing)
