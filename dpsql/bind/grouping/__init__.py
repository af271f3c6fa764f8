"""GROUP BY and HAVING.

| module          | what it does                                                      |
| --------------- | ----------------------------------------------------------------- |
| group_by        | grouping sets, and the frontier between private and released rows |
| public_key      | group keys of private rows that equal a public column             |
| dependent_value | aggregates of what has one value in each group                    |
| having          | HAVING without what is true of every group that has a row         |
| grouping_sets   | the keys that GROUP BY names                                      |
| empty_groups    | which releases leave out groups that may be empty                 |
"""
