"""Ways to the same sums in less time.

| module               | what it does                                                    |
| -------------------- | --------------------------------------------------------------- |
| aggregate_below_join | a unit's rows summed before they are joined                     |
| choose_groups_first  | rows of the groups that each unit keeps, before they are summed |
| count_units_first    | rows of units that have few of them, and of all others          |
| unlimited_sums       | sums of rows that no limit can bind                             |
| clamp_elimination    | which rows no clamp would change                                |
| stored_unit_sums     | sums of each unit's rows that stand ready                       |
| one_row_per_unit     | sums of rows that are each their unit's only one                |
| unit_batches         | the units in parts, one after the other, where they are many    |
"""
