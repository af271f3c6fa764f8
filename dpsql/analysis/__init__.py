"""What is proved about a plan: whose rows it holds, what they may be, how far neighbours push it.

| module              | analysis                                                              |
| ------------------- | --------------------------------------------------------------------- |
| domains             | which values a column or an expression can have                       |
| lineage             | whose rows an operator has, and which keys hold                       |
| public_row_count    | what is public of how many rows there are                             |
| randomized_response | columns of randomised answers, and conditions on them                 |
| local_privacy       | releases of randomised answers alone, which need no noise             |
| stability           | stability of each operator: distance out, given distance in           |
| row_norms           | which of a plan's columns a table's norm bounds together              |
| unit_contribution   | what one unit contributes to a statistic in one group, at most        |
| capped_sums         | how many groups a unit fills with capped sums, of few rows in all     |
| joint_sensitivity   | statistics that can't all be extreme at once                          |
| sensitivity         | groups, and integers per group, of a bounded release that can change  |
| score_sensitivity   | how far one row moves the scores of two candidates apart              |
| plan_text           | a release's operators as text, each with its distance                 |
| limit_text          | a unit's limits on groups, and caps on sums, as text                  |
"""
