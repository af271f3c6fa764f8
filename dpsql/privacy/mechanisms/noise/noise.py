"""The union of the mechanisms that add noise, of which every `match` has all."""

from __future__ import annotations

from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise

IndependentNoise = DiscreteLaplace | DiscreteGaussian | RoundedGaussian
"""Noise of one integer as it is, that knows of no other."""

JointNoise = KNormNoise | OneDirectionNoise | CorrelatedNoise
"""Noise of one integer that is drawn with that of others."""

Noise = IndependentNoise | RoundedNoise | JointNoise
