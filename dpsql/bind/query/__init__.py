"""SELECT, clause by clause, and set operations.

| module             | what it does                                        |
| ------------------ | --------------------------------------------------- |
| query              | WITH, SELECT and set operations, in any nesting     |
| multiset_operation | INTERSECT ALL and EXCEPT ALL                        |
| select             | SELECT, clause by clause                            |
| private_selection  | ORDER BY a count of private rows … LIMIT 1 of public rows |
| select_alias       | names of the SELECT list in other clauses           |
| select_list        | the SELECT list and its columns' names              |
| distinct_on        | DISTINCT ON, by row_number()                        |
| distinct_rows      | the distinct rows of a plan                         |
| select_distinct    | SELECT DISTINCT                                     |
| order_by           | ORDER BY and LIMIT                                  |
| sort_key           | the terms of an ORDER BY                            |
| constant_condition | conditions that the text itself decides to be false |
| union_by_name      | UNION BY NAME                                       |
"""
