"""Mechanisms randomise integers: integers in, integers out, every law drawn exactly.

| module        | what it defines                                                     |
| ------------- | ------------------------------------------------------------------- |
| mechanism     | what a mechanism promises, and the sensitivities it is asked about  |
| laplace       | discrete Laplace noise: ε, rho, tail                                |
| gaussian      | discrete Gaussian noise: rho, tail                                  |
| gaussian_tail | the tail of the discrete Gaussian, rounded up                       |
| sampling      | the draws                                                           |
| law           | the two noise laws as one family, and their cut points              |
| inversion     | outcomes of a law from the bits of a uniform, certified             |
| place         | uniform places inside a cell                                        |
| acceptance    | yes with probability e^-g, certified                                |
| search        | where a decreasing tail first falls below a bound                   |
| randomness    | uniform bits                                                        |
"""

from dpsql.privacy.mechanisms.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.mechanism import Mechanism

MECHANISMS: dict[str, type[Mechanism]] = {
    "laplace": DiscreteLaplace,
    "gaussian": DiscreteGaussian,
}
