"""A bounded release: contributions, limits, sums.

| module              | what it does                                               |
| ------------------- | ---------------------------------------------------------- |
| contribution        | what each row counts for, clamped, and summed              |
| pairwise_deviations | squared differences of all pairs of rows                   |
| bounded_mean        | the mean of all rows, of which there is a least number     |
| cell                | the cells that rows lie in                                 |
| contributions       | the rows that a bounded release counts, with their groups  |
| centered_sum        | sums of values less a centre, taken from all at once       |
| histogram           | counts of cells: so many rows of each unit in each group   |
| numbered_histogram  | the same of rows that stored numbers draw                  |
| group_limit         | each unit's kept groups and values, by rank or keyed hash  |
| total_row_limit     | each unit's rows in all its groups, scaled down together   |
| norm_limit          | each unit's sums in all its groups, scaled to a norm       |
| unit_weights        | what units weigh in the choice of keys, by their groups    |
| distinct_count      | counts of distinct values                                  |
| limited_sums        | each unit's sums in groups: clamped, limited, and summed   |
| cached_sums         | the same sums before limits, as an engine keeps them       |
"""
