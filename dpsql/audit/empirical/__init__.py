"""Lower bounds on ε and on sensitivities, from samples.

| module               | what it does                                               |
| -------------------- | ---------------------------------------------------------- |
| answer_sampling      | many answers, drawn by a release's own mechanisms          |
| clopper_pearson      | exact confidence intervals for a probability               |
| epsilon_lower_bound  | a lower bound on the loss, by telling two databases apart  |
| sensitivity_sampling | sensitivity sampling, which gives no privacy               |
| neighbor_sampling    | sampled changes of a statement's own answer, by a law of units |
"""
