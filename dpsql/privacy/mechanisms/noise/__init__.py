"""Additive integer noise, sampled exactly.

| module               | what it does                                            |
| -------------------- | ------------------------------------------------------- |
| laplace              | discrete Laplace noise: ε, rho, tail                    |
| gaussian             | discrete Gaussian noise: rho, tail                      |
| gaussian_tail        | the tail of the discrete Gaussian, rounded up           |
| sampler              | the draws of noise                                      |
| distribution         | the two noise laws as one family, and their cut points  |
| inverse_sampling     | outcomes of a law from the bits of a uniform, certified |
| uniform_bits_in_cell | uniform places inside a cell                            |
| integer_search       | where a decreasing tail first falls below a bound       |
"""
