"""Choices among candidates, sampled exactly.

| module            | what it does                                                         |
| ----------------- | -------------------------------------------------------------------- |
| exponential       | a choice with probability ∝ e^(-rate·loss)                           |
| permute_and_flip  | a choice in random order: better, for pure ε                         |
| weighted_majority | a choice in each round, by the losses of the rounds before it        |
| above_threshold   | the first integers above a threshold, at the price of so many        |
| threshold_stream  | the same over time, with one secret number for all checks            |
| quantile          | several quantiles of counts per cell, by choices of cells            |
| quantile_range    | part of a group between two positions, and losses in it              |
| position          | the position where a part is split, one choice among all slices      |
| candidates        | the candidates of a choice: integer losses, and weights              |
| acceptance        | which losses are accepted with probability e^-(rate·loss)            |
| exp_enclosure     | e^-g for many g at once, certified                                   |
| bernoulli_exp     | yes with probability e^-g, certified                                 |
"""
