"""Lower bounds on ε and on sensitivities, from samples.

| module               | what it does                                               |
| -------------------- | ---------------------------------------------------------- |
| answer_sampling      | answers drawn over and over, by a release's own mechanisms |
| clopper_pearson      | exact intervals of how often something happened            |
| epsilon_lower_bound  | a lower bound on the loss, by telling two databases apart  |
| sensitivity_sampling | sensitivity sampling, which is no privacy                  |
"""
