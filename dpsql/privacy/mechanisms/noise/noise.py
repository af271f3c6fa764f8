"""The union of the mechanisms that add noise, of which every `match` has all."""

from __future__ import annotations

from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise

IntegerNoise = DiscreteLaplace | DiscreteGaussian
"""What adds noise to integers as they are."""

Noise = IntegerNoise | RoundedNoise
