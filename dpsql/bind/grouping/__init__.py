"""GROUP BY and HAVING.

| module          | what it does                                                      |
| --------------- | ----------------------------------------------------------------- |
| group_by        | grouping sets, and the frontier between private and released rows |
| public_key      | group keys of private rows that equal a public column             |
| dependent_value | aggregates of values that are the same in each group              |
| having          | HAVING without conditions that every group with rows satisfies    |
| grouping_sets   | the keys and the grouping sets that GROUP BY names                |
| empty_groups    | which releases leave out groups that may be empty                 |
"""
