"""Integer statistics of the aggregates, and estimators back to columns.

| module                | what it does                                                            |
| --------------------- | ----------------------------------------------------------------------- |
| statistics            | integer statistics of the aggregates, and estimators back to columns    |
| key_count             | what unlisted keys are chosen by: the number of units, or their weights |
| public_row_count      | statistics of all rows where something is public of their number        |
| sample_estimator      | what is counted and summed of a secret sample, for all units            |
| discretization        | arguments as integer steps: the size of a step, and the bounds          |
| argument_grids        | the grids of the arguments of one release's aggregates                  |
| norm_ball             | columns that are scaled into a ball together                            |
| sum_caps              | caps on what a unit's values sum to in a group, and where they bind     |
| factored_sum          | caps by key: values that are multiplied by their group's factor         |
| distinct_sum          | sums of distinct values, of which a unit brings a limited number        |
| canonical_filter      | one form of a filter, so that equal statistics compare equal            |
| clip_condition        | the condition of rows whose value bounds cut off                        |
| conditional_aggregate | conditions in an aggregate's argument become its filter                 |
"""
