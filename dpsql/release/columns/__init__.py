"""Noisy integers → typed columns.

| module              | what it does                                                          |
| ------------------- | --------------------------------------------------------------------- |
| group_keys          | group keys as columns: of all cells, or of the engine's rows          |
| integer_arrays      | columns of integers, in machine words where all fit                   |
| null_values         | values that become NULL                                               |
| estimate_vectorized | sums and means of all groups at once                                  |
| estimate_few        | sums and means of few groups, without NumPy                           |
| estimate            | a column's value in one group                                         |
| confidence_interval | how far noise may have moved a value                                  |
| cross_group_terms   | sums over other groups, as statistics of each group                   |
| value_errors        | how far noise may have moved each value of a column of means          |
| released_table      | noisy integers → typed columns                                        |
| moments             | variances, correlations and slopes from noisy moments                 |
| moment_interval     | how far noise may have moved a variance, a correlation or a slope     |
| arrow               | SQL types and values as Arrow's                                       |
"""
