"""Mechanisms randomise integers: integers in, integers out, every law drawn exactly.

Some add noise to integers; others choose one of several candidates.

| module              | what it defines                                                    |
| ------------------- | ------------------------------------------------------------------ |
| noise               | additive integer noise, sampled exactly                            |
| selection           | choices among candidates, sampled exactly                          |
| mechanism           | what added noise promises                                          |
| residual_gaussian   | Gaussian noise on the residuals of marginals, which add up         |
| level_law           | laws by levels, of integers that are drawn together                |
| level_tail          | how far off these are, as errors tell it                           |
| one_direction       | noise of integers that units move all up, or all down              |
| randomized_response | answers that are true with a known probability                     |
| local_noise         | noise that people add to a number before it is collected           |
| randomness          | uniform bits                                                       |
"""

from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

__all__ = ["DiscreteGaussian", "DiscreteLaplace"]
