"""The ways to compute a bounded release that give the same integers.

| module                 | what it does                                                          |
| ---------------------- | --------------------------------------------------------------------- |
| sidecar_access         | private tables are read where their rows stand ready with their units |
| split_by_contribution  | rows that no limit can bind are summed without their units            |
| clamp_elimination      | light rows that no clamp would change are summed without clamps       |
| stored_unit_sums       | light units whose sums stand ready are read in place of their rows    |
| owner_join_elimination | tables that lead from rows to their unit are left out of a join       |
| aggregate_below_join   | a unit's rows are summed before they are joined                       |
| choose_groups_first    | which groups units keep is found before their rows are summed         |
| count_units_first      | units of few rows are told from others before rows are summed         |
| selectivity            | how many of the rows conditions are taken to leave                    |
"""
