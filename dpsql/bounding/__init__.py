"""Release → bounded release: which integers are summed, within which limits, over which keys.

| module                   | what it decides                                                    |
| ------------------------ | ------------------------------------------------------------------ |
| bound_release            | the whole: a release and public facts in, a bounded release out    |
| statistics               | integer statistics of the aggregates, and formulas back to columns |
| public_bounds            | bounds of columns of public tables, by what their rows have        |
| randomized_response      | sums over randomised answers become estimates over true ones       |
| randomized_response_keys | groups by randomised answers                                       |
| local_noise              | sums over numbers that noise was added to                          |
| linear_estimator         | formulas of counts and sums, and what was hidden in them           |
| alert_conditions         | conditions of alerts, as sums that are compared with constants     |
| expert_losses            | losses of experts by round, as sums on one grid                    |
| selection                | choices of values, keys and candidates, by private counts          |
| key_domain               | enumerated cells of the group keys                                 |
| group_choice             | how the groups that a unit counts in are chosen                    |
| numbered_rows            | which rows are drawn by numbers that a sidecar stores              |
| contribution_limit       | rows per group, groups per unit, and which of them hold already    |
| options                  | what an analyst may tighten                                        |
| public_facts             | the public facts a rewrite may ask for                             |
"""
