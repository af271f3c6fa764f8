"""Release → bounded release: which integers are summed, within which limits, over which keys.

| module       | what it decides                                                       |
| ------------ | --------------------------------------------------------------------- |
| bound        | the whole: a release and public facts in, a bounded release out       |
| statistic    | integer statistics of the aggregates, and formulas back to columns    |
| public_rows  | the same where the number of rows is public: a constant of formulas   |
| public_bound | bounds of columns of public tables, by what their rows have           |
| measure      | arguments as integer steps: how fine, within which bounds             |
| distinct     | sums of distinct values, of which a unit brings so many               |
| clipped      | which rows have a value that bounds cut off                           |
| response     | sums over randomised answers become estimates over true ones          |
| answer_key   | the same of groups by randomised answers                              |
| pivot        | conditions in an aggregate's argument become its filter               |
| selection    | quantiles, extremes and modes as choices among cells                  |
| key_domain   | enumerated cells of the group keys                                    |
| limit        | rows per group, groups per unit, and which of them hold already       |
| prepared     | private tables are read where their rows stand ready with their units |
| split        | rows that no limit can bind are summed without their units            |
| within       | light rows that no clamp would change are summed without clamps       |
| unit_sums    | light units whose sums stand ready are read in place of their rows    |
| direct       | tables that lead from rows to their unit are left out of a join       |
| early        | a unit's rows are summed before they are joined                       |
| draw         | which groups units keep is found before their rows are summed         |
| count_first  | units of few rows are told from others before rows are summed         |
| remaining    | how many of the rows conditions are taken to leave                    |
| setting      | what an analyst may tighten                                           |
| fact         | the public facts a rewrite may ask for                                |
"""
