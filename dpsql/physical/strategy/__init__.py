"""The strategies by which a release is computed: each gives the same integers.

| module                | what it does                                                     |
| --------------------- | ---------------------------------------------------------------- |
| per_unit              | the general case: every unit's rows are summed in each group     |
| sum_rows              | rows that are each their unit's only one are summed as they are  |
| stored_unit_sums      | a unit's sums are read from a sidecar in place of its rows       |
| split_by_contribution | rows that no limit can bind are summed without their units       |
| clamped_rows          | of a unit's rows, those within bounds are summed as they are     |
| split_in_group_by     | units that a limit may bind are told apart where rows are grouped |
| aggregate_below_join  | a unit's rows are summed before they are joined                  |
| choose_groups_first   | which groups units keep is found before their rows are summed    |
| cell_window           | between which cells a unit's kept groups lie                     |
| count_units_first     | units of few rows are told from others before rows are summed    |
| month_span            | units of few rows in each of few months aren't counted           |
| bound_units           | rows grouped once, by units that a limit may bind, or by none     |
| unit_bits             | units of few groups are counted by strings of bits               |
| unlimited_sums        | sums of rows that no limit can bind, which several strategies use |
"""
