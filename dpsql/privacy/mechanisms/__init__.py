"""Mechanisms randomise integers: integers in, integers out, every law drawn exactly.

Some add noise to integers, and `MECHANISMS` names them; others choose one of several candidates.

| module              | what it defines                                                    |
| ------------------- | ------------------------------------------------------------------ |
| noise               | additive integer noise, sampled exactly                            |
| selection           | choices among candidates, sampled exactly                          |
| mechanism           | what added noise promises, and the sensitivities it is asked about |
| randomized_response | answers that are true with a known probability                     |
| randomness          | uniform bits                                                       |
"""

from dpsql.privacy.mechanisms.mechanism import Mechanism
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

MECHANISMS: dict[str, type[Mechanism]] = {
    "laplace": DiscreteLaplace,
    "gaussian": DiscreteGaussian,
}
