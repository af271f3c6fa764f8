"""What is proved about a plan: whose rows it holds, what they may be, how far neighbours push it.

| module              | analysis                                                              |
| ------------------- | --------------------------------------------------------------------- |
| domains             | which values a column or an expression can have                       |
| lineage             | whose rows an operator has, and which keys hold                       |
| public_row_count    | how many rows there are, where that is public                         |
| randomized_response | columns of randomised answers, and conditions on them                 |
| local_privacy       | releases of randomised answers alone, which need no noise             |
| stability           | stability of each operator: distance out, given distance in           |
| joint_sensitivity   | statistics that can't all be extreme at once                          |
| sensitivity         | groups, and integers per group, of a bounded release that can change  |
| score_sensitivity   | how far one row moves the scores of two candidates apart              |
| plan_text           | a release's operators as text, each with its distance                 |
| limit_text          | the operator that limits a unit's groups, as text                     |
"""
