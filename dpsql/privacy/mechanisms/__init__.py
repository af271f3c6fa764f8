"""Mechanisms randomise integers: integers in, integers out, every law drawn exactly.

Some add noise to integers, and `MECHANISMS` names them; others choose one of several candidates.

| module              | what it defines                                                      |
| ------------------- | -------------------------------------------------------------------- |
| mechanism           | what added noise promises, and the sensitivities it is asked about   |
| laplace             | discrete Laplace noise: ε, rho, tail                                 |
| gaussian            | discrete Gaussian noise: rho, tail                                   |
| gaussian_tail       | the tail of the discrete Gaussian, rounded up                        |
| sampling            | the draws of noise                                                   |
| law                 | the two noise laws as one family, and their cut points               |
| inversion           | outcomes of a law from the bits of a uniform, certified              |
| place               | uniform places inside a cell                                         |
| exponential         | a choice with probability ∝ e^(-rate·loss)                           |
| permute_and_flip    | a choice in random order: better, for pure ε                         |
| quantile            | several quantiles of counts per cell, by choices of cells            |
| part                | part of a group between two positions, and losses there              |
| randomised_response | answers that are true with a known probability                       |
| candidates          | what is chosen from: integer losses, and how often each stands there |
| decay               | e^-g for many g at once, certified                                   |
| acceptance          | yes with probability e^-g, certified                                 |
| search              | where a decreasing tail first falls below a bound                    |
| randomness          | uniform bits                                                         |
"""

from dpsql.privacy.mechanisms.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.mechanism import Mechanism

MECHANISMS: dict[str, type[Mechanism]] = {
    "laplace": DiscreteLaplace,
    "gaussian": DiscreteGaussian,
}
