"""Plans become engine SQL: a tree of ours, rendered once; no text of a statement is in it.

| module     | what it renders                                                     |
| ---------- | ------------------------------------------------------------------- |
| name       | identifiers: every column is c<id>, every schema name is quoted      |
| literal    | constants, without a cast where they stand beside their type           |
| expression | scalar expressions in total form: nothing on private rows can raise  |
| call       | scalar functions in total form                                       |
| relation   | operators as SELECTs; the unit comes along in every private one      |
| join       | tables and joins: private rows meet where their units agree          |
| aggregate  | exact aggregates and window functions                                |
| term       | what each row counts for, clamped, and summed                        |
| deviations | squared differences of all pairs of rows                             |
| terms      | the rows that a bounded release counts, with their groups             |
| centre     | sums of values less a centre, taken from all at once                   |
| cell       | the cell that a row lies in, for what is chosen by counts of cells    |
| histogram  | those counts, so many rows of each unit in each group                 |
| descale    | decimals without their point, exactly                                 |
| limit      | each unit's kept groups and values, by keyed hash                     |
| total_rows | each unit's rows in all its groups, scaled down together               |
| early      | a unit's rows summed before they are joined                           |
| draw       | rows of the groups that each unit keeps, before they are summed       |
| count_first | rows of units that have few of them, and of all others                |
| light      | sums of rows that no limit can bind                                   |
| within     | which rows no clamp would change                                      |
| unit_sums  | sums of each unit's rows that stand ready                             |
| row_totals | sums of rows that are each their unit's only one                      |
| parts      | the units in parts, one after the other, where they are many          |
| distinct   | counts of distinct values                                            |
| write      | what writers of one kind of node share                              |
| write_term | names, constants, and what is computed of them, as text             |
| write_query | queries and their clauses as text                                   |
| render     | the tree as text                                                    |
| bounded    | a bounded release: terms, partials, clamps, limits, totals           |
"""
