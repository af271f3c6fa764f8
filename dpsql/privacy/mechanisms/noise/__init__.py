"""Additive integer noise, sampled exactly.

| module               | what it does                                                         |
| -------------------- | -------------------------------------------------------------------- |
| laplace              | discrete Laplace noise: ε, rho, tail                                 |
| gaussian             | discrete Gaussian noise: rho, tail                                   |
| rounded_gaussian     | Gaussian noise, rounded to integers: mu, tail                        |
| k_norm               | noise of several integers together, in a box                         |
| correlated           | Gaussian noise with a part that integers share                       |
| rounded              | noise on parts of integers, rounded to integers                      |
| noise                | the union of all                                                     |
| gaussian_tail        | the tail of the discrete Gaussian, rounded up                        |
| sampler              | draws of discrete noise of both kinds                                |
| normal_sampler       | draws of the normal law, rounded                                     |
| distribution         | both noise distributions as one family, and their cut points         |
| inverse_sampling     | outcomes of a distribution from the bits of a uniform, certified     |
| uniform_bits_in_cell | uniform positions inside a cell                                      |
| integer_search       | the first integer at which a decreasing tail is below a bound        |
"""
